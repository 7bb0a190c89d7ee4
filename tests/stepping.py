"""A clock that a test moves timer by timer without waiting, and what is alive in the event loop."""

from __future__ import annotations

import asyncio  # noqa: TID251 - counts the tasks of its loop
import heapq
import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import anyio
import anyio.lowlevel
import sniffio
import trio

from flowcore.clock import Loop

START = datetime(2026, 1, 1, tzinfo=UTC)
PASSES = 12
"""Passes of the event loop after which whatever could happen has happened."""


class Alarm:
    """A call at a moment, unless it is cancelled first."""

    def __init__(self, call: Callable[[], object]) -> None:
        self.call: Callable[[], object] | None = call

    def cancel(self) -> None:
        self.call = None


class StepClock:
    """Time that stands still until `tick` or `leap` is called."""

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
        """Moves to the next alarm and calls it. Says whether there was one."""
        while self._alarms:
            when, _, alarm = heapq.heappop(self._alarms)
            if alarm.call is not None:
                self.now = max(self.now, when)
                alarm.call()
                return True
        return False

    def step_towards(self, end: float) -> None:
        """Moves to the next alarm, but not beyond `end`."""
        if self._alarms and self._alarms[0][0] <= end:
            self.tick()
        else:
            self.now = end

    def leap(self, seconds: float) -> None:
        """Moves by so much, and calls on the way what is due."""
        end = self.now + seconds
        while self._alarms and self._alarms[0][0] <= end:
            self.tick()
        self.now = end

    def _set(self, seconds: float, call: Callable[[], object]) -> Alarm:
        alarm = Alarm(call)
        heapq.heappush(self._alarms, (self.now + max(0.0, seconds), next(self._order), alarm))
        return alarm


def living() -> int:
    """Returns how many tasks there are in the running event loop, those of the loop itself included."""
    if sniffio.current_async_library() == "trio":
        return trio.lowlevel.current_statistics().tasks_living
    return len(asyncio.all_tasks())


async def passes(count: int = PASSES) -> None:
    """Goes through the event loop so many times."""
    for _ in range(count):
        await anyio.lowlevel.checkpoint()


async def quiet_down(wanted: int, most: int = 200) -> int:
    """Waits until no more than `wanted` tasks live, at most so many passes; returns how many do."""
    for _ in range(most):
        if living() <= wanted:
            break
        await anyio.lowlevel.checkpoint()
    return living()
