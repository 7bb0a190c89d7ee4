"""Writing: what a run keeps in memory, turned into the rows of its record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import Failure, NotSerialisable
from ..events import RunCancelledEvent, RunCompleted, RunFailedEvent
from ..frame import Frame
from ..outcome import Complete, Continue
from ..state import Codec
from ..value_text import ValuePrinter
from ..visit import Note, VisitRecord
from .failures import failure_data
from .rows import FrameRow, NoteRow, VisitRow

__all__ = ["dump_outcome", "dump_rest", "frame_row", "note_row", "visit_row"]

_PRINTER = ValuePrinter(masked=False, longest=4_000, most=200)
_TOLD_BY_THE_END = frozenset({RunCompleted.kind, RunFailedEvent.kind, RunCancelledEvent.kind})


def dump_outcome(codec: Codec, outcome: Continue[Any] | Complete[Any] | None, path: str) -> dict[str, Any]:
    """Return what an outcome says beside its label, as JSON-ready data. Raises `NotSerialisable`."""
    if isinstance(outcome, Complete):
        return {"value": codec.encode(outcome.value, f"{path}: result")}
    if outcome is not None and outcome.why is not None:
        return {"why": codec.encode(outcome.why, f"{path}: why")}
    return {}


def dump_rest(record: VisitRecord, told: Mapping[str, Any], routable: bool, inner: int | None) -> str:
    """Return what is rarely there of a visit as JSON; `told` is what its outcome said, '' stands for nothing."""
    rare = record.rare
    if rare is None and not told:
        return ""
    rest: dict[str, Any] = dict(told)
    if rare is None:
        return json.dumps(rest, separators=(",", ":"))
    if inner is not None:
        rest["inner"] = inner
        if rare.inner is not None and (dropped := _dropped(rare.inner)):
            rest["dropped"] = dropped
    if rare.attempts != 1:
        rest["attempts"] = rare.attempts
    if rare.failure is not None:
        rest |= {"failure": failure_data(rare.failure), "routable": routable}
    if rare.retried:
        rest["retried"] = [failure_data(failure) for failure in rare.retried]
    return json.dumps(rest, separators=(",", ":")) if rest else ""


def _dropped(inner: Frame) -> list[int]:
    return [index for index, child in enumerate(inner.children) if child.dropped]


def visit_row(record: VisitRecord, frame: int, patch: str, rest: str) -> VisitRow:
    """Return a visit that has ended as a row."""
    way = record.way
    return VisitRow._make(
        (
            record.first_seq, record.last_seq, frame, record.node, record.number, way.kind, way.label, way.target,
            way.edge, record.round, record.walk_round, int(record.charged), patch, rest, record.started,
            record.ended, *record.counters,
        )
    )  # fmt: skip


def frame_row(codec: Codec, frame: Frame, numbers: Mapping[Frame, int], now: float) -> FrameRow:
    """Return a walk as a row. Raises `NotSerialisable` for a state that cannot be written."""
    path, shape = frame.path, frame.shape
    items = ""
    if frame.items is not None:
        items = json.dumps(
            [
                [codec.name_of(shape.cls), codec.encode_fields(values, f"{path}[{index}]", of=shape.cls)]
                for index, (shape, values) in enumerate(frame.items)
            ]
        )
    finish = "" if frame.finish is None else "{}#{} {}".format(*frame.finish)
    return FrameRow(
        numbers[frame],
        -1 if frame.parent is None else numbers[frame.parent],
        -1 if frame.owner is None else numbers[frame.owner],
        frame.node,
        frame.number,
        frame.position,
        frame.label,
        frame.flow,
        "" if shape is None else codec.name_of(shape.cls),
        "" if shape is None else codec.encode_fields(frame.start, path or "state", of=shape.cls),
        items,
        finish,
        "" if frame.scope is None else json.dumps(frame.scope.spending(now)),
    )


def note_row(codec: Codec, note: Note, frame: int, node: str, number: int) -> NoteRow:
    """Return a note as a row. What a node told and cannot be written is kept as text; nothing fails for it."""
    kind = note.event.kind
    values = (
        {} if kind in _TOLD_BY_THE_END else {name: _plain(codec, value) for name, value in note.values.items()}
    )
    text = json.dumps(values, separators=(",", ":")) if values else ""
    return NoteRow(note.seq, frame, node, number, kind, note.at, text)


def _plain(codec: Codec, value: Any) -> Any:
    if isinstance(value, Failure):
        return {"failure": failure_data(value)}
    try:
        return [codec.encode(value, "event")]
    except NotSerialisable:
        return [codec.encode(_PRINTER.text(value), "event")]
