"""A trace as text: one fact a line, no times and no ids, so that equal runs give equal text."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import hashlib
import os
import pathlib
import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from .errors import Failure
from .frame import Frame
from .state import Log
from .types import type_name
from .visit import Ending, VisitRecord

__all__ = ["ValuePrinter", "trace_text"]

_LONGEST = 200
_BREAKS = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""Everything that ends a line."""
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""What a terminal obeys, and everything that ends a line."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def trace_text(flow: str, records: Sequence[VisitRecord], root: Frame, ending: Ending | None) -> str:
    """Return the canonical text of a run."""
    printer = ValuePrinter()
    lines = [f"flow {flow}"]
    if ending is not None:
        lines += _ending_lines(ending, printer)
    inside: dict[int, list[VisitRecord]] = {}
    for record in records:
        inside.setdefault(id(record.frame), []).append(record)
    lines += ["", *_walk_lines(root, inside, printer, "")]
    if ending is not None:
        lines += ["", str(ending.usage)]
    return "\n".join(lines) + "\n"


def _ending_lines(ending: Ending, printer: ValuePrinter) -> list[str]:
    lines = [f"result {ending.status}"]
    if ending.failure is not None:
        place = f"{ending.failure.path}: " if ending.failure.path else ""
        lines.append(f"failure {place}{printer.failure(ending.failure)}")
    elif ending.status == "completed":
        lines.append(f"value {printer.text(ending.value)}")
    return lines


def _walk_lines(
    frame: Frame | None, inside: Mapping[int, Sequence[VisitRecord]], printer: ValuePrinter, indent: str
) -> list[str]:
    lines: list[str] = []
    shown = -1
    for record in inside.get(id(frame), ()):
        if record.walk_round != shown:
            shown = record.walk_round
            lines.append(f"{indent}round {shown}" if shown else f"{indent}before round 1")
        if frame is not None and frame.finish is not None and frame.finish[:2] == (record.node, record.number):
            lines.append(f"{indent}finish, since {frame.finish[2]} ran out")
        lines += _visit_lines(record, inside, printer, f"{indent}  ")
    return lines


def _visit_lines(
    record: VisitRecord, inside: Mapping[int, Sequence[VisitRecord]], printer: ValuePrinter, indent: str
) -> list[str]:
    name = record.node if record.number == 1 else f"{record.node}#{record.number}"
    marks = []
    if record.failure is not None:
        marks.append("unfinished" if record.kind == "unfinished" else "failed")
    if record.told.attempts > 1:
        marks.append(f"{record.told.attempts} attempts")
    lines = [f"{indent}{name}" + (f"  [{', '.join(marks)}]" if marks else "")]
    if record.inner is not None:
        lines += _walk_lines(record.inner, inside, printer, f"{indent}  ")
        for side in record.inner.children:
            lines += _side_lines(side, inside, printer, f"{indent}  ")
    lines += [f"{indent}  retried after {printer.failure(failure)}" for failure in record.told.retried]
    if record.failure is not None:
        lines.append(f"{indent}  error {printer.failure(record.failure)}")
    lines += [f"{indent}  + {_change(field, value, printer)}" for field, value in sorted(record.patch.items())]
    if (way := _way(record, printer)) is not None:
        lines.append(f"{indent}  -> {way}")
    return lines


def _change(field: str, value: Any, printer: ValuePrinter) -> str:
    if isinstance(value, Log) and value.fresh:
        return f"{field} += {printer.text(value.fresh)}"
    return f"{field} = {printer.text(value)}"


def _side_lines(
    frame: Frame, inside: Mapping[int, Sequence[VisitRecord]], printer: ValuePrinter, indent: str
) -> list[str]:
    """Return the lines of a branch or an item. How far one got that was dropped is chance, and not said."""
    records = inside.get(id(frame), ())
    if frame.dropped:
        return [f"{indent}{frame.label}  [not finished]"] if frame.index is None else []
    if frame.index is not None:
        return [f"{indent}[{frame.index}]", *_walk_lines(frame, inside, printer, f"{indent}  ")]
    lines = _walk_lines(frame, inside, printer, indent)
    flat = all(record.walk_round == 0 for record in records)
    return [line.removeprefix("  ") for line in lines[1:]] if flat else lines


def _way(record: VisitRecord, printer: ValuePrinter) -> str | None:
    if record.kind == "complete":
        return "end"
    if not record.way.target:
        return None
    reasons = [f"error {record.way.label}"] if record.kind == "error" else []
    if record.kind == "over_limit":
        reasons.append("over limit")
    if record.kind == "label":
        reasons.append(_escaped(record.way.label))
    if record.told.why:
        reasons.append(
            ", ".join(f"{_escaped(key)} = {printer.text(record.told.why[key])}" for key in record.told.why)
        )
    return f"{record.way.target}  ({': '.join(reasons)})" if reasons else record.way.target


class ValuePrinter:
    """Prints values the same way in every run: sorted, rounded, and with numbers in place of ids."""

    def __init__(self) -> None:
        self._uuids: dict[uuid.UUID, int] = {}
        self._open: set[int] = set()

    def failure(self, failure: Failure) -> str:
        """Return a failure as one line."""
        message = _shortened(_escaped(_stable(_BREAKS.sub(" ", failure.message))))
        return f"{failure.type}: {message}" if message else failure.type

    def text(self, value: Any) -> str:
        """Return a value as one line."""
        if isinstance(value, str):
            return _shortened(_quoted(_stable(value)))
        if isinstance(value, enum.Enum):
            return f"{type(value).__name__}.{value.name}"
        if isinstance(value, float):
            return f"{value:.6g}"
        if isinstance(value, uuid.UUID):
            return f"<uuid {self._uuids.setdefault(value, len(self._uuids) + 1)}>"
        if isinstance(value, datetime.date | datetime.time | datetime.timedelta):
            return f"<{type(value).__name__}>"
        if isinstance(value, pathlib.PurePath):
            return _quoted(_stable(str(value)))
        if id(value) in self._open:  # it holds itself
            return "<...>"
        self._open.add(id(value))
        try:
            return self._nested(value)
        finally:
            self._open.discard(id(value))

    def _nested(self, value: Any) -> str:
        if isinstance(value, BaseModel):
            return self._fields(
                value.__class__, {name: getattr(value, name) for name in value.__class__.model_fields}
            )
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = [entry.name for entry in dataclasses.fields(value)]
            return self._fields(value.__class__, {name: getattr(value, name) for name in names})
        if isinstance(value, Log):
            return f"Log({self.text(list(value))})"
        if isinstance(value, Mapping):
            pairs = sorted((self.text(key), self.text(item)) for key, item in value.items())
            return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
        if isinstance(value, set | frozenset):
            return "{" + ", ".join(sorted(map(self.text, value))) + "}"
        if isinstance(value, list | tuple):
            inner = ", ".join(map(self.text, value))
            return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
        try:
            shown = repr(value)
        except Exception:  # a value that cannot be shown must not hide the rest
            shown = f"<{type_name(type(value))}>"
        return _shortened(_escaped(_stable(_BREAKS.sub(" ", shown))))

    def _fields(self, cls: type, values: Mapping[str, Any]) -> str:
        return f"{type_name(cls)}({', '.join(f'{name}={self.text(value)}' for name, value in values.items())})"


def _quoted(text: str) -> str:
    inner = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_escaped(inner)}"'


def _escaped(text: str) -> str:
    """Return the text with control characters, and everything that ends a line, written as escapes."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def _stable(text: str) -> str:
    return _ADDRESS.sub("", text).replace(f"{os.getcwd()}{os.sep}", "")


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{text[:_LONGEST]}... ({len(text)} characters, {mark})"
