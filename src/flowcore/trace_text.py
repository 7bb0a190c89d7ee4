"""A trace as text: one fact a line, no times and no ids, so that equal runs give equal text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

from .frame import Frame
from .state import Log
from .trace_notes import note_lines
from .value_text import ValuePrinter, escaped
from .visit import Ending, Note, VisitRecord, path_of

__all__ = ["Detail", "trace_text"]

Detail = Literal["path", "routes", "state", "full"]
"""How much is told: the visits; where each led to and why, too; what changed, too; everything."""
_PLACES = ("artifact", "emit", "state", "value", "why")


def trace_text(
    flow: str,
    records: Sequence[VisitRecord],
    root: Frame,
    ending: Ending | None,
    notes: Iterable[Note] = (),
    detail: Detail = "full",
    mask: Mapping[str, str] | None = None,
) -> str:
    """Return the canonical text of a run. Raises `ValueError` for a detail or a mask that is not there."""
    if detail not in get_args(Detail):
        raise ValueError(f"detail={detail!r}: give one of {', '.join(get_args(Detail))}")
    for place in mask or ():
        if place.split(".")[0] not in _PLACES:
            raise ValueError(f"mask={place!r}: a place begins with {', '.join(_PLACES)}, as in state.token")
    text = _Text(records, notes if detail == "full" else (), get_args(Detail).index(detail), mask or {})
    lines = [f"flow {flow}", *text.beginning(ending), "", *text.walk(root, "")]
    if ending is not None and detail == "full":
        lines += ["", str(ending.usage)]
    return "\n".join(lines) + "\n"


class _Text:
    """The lines of one run, in as much detail as is wanted."""

    def __init__(
        self, records: Sequence[VisitRecord], notes: Iterable[Note], detail: int, mask: Mapping[str, str]
    ) -> None:
        self.printer = ValuePrinter(mask=mask)
        self.with_routes, self.with_state, self.with_all = detail > 0, detail > 1, detail > 2
        self.inside: dict[int, list[VisitRecord]] = {}
        for record in records:
            self.inside.setdefault(id(record.frame), []).append(record)
        self.told: dict[str, list[Note]] = {}
        for note in notes:
            self.told.setdefault(path_of(note.where), []).append(note)

    def beginning(self, ending: Ending | None) -> Iterator[str]:
        if ending is None:
            return
        yield f"result {ending.status}"
        if ending.failure is not None and self.with_all:
            place = f"{ending.failure.path}: " if ending.failure.path else ""
            yield f"failure {place}{self.printer.failure(ending.failure)}"
        elif ending.status == "completed" and self.with_state:
            yield f"value {self.printer.text(ending.value, 'value')}"

    def walk(self, frame: Frame, indent: str) -> Iterator[str]:
        shown = -1
        for record in self.inside.get(id(frame), ()):
            if record.walk_round != shown:
                shown = record.walk_round
                yield f"{indent}round {shown}" if shown else f"{indent}before round 1"
            if frame.finish is not None and frame.finish[:2] == (record.node, record.number):
                yield f"{indent}finish, since {frame.finish[2]} ran out"
            yield from self.visit(record, f"{indent}  ")

    def visit(self, record: VisitRecord, indent: str) -> Iterator[str]:
        name = record.node if record.number == 1 else f"{record.node}#{record.number}"
        marks: list[str] = []
        if record.failure is not None:
            marks.append("unfinished" if record.kind == "unfinished" else "failed")
        if record.told.attempts > 1:
            marks.append(f"{record.told.attempts} attempts")
        yield f"{indent}{name}" + (f"  [{', '.join(marks)}]" if marks else "")
        if record.inner is not None:
            yield from self.walk(record.inner, f"{indent}  ")
            for side in record.inner.children:
                yield from self.side(side, f"{indent}  ")
        yield from (f"{indent}  {fact}" for fact in self.facts(record))

    def side(self, frame: Frame, indent: str) -> Iterator[str]:
        """Yield the lines of a branch or an item. How far one got that was dropped is chance, and not said."""
        records = self.inside.get(id(frame), ())
        if frame.dropped:
            if frame.index is None:
                yield f"{indent}{frame.label}  [not finished]"
        elif frame.index is not None:
            yield f"{indent}[{frame.index}]"
            yield from self.walk(frame, f"{indent}  ")
        elif all(record.walk_round == 0 for record in records):
            lines = list(self.walk(frame, indent))
            yield from (line.removeprefix("  ") for line in lines[1:])
        else:
            yield from self.walk(frame, indent)

    def facts(self, record: VisitRecord) -> Iterator[str]:
        if self.with_all:
            yield from self.said(record)
            if record.failure is not None:
                yield f"error {self.printer.failure(record.failure)}"
        if self.with_state:
            yield from (f"+ {self.change(field, value)}" for field, value in sorted(record.patch.items()))
        if self.with_routes and (way := self.way(record)) is not None:
            yield f"-> {way}"

    def said(self, record: VisitRecord) -> Iterator[str]:
        """Yield what happened while the visit lasted, retried attempts included."""
        notes = self.told.get(record.frame.path_of(record.node, record.number), ()) if self.told else ()
        return note_lines(notes, record.told.retried, self.printer)

    def change(self, field: str, value: Any) -> str:
        if isinstance(value, Log) and value.fresh:
            return f"{field} += {self.printer.text(value.fresh, f'state.{field}')}"
        return f"{field} = {self.printer.text(value, f'state.{field}')}"

    def way(self, record: VisitRecord) -> str | None:
        if record.kind == "complete":
            return "end"
        if not record.way.target:
            return None
        reasons = [f"error {record.way.label}"] if record.kind == "error" else []
        if record.kind == "over_limit":
            reasons.append("over limit")
        if record.kind == "label":
            reasons.append(escaped(record.way.label))
        if why := record.told.why:
            values = [f"{escaped(key)} = {self.printer.text(why[key], f'why.{key}')}" for key in why]
            reasons.append(", ".join(values))
        return f"{record.way.target}  ({': '.join(reasons)})" if reasons else record.way.target
