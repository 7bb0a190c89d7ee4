"""Lives of a run: walked until its process dies, resumed when its lease is over, again and again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple

import anyio
from tests.stepping import PASSES, StepClock, passes

from flowcore import Flow, Run, RunResult
from flowcore.errors import RunConflict, RunNotFound, StoreError
from flowcore.runtime.opening import codec_of
from flowcore.store import MemoryRunStore, RunStore
from flowcore.store.reading import read_trace
from flowcore.trace import Trace

from .mortal import MortalStore

AFTER_THE_LEASE = 31.0
RUN_ID = "run"
_TICKS = 20_000
_OF_THE_RECORD = ("budget", "deadline", "trigger")
"""What is said once, when a run begins."""
Meanwhile = Callable[[Run[Any]], Awaitable[object]]


class Death(NamedTuple):
    """The process dies at a write; whether it hears that this one was written."""

    writes: int
    hears: bool = True


NEVER = Death(1_000_000)


async def ended(
    run: Run[Any], clock: StepClock, meanwhile: Meanwhile | None = None, calm: int = PASSES
) -> RunResult[Any]:
    """Returns how a run ends, while the clock is moved from timer to timer, after `calm` passes of the loop."""
    found: list[RunResult[Any]] = []

    async def wait() -> None:
        found.append(await run.wait())

    async with run, anyio.create_task_group() as group:
        group.start_soon(wait)
        if meanwhile is not None:
            group.start_soon(meanwhile, run)
        for _ in range(_TICKS):
            await passes(calm)
            if found:
                break
            clock.tick()
        group.cancel_scope.cancel()
    assert found, "nothing moves any more"
    return found[0]


class Lives:
    """One run in one store, and the processes that walk it one after the other."""

    def __init__(self, flow: Flow[Any, Any, Any], clock: StepClock, store: RunStore | None = None) -> None:
        self.flow = flow
        self.clock = clock
        self.store: RunStore = MemoryRunStore() if store is None else store
        self.writes = 0

    async def live(
        self, state: Any, death: Death = NEVER, meanwhile: Meanwhile | None = None, **options: Any
    ) -> RunResult[Any]:
        """Begins the run, or goes on with it, until it ends or the process dies."""
        mortal = MortalStore(self.store, death.writes, hears=death.hears)
        try:
            if await self._is_known():
                options = {name: value for name, value in options.items() if name not in _OF_THE_RECORD}
                run = self.flow.reopen(RUN_ID, store=mortal, clock=self.clock, **options)
            else:
                run = self.flow.start(state, store=mortal, run_id=RUN_ID, clock=self.clock, **options)
            return await ended(run, self.clock, meanwhile)
        finally:
            self.writes += mortal.written

    async def to_the_end(self, state: Any, deaths: Iterable[Death], **options: Any) -> RunResult[Any] | None:
        """Lives through the deaths and returns how the last life ends; None if nobody heard of the end."""
        for death in (*deaths, NEVER):
            try:
                result = await self.live(state, death, **options)
            except RunConflict:
                return None  # the last one was killed after it had written the ending
            except StoreError:
                pass  # it died before it began
            else:
                if not died(result):
                    return result
            self.clock.leap(AFTER_THE_LEASE)
        raise AssertionError("the last life does not die")

    async def trace(self) -> Trace:
        """Returns the trace that stands in the store."""
        return read_trace(await self.store.load(RUN_ID), codec_of(self.flow.plan))

    async def _is_known(self) -> bool:
        try:
            await self.store.run(RUN_ID)
        except RunNotFound:
            return False
        return True


def died(result: RunResult[Any]) -> bool:
    """Returns whether a run ended since its process died."""
    return result.failure is not None and "this process is dead" in result.failure.message


def told(result: RunResult[Any]) -> tuple[Any, ...]:
    """Returns everything of a result that does not depend on how often the process died."""
    failure, usage = result.failure, result.usage
    known = failure and (failure.path, failure.type, failure.code, failure.message, failure.attempts)
    spent = (usage.rounds, usage.requests, usage.tool_calls, usage.tokens, usage.cost)
    return result.status, result.value, result.state, result.exhausted, known, spent
