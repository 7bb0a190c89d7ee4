"""Rewinding: the record of a run as it stood at an earlier moment. A pure function of its rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from ..errors import RunConflict
from ..frame import Frame
from ..scope.budget import COUNTED
from ..store import CallRow, FrameRow, NoteRow, RequestRow, Stored, VisitRow

__all__ = ["Moment", "rewound"]


class Moment(NamedTuple):
    """Right before a visit: its path, the number in the run and the second at which it began, and its place."""

    path: str
    seq: int
    at: float
    frame: int
    node: str
    number: int


def rewound(
    stored: Stored, frames: Mapping[int, Frame], moment: Moment, *, is_replaced: bool
) -> tuple[Stored, int]:
    """Return what was written up to a moment, as the record of a run that was paused then; and the walk's number.

    Walks are numbered anew, in their order. `is_replaced` says that the visit's walk will get another state.
    """
    rewinding = _Rewinding(stored, frames, moment, is_replaced)
    return rewinding.result(), rewinding.numbers[moment.frame]


class _Rewinding:
    def __init__(self, stored: Stored, frames: Mapping[int, Frame], moment: Moment, is_replaced: bool) -> None:
        self.is_replaced = is_replaced
        self.stored = stored
        self.frames = frames
        self.moment = moment
        self.rows = {row.frame: row for row in stored.frames}
        inside = (moment.path, f"{moment.path}/", f"{moment.path}[")
        self.dropped = {
            number
            for number, frame in frames.items()
            if frame.path == moment.path or frame.path.startswith(inside[1:])
        }
        self.visits = [row for row in stored.visits if row.last < moment.seq and row.frame not in self.dropped]
        self.notes = [row for row in stored.notes if row.seq < moment.seq and row.frame not in self.dropped]
        self.last = max(self.visits, key=lambda row: row.last, default=None)
        self.ended = {(row.frame, row.node, row.number) for row in self.visits}
        self.inner = {
            json.loads(row.rest)["inner"]: row for row in stored.visits if row.rest and '"inner":' in row.rest
        }
        self.numbers = {old: new for new, old in enumerate(sorted(self._alive()))}

    def result(self) -> Stored:
        run = replace(
            self.stored.run,
            status="paused",
            trigger=replace(self.stored.run.trigger, parent=""),
            deadline=None,
            owner="",
            lease=0.0,
            signal="",
            signal_by="",
            spent=json.dumps({"seconds": self._seconds(), "at": self.moment.at}),
            end=None,
        )
        return Stored(
            run,
            [self._frame(self.rows[old]) for old in self.numbers],
            [self._visit(row) for row in self.visits],
            [self._note(row) for row in self.notes],
            [self._call(row) for row in self.stored.calls if (row.frame, row.node, row.number) in self.ended],
            list(self._requests()),
        )

    def _alive(self) -> set[int]:
        """Return the walks that had begun, and something had happened in."""
        found = {0, self.moment.frame}
        found.update(row.frame for row in self.visits)
        found.update(row.frame for row in self.notes if row.frame >= 0)
        for number, row in self.inner.items():
            if (row.frame, row.node, row.number) in self.ended:
                found |= {number, *(other.frame for other in self.stored.frames if other.owner == number)}
        waiting = list(found)
        while waiting:
            walk = self.rows[waiting.pop()]
            around = {walk.parent, walk.owner} - {-1} - found
            found |= around
            waiting += around
        return found

    def _frame(self, row: FrameRow) -> FrameRow:
        if row.since >= self.moment.seq and not (self.is_replaced and row.frame == self.moment.frame):
            raise RunConflict(
                f"run {self.stored.run.run_id!r}: its state was turned into another one after {self.moment.path}: "
                "fork it at a later visit"
            )
        numbers = {-1: -1, **self.numbers}
        return row._replace(
            frame=numbers[row.frame],
            parent=numbers[row.parent],
            owner=numbers[row.owner],
            finish=row.finish if row.finish and self._was_finishing(row.frame) else "",
            spent=self._spent(row),
        )

    def _was_finishing(self, number: int) -> bool:
        path = self.frames[number].path
        return any(
            row.kind == "route.taken" and row.frame < 0 and row.node == path and '"finish' in row.values
            for row in self.notes
        )

    def _spent(self, row: FrameRow) -> str:
        """Return what the scope of a walk had spent at most: what the run spent while it was open."""
        if not row.spent or not row.frame:
            return ""
        path = self.frames[row.frame].path
        mine = [
            each for each in self.visits if f"{self.frames[each.frame].path}/".startswith((f"{path}/", f"{path}["))
        ]
        begun = min((each.seq for each in mine), default=self.moment.seq)
        time = min((each.started for each in mine), default=self.moment.at)
        before = max((each for each in self.visits if each.last < begun), key=lambda each: each.last, default=None)
        limits = {"seconds": self.moment.at - time}
        for name in COUNTED:
            limits[name] = _count(self.last, name) - _count(before, name)
        spent = json.loads(row.spent)
        return json.dumps({name: min(value, limits.get(name, value)) for name, value in spent.items()})

    def _visit(self, row: VisitRow) -> VisitRow:
        rest = row.rest
        if '"inner":' in rest:
            told = json.loads(rest)
            rest = json.dumps({**told, "inner": self.numbers[told["inner"]]}, separators=(",", ":"))
        return row._replace(frame=self.numbers[row.frame], rest=rest)

    def _note(self, row: NoteRow) -> NoteRow:
        return row if row.frame < 0 else row._replace(frame=self.numbers[row.frame])

    def _call(self, row: CallRow) -> CallRow:
        return row._replace(frame=self.numbers[row.frame])

    def _requests(self) -> Iterable[RequestRow]:
        """Yield the requests that had been answered: what waits is asked again."""
        told = " ".join(row.values for row in self.notes if row.kind == "request.answered")
        for row in self.stored.requests:
            here = row.path == self.moment.path or row.path.startswith(f"{self.moment.path}/")
            if row.id in told and not here:
                yield row

    def _seconds(self) -> float:
        """Return for how long the run had been running: less what it was paused, and what it waited for people."""
        waited, since = 0.0, None
        for row in self.notes:
            if row.kind in ("run.paused", "request.opened") and since is None:
                since = row.at
            elif row.kind in ("run.resumed", "request.answered") and since is not None:
                waited, since = waited + row.at - since, None
        found = max(0.0, self.moment.at - waited)
        end = self.stored.run.end
        total = json.loads(end.usage).get("seconds") if end is not None and end.usage else None
        return found if total is None else min(found, total)


def _count(row: VisitRow | None, name: str) -> float:
    return 0.0 if row is None else float(getattr(row, name))
