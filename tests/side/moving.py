"""Running a flow to its end on a clock that is moved from timer to timer, in passes of the event loop."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import anyio.lowlevel

from flowcore import Flow, Run, RunResult
from flowcore.clock import Loop

START = datetime(2026, 1, 1, tzinfo=UTC)
PASSES = 12
"""Passes of the event loop after which whatever could happen has happened."""


class Alarm:
    def __init__(self, call: Callable[[], object]) -> None:
        self.call: Callable[[], object] | None = call

    def cancel(self) -> None:
        self.call = None


class MovingClock:
    """Time that stands still until `tick` moves it to the next timer."""

    def __init__(self) -> None:
        self.now = 0.0
        self._alarms: list[tuple[float, int, Alarm]] = []
        self._order = itertools.count()

    def monotonic(self) -> float:
        return self.now

    def utcnow(self) -> datetime:
        return START + timedelta(seconds=self.now)

    async def sleep(self, seconds: float) -> None:
        woken = anyio.Event()
        alarm = self._set(seconds, woken.set)
        try:
            await woken.wait()
        finally:
            alarm.cancel()

    def later(self, seconds: float, call: Callable[[], object], loop: Loop) -> Alarm:
        return self._set(seconds, call)

    def tick(self) -> bool:
        """Moves to the next timer and calls it. Says whether there was one."""
        while self._alarms:
            when, _, alarm = heapq.heappop(self._alarms)
            if alarm.call is not None:
                self.now = max(self.now, when)
                alarm.call()
                return True
        return False

    def _set(self, seconds: float, call: Callable[[], object]) -> Alarm:
        alarm = Alarm(call)
        heapq.heappush(self._alarms, (self.now + max(0.0, seconds), next(self._order), alarm))
        return alarm


async def passes(count: int = PASSES) -> None:
    for _ in range(count):
        await anyio.lowlevel.checkpoint()


async def until(happened: Callable[[], object], clock: MovingClock) -> None:
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
    clock: MovingClock | None = None,
    meanwhile: Meanwhile | None = None,
    **options: Any,
) -> RunResult[Any]:
    """Runs a flow to its end, and `meanwhile` beside it, while the clock is moved."""
    clock = clock if clock is not None else MovingClock()
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
