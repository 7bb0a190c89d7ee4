"""The events of a trace: everything that a run told, made again from what it kept.

A pure function. The numbers and times are those of the run, so events that were told while it went on and events
that are made afterwards are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from .events import (
    Event,
    NodeFailed,
    NodeFinished,
    NodeStarted,
    RoundStarted,
    RouteTaken,
    RunCancelledEvent,
    RunCompleted,
    RunFailedEvent,
    StatePatched,
)
from .frame import Frame
from .state import snapshot
from .trace import Trace
from .visit import Ending, VisitRecord, Where, path_of

__all__ = ["OpenVisit", "begin_events", "end_events", "told_ending", "trace_events"]

OpenVisit = tuple[int, float, int, bool, Frame, str, int]
"""A visit under way: first seq, seconds since the run began, round, whether it was charged, and where."""
Told = tuple[type[Event], int, Where, float, dict[str, Any]]
"""An event before it is made: its class, seq, place, time and the rest."""


def begin_events(seq: int, at: float, round: int, charged: bool, where: tuple[Frame, str, int]) -> Iterator[Told]:
    """Yield what the beginning of a visit tells."""
    if charged:
        yield RoundStarted, seq, where, at, {"round": round}
    yield NodeStarted, seq + charged, where, at, {"visit": where[2]}


def end_events(record: VisitRecord) -> Iterator[Told]:
    """Yield what the end of a visit tells; the last one has the record's last seq."""
    where, at = (record.frame, record.node, record.number), record.ended
    visited = record.kind != "over_limit"
    seq = record.last_seq - (bool(record.patch) + visited + bool(record.way.target)) + 1
    if record.patch:
        yield StatePatched, seq, where, at, {"patch": snapshot(record.patch)}
        seq += 1
    if record.failure is not None:
        yield NodeFailed, seq, where, at, {"failure": record.failure}
    elif visited:
        yield NodeFinished, seq, where, at, {"attempts": record.told.attempts}
    if record.way.target:
        values = {"route": record.kind, "label": record.way.label, "target": record.way.target}
        yield (
            RouteTaken,
            seq + visited,
            where,
            at,
            {**values, "why": record.told.why, "alternatives": record.way.alternatives},
        )


def trace_events(trace: Trace, under_way: Iterable[OpenVisit] = ()) -> list[Event]:
    """Return every event of a run so far, ordered by `seq`."""
    told: list[Told] = [(note.event, note.seq, note.where, note.at, dict(note.values)) for note in trace.notes]
    for record in trace.records:
        if record.kind != "over_limit":
            where = (record.frame, record.node, record.number)
            told += begin_events(record.first_seq, record.started, record.round, record.charged, where)
        told += end_events(record)
    for seq, at, round, charged, frame, node, number in under_way:
        told += begin_events(seq, at, round, charged, (frame, node, number))
    told.sort(key=lambda item: item[1])
    began = trace.began or datetime.fromtimestamp(0, UTC)
    return [
        event(seq=seq, run_id=trace.run_id, path=path_of(where), at=began + timedelta(seconds=at), **values)
        for event, seq, where, at, values in told
    ]


def told_ending(ending: Ending) -> tuple[type[Event], dict[str, Any]]:
    """Return the class of the event that tells of an ending, and what it tells."""
    if ending.status == "completed":
        return RunCompleted, {"value": ending.value, "exhausted": ending.exhausted}
    if ending.status == "failed":
        return RunFailedEvent, {"failure": ending.failure, "exhausted": ending.exhausted}
    return RunCancelledEvent, {"reason": ending.reason}
