"""Forking: a new run from the record of another one, as that stood right before one of its visits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..clock import Clock
from ..errors import ContractError
from ..frame import Frame
from ..graph import Plan
from ..scope import Budget
from ..state import shape_of
from ..store import CallRow, NoteRow, RunStore, Stored, VisitRow, Write
from ..store.reading import Reading
from ..store.rules import check_user
from ..types import as_class, type_name
from .opening import codec_of, lenient_codec_of
from .rewinding import Moment, rewound
from .taking_up import TakenUp

__all__ = ["Forked", "fork"]

_EFFECTS = ("node", "effect")
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Forked:
    """A run that was forked: `flow.resume(forked.run_id, ...)` walks it.

    `may_repeat` names what the original dispatched after the fork stands, and the fork may do a second time: the
    path of the visit and what was called, as `charge#1: charge`.
    """

    run_id: str
    may_repeat: tuple[str, ...] = ()


async def fork(
    plan: Plan,
    store: RunStore,
    run_id: str,
    new_id: str,
    at: str,
    state: Any,
    budget: Budget | None,
    by: str,
    clock: Clock,
) -> Forked:
    """Write a new run that stands before the visit `at` of another one. Raises what `Flow.fork` does."""
    stored = await store.load(run_id)
    check_user(run_id, stored.run.trigger.user, by)
    reading = Reading(stored, lenient_codec_of(plan), last=0)
    moment = _moment(stored, reading.frames, full_path(at))
    cut, walk = rewound(stored, reading.frames, moment, is_replaced=state is not None)
    run = replace(
        cut.run,
        run_id=new_id,
        budget=cut.run.budget if budget is None else json.dumps(asdict(budget)),
        began=clock.utcnow().timestamp() - moment.at,
        forked=f"{run_id} {moment.path}",
    )
    cut = replace(cut, run=run)
    if state is not None:
        cut = _with_state(cut, plan, moment._replace(frame=walk), state)
    TakenUp(
        cut, plan, codec_of(plan), last=0
    )  # what does not fit today's flow is found before anything is written
    write = Write(
        new_id,
        "",
        tuple(cut.visits),
        tuple(cut.frames),
        tuple(cut.notes),
        tuple(cut.calls),
        tuple(cut.requests),
    )
    await store.create(run, write)
    kept = {row.key for row in cut.calls}
    again = (row for row in stored.calls if row.kind in _EFFECTS and row.key not in kept)
    return Forked(new_id, tuple(_told(row, reading.frames) for row in again))


def full_path(path: str) -> str:
    """Return a path with every number in it: `answer/draft` is `answer#1/draft#1`."""
    segments = [re.fullmatch(r"([^#\[\]]+)(#\d+)?(\[\d+\])?", segment) for segment in path.split("/")]
    if not all(segments):
        raise ValueError(f"at={path!r}: give the path of a visit, such as 'answer#1/draft#2'")
    return "/".join(f"{found[1]}{found[2] or '#1'}{found[3] or ''}" for found in segments if found)


def _moment(stored: Stored, frames: Mapping[int, Frame], at: str) -> Moment:
    """Return the moment before a visit. Raises `ValueError` for one that the run never came to."""
    rows: Iterable[VisitRow | NoteRow] = (*stored.visits, *(row for row in stored.notes if row.frame >= 0))
    found = [row for row in rows if frames[row.frame].path_of(row.node, row.number) == at]
    if found:
        first = min(found, key=lambda row: row.seq)
        began = min(row.started if isinstance(row, VisitRow) else row.at for row in found)
        return Moment(at, first.seq, began, first.frame, first.node, first.number)
    end = 1 + max((row.seq for row in stored.notes), default=0)
    end = max(end, 1 + max((row.last for row in stored.visits), default=0))
    time = max((row.ended for row in stored.visits), default=0.0)
    above, _, last = at.rpartition("/")
    node, _, number = last.partition("#")
    for index, frame in frames.items():
        if frame.path == above and stored.run.end is None and _stands(stored, index, node, int(number)):
            return Moment(at, end, time, index, node, int(number))
    known = list(dict.fromkeys(frames[row.frame].path_of(row.node, row.number) for row in stored.visits))
    listed = ", ".join(known[:_SHOWN]) + (f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else "")
    raise ValueError(
        f"at={at!r}: run {stored.run.run_id!r} never came to this visit; it came to {listed or 'none'}"
    )


def _stands(stored: Stored, frame: int, node: str, number: int) -> bool:
    """Return whether a walk stands before a visit, or in it, of which nothing is told yet."""
    rows = [row for row in stored.visits if row.frame == frame and row.kind != "unfinished"]
    if number != 1 + max((row.number for row in rows if row.node == node), default=0):
        return False
    if rows:
        return max(rows, key=lambda row: row.last).target == node
    walk = next(row for row in stored.frames if row.frame == frame)
    return node == walk.label if walk.label else any(True for _ in _entries(json.loads(stored.run.declared), node))


def _entries(flow: Mapping[str, Any], node: str) -> Iterable[None]:
    """Yield once for each flow, this and those inside, that begins with a node of the name."""
    if flow.get("entry") == node:
        yield
    for item in flow["nodes"]:
        for inside in (item.get("flow"), item.get("branches")):
            if inside is not None:
                yield from _entries(inside, node)


def _with_state(cut: Stored, plan: Plan, moment: Moment, state: Any) -> Stored:
    """Return the record with another state for the walk in which the visit stands."""
    codec = codec_of(plan)
    row = cut.frames[moment.frame]
    wanted = as_class(plan.state) if moment.frame == 0 else None
    if wanted is not None and not isinstance(state, wanted):
        raise ContractError(
            f"fork(state=...): {moment.path} works on {type_name(wanted)}, not {type_name(type(state))}"
        )
    kind: Any = type(state)
    shape = shape_of(kind)
    start = codec.encode_fields(shape.values(state), "state", of=kind)
    frames = list(cut.frames)
    frames[moment.frame] = row._replace(shape=codec.name_of(kind), start=start, since=moment.seq - 1)
    return replace(cut, frames=frames)


def _told(row: CallRow, frames: Mapping[int, Frame]) -> str:
    unsure = "" if row.status in ("done", "failed") else f" ({row.status})"
    return f"{frames[row.frame].path_of(row.node, row.number)}: {row.name or row.node}{unsure}"
