"""The run: one walk of a flow under one budget, from its first event to its one ending."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Generic, Literal, TypedDict

import anyio

from .clock import Clock, SystemClock
from .errors import BudgetExhausted, ContractError, Failure
from .events import RunCancelledEvent, RunCompleted, RunFailedEvent, RunStarted
from .frame import Frame
from .graph import Plan
from .runtime import Ended, InProcessHost, Observer, ObserverQueue, Place, Walk
from .scope import Budget, Scope, Usage
from .scope.scope import scope_variable
from .state import shape_of
from .trace import Trace
from .trace_text import trace_text
from .types import ResultT, as_class, type_name

__all__ = ["Run", "RunOptions", "RunResult", "result_of"]

_RESULT = "__flowcore_result__"
_CLOCK = SystemClock()


class RunOptions(TypedDict, total=False):
    """What may be said of a run beside its state and deps; `Flow.run` tells what each means."""

    budget: Budget | None
    run_id: str | None
    observers: Sequence[Observer]
    deadline: datetime | None
    clock: Clock | None


@dataclass(frozen=True, slots=True)
class RunResult(Generic[ResultT]):
    """How a run ended, and everything that is known of it.

    `value` is what it completed with; look at `status`, since `None` is a value too. `state` is the last
    committed state. `exhausted` names the dimension if a limit ended the run.
    """

    status: Literal["completed", "failed", "cancelled"]
    value: ResultT | None
    failure: Failure | None
    state: Any
    trace: Trace
    usage: Usage
    exhausted: str | None = None
    reason: str = ""

    def to_text(self) -> str:
        """Return the run as text that is equal for equal runs: no times, no ids."""
        return trace_text(self.trace, status=self.status, failure=self.failure, value=self.value, usage=self.usage)


def result_of(error: BaseException) -> RunResult[Any]:
    """Return the result of the run that raised `error`. Raises `LookupError` if no run did."""
    found = getattr(error, _RESULT, None)
    if not isinstance(found, RunResult):
        raise LookupError(f"{type(error).__name__} was not raised by a run")
    return found


class Run:
    """One run that is prepared and not yet begun."""

    def __init__(
        self,
        plan: Plan,
        state: Any,
        *,
        deps: Any = None,
        budget: Budget | None = None,
        run_id: str | None = None,
        observers: Sequence[Observer] = (),
        deadline: datetime | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.clock: Clock = clock if clock is not None else _CLOCK
        self.plan = plan
        wanted = as_class(plan.state)
        if wanted is not None and not isinstance(state, wanted):
            given, name = type_name(type(state)), type_name(wanted)
            raise ContractError(f"flow {plan.name!r} wants a state of type {name}, not {given}")
        self.shape = shape_of(state.__class__)
        self.values = self.shape.values(state)
        _check_deps(plan, deps)
        self.scope = Scope(budget, parent=scope_variable.get(None))
        self.queues = [ObserverQueue(observer) for observer in observers]
        self.scope.start(self.clock.monotonic(), _seconds(self.scope.budget, deadline, self.clock))
        id = run_id if run_id is not None else uuid.uuid4().hex
        listeners = [queue.put for queue in self.queues]
        self.host = InProcessHost(plan.name, id, self.scope, self.clock, listeners)
        self.frame = Frame(plan.name)
        self.host.trace.root = self.frame
        self.walk = Walk(plan, Place(self.frame, self.shape, self.scope, deps), self.host)

    async def execute(self) -> RunResult[Any]:
        """Run to the end and return the result. Raises only what is no `Exception`: a cancellation goes on."""
        if not self.queues:
            return await self._observed()
        results: list[RunResult[Any]] = []
        async with anyio.create_task_group() as tasks:
            for queue in self.queues:
                tasks.start_soon(queue.run)
            try:
                results.append(await self._observed())
            finally:
                for queue in self.queues:
                    queue.close()
        return results[0]

    async def _observed(self) -> RunResult[Any]:
        record = self.host.record
        record.tell(RunStarted, "", flow=self.plan.name)
        token = scope_variable.set(self.scope)
        try:
            ended = await self._timed()
        except BaseException as error:
            reason = "user" if isinstance(error, anyio.get_cancelled_exc_class()) else type(error).__name__
            record.abandon(Failure("", "Cancelled", "cancelled", reason), self.frame)
            result = self._result("cancelled", self.walk.values, reason=reason)
            record.tell(RunCancelledEvent, "", reason=reason)
            setattr(error, _RESULT, result)
            raise
        finally:
            scope_variable.reset(token)
        return self._settle(ended)

    async def _timed(self) -> Ended:
        if self.scope.ends_at is None:
            return await self.walk.run(self.values)
        walk = partial(self.walk.run, self.values)
        return await self.host.bounded(self.walk.place, walk, lambda: self.walk.values)

    def _settle(self, ended: Ended) -> RunResult[Any]:
        record = self.host.record
        if ended.failure is None:
            record.tell(RunCompleted, "", value=ended.value)
            return self._result("completed", ended.values, value=ended.value)
        limit = ended.error if isinstance(ended.error, BudgetExhausted) else None
        exhausted = limit.dimension if limit is not None and self.scope.holds(limit) else None
        record.tell(RunFailedEvent, "", failure=ended.failure, exhausted=exhausted)
        return self._result("failed", ended.values, failure=ended.failure, exhausted=exhausted)

    def _result(self, status: Any, values: Any, **known: Any) -> RunResult[Any]:
        usage = replace(self.scope.used, seconds=self.clock.monotonic() - self.host.record.began)
        fields: dict[str, Any] = {"value": None, "failure": None, **known}
        return RunResult(status, state=self.shape.build(values), trace=self.host.trace, usage=usage, **fields)


def raise_for(result: RunResult[Any]) -> None:
    """Raise the exception that a run failed with, with the path as a note."""
    failure = result.failure
    if failure is None or failure.exception is None:
        return
    error = failure.exception
    note = f"at {failure.path}" if failure.path else "in the run"
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)
    setattr(error, _RESULT, result)
    raise error


def _seconds(budget: Budget, deadline: datetime | None, clock: Clock) -> float | None:
    limits = [] if budget.seconds is None else [float(budget.seconds)]
    if deadline is not None:
        if deadline.tzinfo is None:
            raise ValueError("deadline has no time zone: give an aware datetime, such as datetime.now(UTC) + ...")
        limits.append((deadline.astimezone(UTC) - clock.utcnow()).total_seconds())
    return min(limits) if limits else None


def _check_deps(plan: Plan, deps: Any) -> None:
    for path, wanted in plan.wanted_deps:
        try:
            fits = isinstance(deps, wanted)
        except TypeError:  # a protocol that cannot be checked at run time
            continue
        if not fits:
            given = type_name(type(deps))
            raise ContractError(
                f"{path} wants deps of type {type_name(wanted)}, not {given}: pass deps= to the run"
            )
