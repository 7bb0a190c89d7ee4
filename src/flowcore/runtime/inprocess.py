"""The in-process host: runs nodes in this event loop, and keeps the trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread

from ..clock import Clock
from ..errors import BudgetExhausted, ContractError, Failure, NodeTimeout
from ..events import Event
from ..graph import Function, PlanNode
from ..outcome import Complete
from ..scope import Scope
from ..state import Values, snapshot
from ..step import Step
from ..trace import Trace
from .host import Done, Left, Opened, Place
from .outcomes import as_failure, checked, is_routable, unwrapped
from .record import Recorder

__all__ = ["InProcessHost"]

_BREATH = 0.003
"""Seconds after which a walk that never waits lets others run."""


class InProcessHost:
    """Where a flow runs when nothing else is said: in the caller's event loop, on asyncio or trio."""

    def __init__(
        self,
        flow: str,
        run_id: str,
        scope: Scope,
        clock: Clock,
        ends_at: float | None,
        listeners: Sequence[Callable[[Event], None]],
    ) -> None:
        self.scope = scope
        self.clock = clock
        self.ends_at = ends_at
        self.record = Recorder(flow, run_id, scope, clock, listeners)
        self._breath = clock.monotonic()
        self._limiter: anyio.CapacityLimiter | None = None

    @property
    def trace(self) -> Trace:
        """The visits so far."""
        return self.record.trace

    def control(self) -> None:
        """Return if there is time left. Raises `BudgetExhausted` otherwise."""
        if self.ends_at is not None and self.clock.monotonic() >= self.ends_at:
            raise self.out_of_time()

    def out_of_time(self) -> BudgetExhausted:
        """Return the error that says that the run's time is used up."""
        limit = (self.ends_at or 0.0) - self.record.began
        return BudgetExhausted("seconds", limit, self.clock.monotonic() - self.record.began)

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

    async def breathe(self) -> None:
        """Pass through the event loop if this walk has not let go of it for some milliseconds."""
        now = self.clock.monotonic()
        if now - self._breath > _BREATH:
            await anyio.lowlevel.checkpoint()
            self._breath = self.clock.monotonic()

    async def visit(
        self, place: Place, item: PlanNode, number: int, values: Values, failure: Failure | None
    ) -> Done:
        """Run the node's function until it returns an outcome or is out of attempts."""
        retried: tuple[Failure, ...] = ()
        attempt = 1
        while True:
            draft = place.shape.draft(values)
            step = self._step(place, item, number, draft, failure, attempt)
            try:
                outcome, patch = await self._attempt(place, item, step, values)
                return Done(outcome, patch, attempts=attempt, retried=retried)
            except Exception as raised:
                error = unwrapped(raised)
                known = as_failure(error, place.frame.path_of(item.id, number), attempt)
            if isinstance(error, BudgetExhausted):
                self.record.exhausted(error, known.path)
            routable = is_routable(error)
            if not self._again(item, error, attempt, routable):
                lost = item.definition.effects and isinstance(error, NodeTimeout)
                return Done(None, None, error, known, routable and not lost, attempt, retried)
            self.record.retrying(known)
            retried = (*retried, known)
            pause = item.retry.pause(attempt) if item.retry is not None else 0.0
            if pause > 0:
                await self.clock.sleep(pause)
            self.control()
            attempt += 1

    def _again(self, item: PlanNode, error: Exception, attempt: int, routable: bool) -> bool:
        if item.retry is None or not routable or item.definition.effects or isinstance(error, BudgetExhausted):
            return False
        thread_lost = (
            isinstance(error, NodeTimeout)
            and isinstance(item.definition, Function)
            and not item.definition.is_async
        )
        return not thread_lost and item.retry.wants(error, attempt)

    def _step(
        self, place: Place, item: PlanNode, number: int, draft: Any, failure: Failure | None, attempt: int
    ) -> Step[Any, Any]:
        return Step(
            draft,
            place.deps,
            scope=place.scope,
            run_id=self.record.run_id,
            path=partial(place.frame.path_of, item.id, number),
            round=self.record.round,
            visit=number,
            attempt=attempt,
            error=failure,
            emit=partial(self.record.custom, (place.frame, item.id, number)),
        )

    async def _attempt(
        self, place: Place, item: PlanNode, step: Step[Any, Any], values: Values
    ) -> tuple[Any, Values | None]:
        if item.timeout is None:
            returned = await self._call(item, step)
        else:
            returned = await self._call_within(item, step, item.timeout)
        where = step.path if type(returned) is not Complete or item.definition.writes is not None else item.id
        outcome = checked(item, returned, where)
        if type(outcome) is Complete and outcome.value is step.state:
            outcome = Complete(snapshot(outcome.value))
        patch = place.shape.difference(step.state, values, item.id)
        writes = item.definition.writes
        if patch and writes is not None and (undeclared := sorted(set(patch) - set(writes))):
            raise ContractError(f"{where} changed {', '.join(undeclared)}, which its writes= does not name")
        return outcome, patch

    async def _call(self, item: PlanNode, step: Step[Any, Any]) -> Any:
        definition = item.definition
        assert isinstance(definition, Function)
        if definition.is_async:
            return await definition.fn(step)
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(40)
        return await anyio.to_thread.run_sync(definition.fn, step, abandon_on_cancel=True, limiter=self._limiter)

    async def _call_within(self, item: PlanNode, step: Step[Any, Any], seconds: float) -> Any:
        began = self.clock.monotonic()
        late = NodeTimeout(step.path, seconds)
        returned: Any = None
        raised: Exception | None = None
        with self.clock.timeout(seconds) as cancel:
            try:
                returned = await self._call(item, step)
            except Exception as error:
                raised = error
        if cancel.cancel_called or self.clock.monotonic() - began >= seconds:
            raise late from raised
        if raised is not None:
            raise raised
        return returned
