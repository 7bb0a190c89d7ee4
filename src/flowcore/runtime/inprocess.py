"""The in-process host: runs nodes in this event loop, and keeps the trace."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

import anyio
import anyio.lowlevel

from ..clock import Clock, Loop
from ..errors import BudgetExhausted, ContractError, Failure, NodeCancelled, NodeTimeout, OutcomeUnknown
from ..frame import Frame
from ..graph import PlanNode
from ..scope import Budget, Reserve, Scope, standstill_of
from ..state import Values
from ..step import Step
from .countdown import Countdown, counting
from .effects import EffectsNode
from .gather import Gathering
from .host import Arrival, Done, Ended, Place, Side, Slot, Verdict, WalkStopped
from .inside import HostInside
from .outcomes import accepted, as_failure, is_routable, unwrapped
from .record import Recorder
from .stoppable import Stoppable
from .threads import RunThreads

__all__ = ["InProcessHost"]

_BREATH = 0.003
"""Seconds after which a walk that never waits lets others run."""
_STOPPED = Failure("", "Cancelled", "cancelled", "it was stopped")
_UNLIMITED = Budget(rounds=None)


class InProcessHost:
    """Where a flow runs when nothing else is said: in the caller's event loop, on asyncio or trio."""

    def __init__(
        self, record: Recorder, clock: Clock, loop: Loop, given_up: Callable[[Exception, str], None], grace: float
    ) -> None:
        self.record = record
        self.keeps = record.ledger is not None
        self.begin = record.begin
        self.passed_by = record.passed_by
        self.commit = record.finish
        self.threads = RunThreads(loop)
        self.stopped = False
        self.stopping = False
        self.pausing = False
        self.stragglers: tuple[str, ...] = ()
        self._clock = clock
        self._loop = loop
        self._given_up = given_up
        self._grace = grace
        self._monotonic = clock.monotonic
        self._breath = clock.monotonic()
        self._thread = threading.get_ident()
        self.inside = HostInside(
            record, self.threads, clock, loop, grace, self._name_straggler, lambda: self.pausing
        )

    @property
    def still_at_work(self) -> tuple[str, ...]:
        """The paths of visits that were given up, and of those whose threads are at work."""
        return (*self.stragglers, *self.threads.working)

    def control(self, scope: Scope) -> bool:
        """Return whether it is time to let others run. Raises when the run or its time is over."""
        if self.stopped or self.stopping or (scope.parent is not None and scope.is_closed):
            raise WalkStopped
        now = self._monotonic()
        if scope.is_timed:
            scope.check_time(now)
        return now - self._breath > _BREATH

    async def breathe(self) -> None:
        """Pass through the event loop once."""
        await anyio.lowlevel.checkpoint()
        self._breath = self._monotonic()

    def kept(self, place: Place, item: PlanNode, number: int, values: Values, done: Done) -> Done:
        """Return how a visit ended as it can be written down: failed, if it did what cannot be."""
        ledger, frame = self.record.ledger, place.frame
        error = None if ledger is None else ledger.kept((frame, item.id, number), place.shape, values, done)
        if error is None:
            return done
        failure = as_failure(error, frame.path_of(item.id, number), done.attempts)
        return Done(None, None, error, failure, False, done.attempts, done.retried, done.inner)

    def exhausted(self, path: str, error: Exception) -> Failure:
        """Note the limit that was reached."""
        if isinstance(error, BudgetExhausted):
            self.record.exhausted(error, path)
        return as_failure(error, path)

    def finishing(self, place: Place, item: PlanNode, dimension: str) -> None:
        """Tell that the limit ran out and that the finish path goes on."""
        self.record.finishing(place.frame, item.id, dimension)

    def narrowed(self, scope: Scope, budget: Budget, frame: Frame, reserve: Reserve) -> Scope:
        """Return the scope that a walk has of its own inside `scope`. Its time begins now, or goes on."""
        inner = scope.narrow(budget, path=frame.path, reserve=reserve)
        now = self._monotonic()
        spent = frame.spent if frame.scope is None else frame.scope.spending(now)
        inner.start(now, budget.seconds, held_back=reserve.seconds, spent=spent)
        frame.scope = inner
        return inner

    def timed(self, scope: Scope, seconds: float, path: str) -> Scope:
        """Return a scope inside `scope` that is only a timeout, which begins now."""
        inner = scope.narrow(_UNLIMITED, path=path, is_timeout=True)
        inner.limit_id = scope.limit_id
        inner.start(self._monotonic(), seconds)
        return inner

    async def bounded(
        self, place: Place, walk: Callable[[], Awaitable[Ended]], values: Callable[[], Values]
    ) -> Ended:
        """Run a walk within the time of its scope. Out of time it is stopped, and has failed with `values`."""
        scope = place.scope
        ends_at = scope.ends_at if scope.ends_at is not None else self._monotonic()
        error = scope.out_of_time(ends_at)
        region = self._region(error, scope.path, scope.expire)
        moved = partial(setattr, scope, "ends_at")
        latest = standstill_of(scope).latest
        countdown = Countdown(region, self._monotonic(), ends_at, latest=latest, moved=moved)
        ended: Ended | None = None
        try:
            with counting(scope, countdown), region:
                ended = await walk()
        except Exception:  # what is left of a group when the region's own cancellation is taken out of it
            if not region.asked:
                raise
        if ended is not None and not region.asked:
            return ended
        self._stop_if_asked()
        failure = self.exhausted(scope.path, error)
        self.record.abandon(failure, place.frame)
        return Ended(None, values(), error, failure, routable=False)

    async def gather(
        self,
        place: Place,
        count: int,
        begin: Callable[[int, Slot], Side],
        limit: int,
        verdict: Callable[[int, Ended], Verdict],
    ) -> list[Ended | None]:
        """Run walks side by side, in a task each."""
        rules = (limit, begin, verdict, self._leave_behind, self._stopped, place.slot)
        try:
            gathering = Gathering(count, *rules, self._loop, self._clock, self._grace)
            results = await gathering.run()
        except Exception:  # an AssertionError of trio, where a cancellation was gone before it was raised
            if self.stopped or place.scope.is_closed:
                raise WalkStopped from None
            raise
        self._stop_if_asked()
        if self.stopping and gathering.is_cut_off:  # it is stopped with them: of their results some are missing
            raise WalkStopped
        return results

    def _stopped(self, frame: Frame) -> None:
        """End what the end of a walk beside others found under way in it. What is paused begins again."""
        if not self.pausing:
            self.record.abandon(_STOPPED, frame)

    def _leave_behind(self, frame: Frame) -> None:
        """Name the visit of a walk that was asked to stop, and did not for the whole time of grace."""
        self.stragglers += self.record.leaves(frame)

    def _name_straggler(self, path: str) -> None:
        """Name what is left to itself inside a visit."""
        self.stragglers += (path,)

    def _region(self, error: Exception, path: str, asked: Callable[[], object] | None = None) -> Stoppable:
        """Return a region that can be asked to stop. If it does not, the run gives it up."""
        return Stoppable(self._loop, self._clock, lambda: self._given_up(error, path), self._grace, asked)

    def _stop_if_asked(self) -> None:
        if self.stopped:
            raise WalkStopped

    def visit(
        self, place: Place, item: PlanNode, number: int, values: Values, arrival: Arrival
    ) -> Coroutine[Any, Any, Done]:
        """Run the node's function: draft, timeout and retries are inside."""
        if item.definition.effects:
            return EffectsNode(self, place, item, number, values, arrival).visit()
        return self.attempts(place, item, number, values, arrival)

    async def attempts(self, place: Place, item: PlanNode, number: int, values: Values, arrival: Arrival) -> Done:
        """Run the node's function until it returns an outcome or is out of attempts."""
        if place.slot is not None and place.slot.is_crowded:
            await place.slot.park(self.breathe())
        place.scope.visit = where = (place.frame, item.id, number)
        record = self.record
        retried: tuple[Failure, ...] = ()
        attempt = 1
        while True:
            step = self.step(place, item, number, values, arrival, attempt)
            try:
                if attempt > 1:
                    await self._pause(place, item, attempt - 1)
                if item.timeout is None and item.is_async and item.fn is not None:
                    returned = await item.fn(step)
                else:
                    returned = await self.within(item, step, partial(self._call, item, step))
                scope = place.scope
                if self.stopped or scope.is_timed or scope.parent is not None:
                    self.late(scope)  # a late return is no return
                return accepted(place, item, step, values, returned, attempt, retried)
            except Exception as raised:
                error = self._out_of_time(place.scope) or unwrapped(raised)
            except BaseException as raised:
                error = self._unasked(raised, step)
            known = as_failure(error, step.path, attempt)
            if isinstance(error, BudgetExhausted):
                record.exhausted(error, known.path)
            if not _again(item, error, attempt):
                return Done(None, None, error, known, _may_be_routed(item, error, place.scope), attempt, retried)
            record.retrying(where, known)
            retried = (*retried, known)
            attempt += 1

    def step(
        self, place: Place, item: PlanNode, number: int, values: Values, arrival: Arrival, attempt: int = 1
    ) -> Step[Any, Any]:
        """Return a step of a visit, with a draft of its own."""
        record, where = self.record, (place.frame, item.id, number)
        return Step(
            place.shape.draft(values), place.deps, place.scope, record.run_id, where, record.round,
            number, attempt, arrival.failure, arrival.exhausted, self._tell,
        )  # fmt: skip

    def _out_of_time(self, scope: Scope) -> BudgetExhausted | NodeTimeout | None:
        """Return the limit of time that is over, whatever a handler made of being stopped by it."""
        try:
            self.late(scope)
        except (BudgetExhausted, NodeTimeout) as error:
            return error
        return None

    def late(self, scope: Scope) -> None:
        """Raise if what a visit does now is too late: the run, its branch or its time is over."""
        stopping, self.stopping = self.stopping, False
        try:
            self.control(scope)
        finally:
            self.stopping = stopping

    def _unasked(self, raised: BaseException, step: Step[Any, Any]) -> Exception:
        """Return as a failure a cancellation that came out of a node although nobody asked. Raises any other."""
        if not isinstance(raised, anyio.get_cancelled_exc_class()) or self.stopped or self._loop.is_cancelling():
            raise raised
        error = NodeCancelled(step.path)
        error.__cause__ = raised
        return error

    def _tell(self, *event: Any) -> None:
        """Pass on what a node tells, from whatever thread it does so."""
        if threading.get_ident() == self._thread:
            self.record.custom(*event)
        else:
            self._loop.soon(lambda: self.record.custom(*event))

    async def _pause(self, place: Place, item: PlanNode, attempt: int) -> None:
        seconds = item.retry.pause(attempt) if item.retry is not None else 0.0
        pause = self._clock.sleep(seconds) if seconds > 0 else self.breathe()
        await (pause if place.slot is None else place.slot.park(pause))
        self.control(place.scope)

    async def _call(self, item: PlanNode, step: Step[Any, Any]) -> Any:
        assert item.fn is not None  # a composite is walked, not called
        if item.is_async:
            return await item.fn(step)
        return await self.threads.call(item.fn, step, step.path)

    async def within(self, item: PlanNode, step: Step[Any, Any], call: Callable[[], Awaitable[Any]]) -> Any:
        """Call within the timeout of the node. Raises `NodeTimeout`."""
        if item.timeout is None:
            return await call()
        late = NodeTimeout(step.path, item.timeout)
        region = self._region(late, step.path)
        now = self._monotonic()
        countdown = Countdown(region, now, now + item.timeout)
        returned: Any = None
        raised: Exception | None = None
        try:
            with counting(step.scope, countdown), region:
                returned = await call()
        except Exception as error:
            raised = error
        # The region says whether it was late, not the exception: a node may swallow what stops it.
        if region.asked or self._monotonic() >= countdown.ends_at:
            raise late from raised
        if raised is not None:
            raise raised
        return returned


def _again(item: PlanNode, error: Exception, attempt: int) -> bool:
    if (
        item.retry is None
        or item.definition.effects
        or isinstance(error, BudgetExhausted | ContractError | OutcomeUnknown)
    ):
        return False
    if isinstance(error, NodeTimeout) and (error.scope_id or not item.is_async):
        return False  # the time of a flow around it is over, or its thread is lost
    return item.retry.wants(error, attempt)


def _may_be_routed(item: PlanNode, error: Exception, scope: Scope) -> bool:
    # A node with effects that timed out may have done its work. Nobody knows, so no route goes on from there.
    return is_routable(error, scope) and not (item.definition.effects and isinstance(error, NodeTimeout))
