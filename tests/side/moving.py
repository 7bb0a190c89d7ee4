"""Running a flow to its end on a clock that is moved from timer to timer, in passes of the event loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from tests.stepping import StepClock, passes

from flowcore import Flow, Run, RunResult


async def until(happened: Callable[[], object], clock: StepClock) -> None:
    """Moves the clock until something has happened. Fails if nothing moves any more."""
    still = 0
    while not happened():
        await passes()
        if happened():
            return
        still = 0 if clock.tick() else still + 1
        if still > 20:  # nothing but a thread can be at work now
            await anyio.sleep(0.001)
        assert still < 1000, "nothing moves any more"


Meanwhile = Callable[[Run[Any]], Awaitable[object]]


async def finished(
    flow: Flow[Any, Any, Any],
    state: Any,
    clock: StepClock | None = None,
    meanwhile: Meanwhile | None = None,
    **options: Any,
) -> RunResult[Any]:
    """Runs a flow to its end, and `meanwhile` beside it, while the clock is moved."""
    clock = clock if clock is not None else StepClock()
    ended: list[RunResult[Any]] = []
    async with flow.start(state, clock=clock, **options) as run:

        async def wait() -> None:
            ended.append(await run.wait())

        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            if meanwhile is not None:
                group.start_soon(meanwhile, run)
            try:
                await until(lambda: ended, clock)
            except AssertionError:
                group.cancel_scope.cancel()
                raise
    return ended[0]
