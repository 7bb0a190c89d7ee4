"""A trace as text: one fact a line, no times and no ids, so that equal runs give equal text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .frame import Frame
from .state import Log
from .value_text import ValuePrinter, escaped
from .visit import Ending, VisitRecord

__all__ = ["trace_text"]


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
        reasons.append(escaped(record.way.label))
    if record.told.why:
        reasons.append(
            ", ".join(f"{escaped(key)} = {printer.text(record.told.why[key])}" for key in record.told.why)
        )
    return f"{record.way.target}  ({': '.join(reasons)})" if reasons else record.way.target
