"""The recorder: numbers what happens in a run, keeps the trace, and tells those who listen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..clock import Clock
from ..errors import BudgetExhausted, Failure
from ..events import (
    BudgetSpent,
    BudgetWarned,
    Custom,
    Event,
    NodeFailed,
    NodeFinished,
    NodeRetrying,
    NodeStarted,
    RoundStarted,
    RouteTaken,
    StatePatched,
)
from ..frame import Frame
from ..graph import PlanNode
from ..scope import Scope
from ..scope.budget import COUNTED
from ..trace import Trace, VisitRecord
from .host import Done, Left, Opened

__all__ = ["Recorder"]

Where = str | tuple[Frame, str, int]
"""A path, or what a path is made from when somebody wants it."""
_WARN_AT = 0.8


class Recorder:
    """Where everything that a run does is written down, in order."""

    def __init__(
        self, flow: str, run_id: str, scope: Scope, clock: Clock, listeners: Sequence[Callable[[Event], None]]
    ) -> None:
        self.run_id = run_id
        self.trace = Trace(flow)
        self.listeners = tuple(listeners)
        self.round = 0
        self.seq = 0
        self._monotonic = clock.monotonic
        self._utcnow = clock.utcnow
        self.began = clock.monotonic()
        self._scope = scope
        self._counters = scope.counters
        self._exhausted: set[tuple[str, str]] = set()
        self._open: dict[int, tuple[Opened, Frame, str, int]] = {}
        self._unwarned = [(name, limit) for name in COUNTED if (limit := getattr(scope.budget, name))]

    def tell(self, event: type[Event], where: Where, **values: Any) -> None:
        """Number what happened, and make an event of it if anybody listens."""
        self.seq += 1
        if self.listeners:
            path = where if isinstance(where, str) else where[0].path_of(where[1], where[2])
            made = event(seq=self.seq, run_id=self.run_id, path=path, at=self._utcnow(), **values)
            for listener in self.listeners:
                listener(made)

    def begin(self, frame: Frame, item: PlanNode, number: int, charged: bool) -> Opened:
        """Note the beginning of a visit, and of its round if it starts one."""
        first = self.seq + 1
        where = (frame, item.id, number)
        if charged:
            self.round += 1
            self.tell(RoundStarted, where, round=self.round)
            if self._unwarned:
                self._warn(where)
        self.tell(NodeStarted, where, visit=number)
        opened = Opened(first, self._monotonic() - self.began, self.round)
        self._open[first] = (opened, frame, item.id, number)
        return opened

    def passed_by(self) -> Opened:
        """Return the beginning of a visit that its limit keeps from taking place."""
        return Opened(self.seq + 1, self._monotonic() - self.began, self.round)

    def retrying(self, failure: Failure) -> None:
        """Note a failed attempt that another follows."""
        self.tell(NodeRetrying, failure.path, attempt=failure.attempts, failure=failure)

    def custom(self, where: Where, name: str, data: object) -> None:
        """Pass on what a node emits."""
        self.tell(Custom, where, name=name, data=data)

    def exhausted(self, error: BudgetExhausted, path: str) -> None:
        """Note a limit that was reached; once for each."""
        key = (error.dimension, error.path)
        if key not in self._exhausted:
            self._exhausted.add(key)
            self.tell(BudgetSpent, path, dimension=error.dimension, limit=error.limit, used=error.used)

    def finish(self, left: Left) -> None:
        """Note the end of a visit, and add it to the trace."""
        frame, done, opened = left.frame, left.done, left.opened
        self._open.pop(opened.seq, None)
        if self.listeners:
            self._tell_end(left, (frame, left.node, left.number))
        else:
            self.seq += (left.kind != "over_limit") + bool(done.patch) + bool(left.target)
        value = getattr(done.outcome, "value", None) if left.kind == "complete" else None
        counters = self._scope.counters
        if counters != self._counters:
            self._counters = counters
        self.trace.records.append(
            VisitRecord(
                frame, left.node, left.number, done.inner, opened.round, frame.rounds, done.attempts,
                left.kind, left.label, left.target, left.why, done.patch, value, done.failure, done.retried,
                opened.at, self._monotonic() - self.began, opened.seq, self.seq, self._counters,
            )
        )  # fmt: skip

    def abandon(self, failure: Failure, within: Frame) -> None:
        """End the visits that are still under way in a walk and beneath it, the innermost first."""
        inner: dict[tuple[int, str, int], Frame] = {}
        for record in self.trace.records:
            inner.setdefault((id(record.frame.parent), record.frame.node, record.frame.number), record.frame)
        for opened, frame, node, number in reversed(list(self._open.values())):
            if frame.is_within(within):
                inside = inner.get((id(frame), node, number))
                inner[(id(frame.parent), frame.node, frame.number)] = frame
                done = Done(None, None, None, replace(failure, path=frame.path_of(node, number)), inner=inside)
                self.finish(Left(frame, node, number, opened, done, "unfinished"))

    def _tell_end(self, left: Left, where: Where) -> None:
        done = left.done
        if done.patch:
            self.tell(StatePatched, where, patch=done.patch)
        if done.failure is not None:
            self.tell(NodeFailed, where, failure=done.failure)
        elif left.kind != "over_limit":
            self.tell(NodeFinished, where, attempts=done.attempts)
        if left.target:
            values = {"route": left.kind, "label": left.label, "target": left.target}
            self.tell(RouteTaken, where, **values, why=left.why, alternatives=left.alternatives)

    def _warn(self, where: Where) -> None:
        for dimension, limit in self._unwarned:
            used = getattr(self._scope.used, dimension)
            if used >= _WARN_AT * limit:
                self._unwarned = [pair for pair in self._unwarned if pair[0] != dimension]
                self.tell(BudgetWarned, where, dimension=dimension, limit=limit, used=used)
