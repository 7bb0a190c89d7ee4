"""The in-process host: runs nodes in this event loop, and keeps the trace."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread

from ..clock import Clock
from ..errors import BudgetExhausted, ContractError, Failure, NodeTimeout
from ..events import Event
from ..graph import PlanNode
from ..outcome import Complete
from ..scope import Budget, Scope
from ..state import Values, snapshot
from ..step import Step
from ..trace import Trace
from .host import Done, Ended, Left, Opened, Place
from .outcomes import as_failure, checked, is_routable, unwrapped
from .record import Recorder

__all__ = ["InProcessHost"]

_BREATH = 0.003
"""Seconds after which a walk that never waits lets others run."""
_THREADS = 40
"""Worker threads that one run uses at most."""


class InProcessHost:
    """Where a flow runs when nothing else is said: in the caller's event loop, on asyncio or trio."""

    def __init__(
        self, flow: str, run_id: str, scope: Scope, clock: Clock, listeners: Sequence[Callable[[Event], None]]
    ) -> None:
        self.clock = clock
        self.record = Recorder(flow, run_id, scope, clock, listeners)
        self._monotonic = clock.monotonic
        self._breath = clock.monotonic()
        self._limiter: anyio.CapacityLimiter | None = None

    @property
    def trace(self) -> Trace:
        """The visits so far."""
        return self.record.trace

    def control(self, scope: Scope) -> bool:
        """Return whether it is time to let others run. Raises `BudgetExhausted` when the time is over."""
        now = self._monotonic()
        scope.check_time(now)
        return now - self._breath > _BREATH

    async def breathe(self) -> None:
        """Pass through the event loop once."""
        await anyio.lowlevel.checkpoint()
        self._breath = self._monotonic()

    def begin(self, place: Place, item: PlanNode, number: int, charged: bool) -> Opened:
        """Note that a visit begins."""
        return self.record.begin(place.frame, item, number, charged)

    def passed_by(self) -> Opened:
        """Note that a node is over its limit and is not visited."""
        return self.record.passed_by()

    async def commit(self, left: Left) -> None:
        """Add the visit to the trace."""
        self.record.finish(left)

    def exhausted(self, place: Place, item: PlanNode, number: int, error: Exception) -> Failure:
        """Note the limit that was reached."""
        failure = as_failure(error, place.frame.path_of(item.id, number))
        if isinstance(error, BudgetExhausted):
            self.record.exhausted(error, failure.path)
        return failure

    def narrowed(self, scope: Scope, budget: Budget, path: str) -> Scope:
        """Return a scope inside `scope` whose time begins now."""
        inner = scope.narrow(budget, path=path)
        inner.start(self._monotonic(), budget.seconds)
        return inner

    async def bounded(
        self, place: Place, walk: Callable[[], Awaitable[Ended]], values: Callable[[], Values]
    ) -> Ended:
        """Run a walk within its seconds. Out of time it is cancelled, and has failed."""
        scope = place.scope
        now = self._monotonic()
        with self.clock.timeout(max(0.0, (scope.ends_at or now) - now)) as cancel:
            ended = await walk()
            if not cancel.cancel_called:
                return ended
        error = scope.out_of_time(self._monotonic())
        self.record.exhausted(error, scope.path)
        failure = as_failure(error, scope.path)
        self.record.abandon(failure, place.frame)
        return Ended(None, values(), error, failure, routable=False)

    async def visit(
        self, place: Place, item: PlanNode, number: int, values: Values, failure: Failure | None
    ) -> Done:
        """Run the node's function until it returns an outcome or is out of attempts."""
        where = (place.frame, item.id, number)
        record = self.record
        retried: tuple[Failure, ...] = ()
        attempt = 1
        while True:
            step: Step[Any, Any] = Step(
                place.shape.draft(values), place.deps, place.scope, record.run_id, where, record.round,
                number, attempt, failure, record.custom,
            )  # fmt: skip
            try:
                if item.timeout is None and item.is_async and item.fn is not None:
                    returned = await item.fn(step)
                else:
                    returned = await self._call_within(item, step)
                return _accepted(place, item, step, values, returned, attempt, retried)
            except Exception as raised:
                error = unwrapped(raised)
            known = as_failure(error, step.path, attempt)
            if isinstance(error, BudgetExhausted):
                record.exhausted(error, known.path)
            if not _again(item, error, attempt):
                return Done(None, None, error, known, _may_be_routed(item, error, place.scope), attempt, retried)
            record.retrying(known)
            retried = (*retried, known)
            await self._pause(place.scope, item, attempt)
            attempt += 1

    async def _pause(self, scope: Scope, item: PlanNode, attempt: int) -> None:
        seconds = item.retry.pause(attempt) if item.retry is not None else 0.0
        if seconds > 0:
            await self.clock.sleep(seconds)
        else:
            await self.breathe()
        self.control(scope)

    async def _call(self, item: PlanNode, step: Step[Any, Any]) -> Any:
        assert item.fn is not None  # a composite is walked, not called
        if item.is_async:
            return await item.fn(step)
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(_THREADS)
        return await anyio.to_thread.run_sync(item.fn, step, abandon_on_cancel=True, limiter=self._limiter)

    async def _call_within(self, item: PlanNode, step: Step[Any, Any]) -> Any:
        if item.timeout is None:
            return await self._call(item, step)
        began = self._monotonic()
        returned: Any = None
        raised: Exception | None = None
        with self.clock.timeout(item.timeout) as cancel:
            try:
                returned = await self._call(item, step)
            except Exception as error:
                raised = error
        # The scope says whether it was late, not the exception: a node may swallow what stops it.
        if cancel.cancel_called or self._monotonic() - began >= item.timeout:
            raise NodeTimeout(step.path, item.timeout) from raised
        if raised is not None:
            raise raised
        return returned


def _accepted(
    place: Place,
    item: PlanNode,
    step: Step[Any, Any],
    values: Values,
    returned: Any,
    attempt: int,
    retried: tuple[Failure, ...],
) -> Done:
    outcome = checked(item, returned, step)
    if type(outcome) is Complete and outcome.value is step.state:
        outcome = Complete(snapshot(outcome.value))
    patch = place.shape.difference(step.state, values, step)
    writes = item.definition.writes
    if patch and writes is not None and (undeclared := sorted(set(patch) - set(writes))):
        raise ContractError(f"{step.path} changed {', '.join(undeclared)}, which its writes= does not name")
    return Done(outcome, patch, None, None, True, attempt, retried)


def _again(item: PlanNode, error: Exception, attempt: int) -> bool:
    if item.retry is None or item.definition.effects or isinstance(error, BudgetExhausted | ContractError):
        return False
    thread_lost = isinstance(error, NodeTimeout) and not item.is_async
    return not thread_lost and item.retry.wants(error, attempt)


def _may_be_routed(item: PlanNode, error: Exception, scope: Scope) -> bool:
    # A node with effects that timed out may have done its work. Nobody knows, so no route goes on from there.
    return is_routable(error, scope) and not (item.definition.effects and isinstance(error, NodeTimeout))
