"""The recorder: numbers what happens in a run, keeps the trace, and tells those who listen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from ..scope import Scope, Usage
from ..scope.budget import COUNTED
from ..trace import Trace, VisitRecord
from .host import Left, Opened

__all__ = ["Recorder"]

Place = str | tuple[Frame, str, int]
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
        self.began = clock.monotonic()
        self._scope = scope
        self._clock = clock
        self._usage = scope.used
        self._told: set[str] = set()

    def tell(self, event: type[Event], place: Place, **values: Any) -> None:
        """Number what happened, and make an event of it if anybody listens."""
        self.seq += 1
        if self.listeners:
            path = place if isinstance(place, str) else place[0].path_of(place[1], place[2])
            made = event(seq=self.seq, run_id=self.run_id, path=path, at=self._clock.utcnow(), **values)
            for listener in self.listeners:
                listener(made)

    def begin(self, frame: Frame, item: PlanNode, number: int, charged: bool) -> Opened:
        """Note the beginning of a visit, and of its round if it starts one."""
        first = self.seq + 1
        place = (frame, item.id, number)
        if charged:
            self.round += 1
            self.tell(RoundStarted, place, round=self.round)
            self._warn(place)
        self.tell(NodeStarted, place, visit=number)
        return Opened(first, self._clock.monotonic() - self.began, self.round)

    def passed_by(self) -> Opened:
        """Return the beginning of a visit that its limit keeps from taking place."""
        return Opened(self.seq + 1, self._clock.monotonic() - self.began, self.round)

    def retrying(self, failure: Failure) -> None:
        """Note a failed attempt that another follows."""
        self.tell(NodeRetrying, failure.path, attempt=failure.attempts, failure=failure)

    def custom(self, place: Place, name: str, data: object) -> None:
        """Pass on what a node emits."""
        self.tell(Custom, place, name=name, data=data)

    def exhausted(self, error: BudgetExhausted, path: str) -> None:
        """Note a limit that was reached; once for each."""
        key = f"exhausted {error.dimension} {error.path}"
        if key not in self._told:
            self._told.add(key)
            self.tell(BudgetSpent, path, dimension=error.dimension, limit=error.limit, used=error.used)

    def finish(self, left: Left) -> None:
        """Note the end of a visit, and add it to the trace."""
        frame, done, opened = left.frame, left.done, left.opened
        self._tell_end(left, (frame, left.node, left.number))
        value = getattr(done.outcome, "value", None) if left.kind == "complete" else None
        self.trace.records.append(
            VisitRecord(
                frame, left.node, left.number, done.inner, opened.round, frame.rounds, done.attempts,
                left.kind, left.label, left.target, left.why, done.patch, value, done.failure, done.retried,
                opened.at, self._clock.monotonic() - self.began, opened.seq, self.seq, self._spent(),
            )
        )  # fmt: skip

    def _tell_end(self, left: Left, place: Place) -> None:
        done = left.done
        if done.patch:
            self.tell(StatePatched, place, patch=done.patch)
        if done.failure is not None:
            self.tell(NodeFailed, place, failure=done.failure)
        elif left.kind != "over_limit":
            self.tell(NodeFinished, place, attempts=done.attempts)
        if left.target:
            values = {"route": left.kind, "label": left.label, "target": left.target}
            self.tell(RouteTaken, place, **values, why=left.why, alternatives=left.alternatives)

    def _spent(self) -> Usage:
        used = self._scope._used
        usage = self._usage
        if (
            used["rounds"] != usage.rounds
            or used["requests"] != usage.requests
            or used["tokens"] != usage.tokens
            or (used["tool_calls"] != usage.tool_calls or used["cost"] != usage.cost)
        ):
            self._usage = usage = self._scope.used
        return usage

    def _warn(self, place: Place) -> None:
        for dimension in COUNTED:
            limit = getattr(self._scope.budget, dimension)
            used = self._scope._used[dimension]
            if limit and used >= _WARN_AT * limit and dimension not in self._told:
                self._told.add(dimension)
                self.tell(BudgetWarned, place, dimension=dimension, limit=limit, used=used)
