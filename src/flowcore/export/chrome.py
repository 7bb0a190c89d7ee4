"""Chrome traces: a run as JSON that Perfetto and chrome://tracing show."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from ..recording import Fault, Recording, Spent, VisitData
from .tracks import Placed, Span, Track, Tracks, nanoseconds
from .words import change_words, route_words

__all__ = ["chrome_trace"]

_PROCESS = 1
_ROUNDS = 1
"""The first line, where rounds are; the tracks of visits follow."""
Event = dict[str, Any]


def chrome_trace(run: Recording) -> str:
    """Return a run in the Trace Event Format. Equal recordings give equal text.

    A visit is a slice on the track of its walk, with the requests of a model inside it. What it emitted or kept,
    failed attempts and limits that ran out are instants. What the run had spent is a counter. Times are
    microseconds since the run began.
    """
    tracks = Tracks(run)
    lines = {track: number for number, track in enumerate(tracks.tracks, _ROUNDS + 1)}
    events = [
        *_names(run, lines),
        *_rounds(run, tracks.whole),
        *(event for placed in tracks.placed for event in _events(placed, lines[placed.track], run)),
        *_ending(run, tracks.whole),
    ]
    data = {"displayTimeUnit": "ms", "otherData": _about(run), "traceEvents": events}
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _about(run: Recording) -> Mapping[str, Any]:
    return {
        "flow": run.flow.name,
        "signature": run.signature,
        "run_id": run.run_id,
        "name": run.name,
        "title": run.title,
        "began": "" if run.began is None else run.began.isoformat(),
        "status": run.status,
    }


def _names(run: Recording, lines: Mapping[Track, int]) -> Iterator[Event]:
    title = f"{run.flow.name} {run.name or run.run_id}".strip()
    yield {"ph": "M", "name": "process_name", "pid": _PROCESS, "args": {"name": title}}
    for line, name in [(_ROUNDS, "rounds"), *((line, track.name) for track, line in lines.items())]:
        yield {"ph": "M", "name": "thread_name", "pid": _PROCESS, "tid": line, "args": {"name": name}}
        yield {"ph": "M", "name": "thread_sort_index", "pid": _PROCESS, "tid": line, "args": {"sort_index": line}}


def _rounds(run: Recording, whole: Span) -> Iterator[Event]:
    """Yield each round: from the visit that paid for it to the next one."""
    paid = sorted((visit for visit in run.visits if visit.charged), key=lambda visit: visit.round)
    moments = [*(nanoseconds(visit.started) for visit in paid), whole.end]
    for visit, (start, end) in zip(paid, pairwise(moments), strict=True):
        args = {"paid by": visit.path}
        yield _slice(f"round {visit.round}", "round", Span(start, max(start, end)), _ROUNDS, args)


def _events(placed: Placed, line: int, run: Recording) -> Iterator[Event]:
    visit, call, span = placed.visit, placed.call, placed.span
    if call is not None:
        known = {"tokens": call.tokens, "cost": call.cost, "failure": _failure(call.failure)}
        yield _slice(call.model or "model", "model", span, line, _told(known))
        return
    if visit.finish:
        yield _instant(f"out of {visit.finish}", "budget", span.start, line, {"goes on at": visit.path})
    if visit.kind == "over_limit":
        yield _instant(f"{_name(visit)}: over its limit", "budget", span.start, line, _args(visit))
        return
    yield _slice(_name(visit), "visit", span, line, _args(visit))
    for at, fault in visit.retried:
        yield _instant("retry", "retry", nanoseconds(at), line, {"failure": str(fault)})
    for said in visit.said:
        yield _instant(said.name, said.kind, nanoseconds(said.at), line, {"data": said.text})
    if visit.ended is not None:
        yield _counter(visit.spent, span.end, run)


def _args(visit: VisitData) -> Mapping[str, Any]:
    known = {
        "path": visit.path,
        "round": visit.round,
        "route": route_words(visit),
        "why": dict(visit.why or {}),
        "changes": [change_words(change) for change in visit.changes],
        "failure": _failure(visit.failure),
        "attempts": visit.attempts if visit.attempts > 1 else 0,
        "not needed": visit.dropped,
    }
    return _told(known)


def _ending(run: Recording, whole: Span) -> Iterator[Event]:
    known = {"value": run.value, "failure": _failure(run.failure), "reason": run.reason}
    if run.exhausted:
        yield _instant(
            f"out of {run.exhausted}", "budget", whole.end, _ROUNDS, {"limit": run.budget.get(run.exhausted)}
        )
    if run.status != "running":
        yield _instant(run.status, "run", whole.end, _ROUNDS, _told(known))


def _counter(spent: Spent, at: int, run: Recording) -> Event:
    names = [name for name in ("requests", "tool_calls", "tokens", "cost") if getattr(run.spent, name)]
    args = {name: getattr(spent, name) for name in ("rounds", *names)}
    return {"ph": "C", "name": "spent", "pid": _PROCESS, "ts": _micro(at), "args": args}


def _slice(name: str, kind: str, span: Span, line: int, args: Mapping[str, Any]) -> Event:
    times = {"ts": _micro(span.start), "dur": _micro(span.end - span.start)}
    return {"ph": "X", "name": name, "cat": kind, "pid": _PROCESS, "tid": line, **times, "args": args}


def _instant(name: str, kind: str, at: int, line: int, args: Mapping[str, Any]) -> Event:
    place = {"pid": _PROCESS, "tid": line, "ts": _micro(at)}
    return {"ph": "i", "s": "t", "name": name, "cat": kind, **place, "args": args}


def _micro(nanos: int) -> float:
    return nanos / 1_000


def _name(visit: VisitData) -> str:
    mark = "!" if visit.failure is not None else ""
    item = f" {visit.branch}" if visit.branch.startswith("[") else ""
    return f"{visit.node}{mark}{item}"


def _failure(fault: Fault | None) -> str:
    return "" if fault is None else str(fault)


def _told(known: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what there is something to tell of."""
    return {name: value for name, value in known.items() if value or name == "round"}
