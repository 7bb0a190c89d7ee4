"""The fake clock: time stands still until a test moves it."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import anyio
import anyio.lowlevel

from ..clock import Loop, Timer

__all__ = ["FakeClock"]

_PASSES = 12
"""Passes of the event loop that are tried first: waiting for blocked tasks may take a tenth of a second."""


class _Timer:
    """A call at a moment of the fake clock."""

    __slots__ = ("call", "order", "when")

    def __init__(self, when: float, order: int, call: Callable[[], object]) -> None:
        self.when = when
        self.order = order
        self.call: Callable[[], object] | None = call

    def __lt__(self, other: _Timer) -> bool:
        return (self.when, self.order) < (other.when, other.order)

    def cancel(self) -> None:
        self.call = None


class FakeClock:
    """A clock that a test moves: pass it to `flow.run(..., clock=clock)` and call `advance`.

    Timeouts, retries, budgets of time and the run's deadline all follow it. What a node awaits by itself, such as
    `anyio.sleep`, does not: let it await `clock.sleep`.
    """

    def __init__(self, now: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._start = now
        self._elapsed = 0.0
        self._timers: list[_Timer] = []
        self._orders = itertools.count()
        self._sleeping = 0

    @property
    def is_awaited(self) -> bool:
        """Whether somebody sleeps until the clock has moved."""
        return self._sleeping > 0

    def monotonic(self) -> float:
        """Return the seconds by which the clock was moved."""
        return self._elapsed

    def utcnow(self) -> datetime:
        """Return the time of day to which the clock was moved."""
        return self._start + timedelta(seconds=self._elapsed)

    async def sleep(self, seconds: float) -> None:
        """Return when the clock was moved by `seconds`."""
        woken = anyio.Event()
        timer = self._set(seconds, woken.set)
        self._sleeping += 1
        try:
            await woken.wait()
        finally:
            self._sleeping -= 1
            timer.cancel()

    def later(self, seconds: float, call: Callable[[], object], loop: Loop) -> Timer:
        """Call when the clock was moved by `seconds`."""
        return self._set(seconds, call)

    async def advance(self, seconds: float) -> None:
        """Move the clock, stopping at each timer on the way; return when all that follows from it has happened."""
        end = self._elapsed + seconds
        await self.settle()
        while (timer := self._next()) is not None and timer.when <= end:
            await self._fire(timer)
        self._elapsed = end
        await self.settle()

    async def jump(self) -> bool:
        """Move the clock to the next timer. Return False if nothing waits for it."""
        await self.settle()
        timer = self._next()
        if timer is not None:
            await self._fire(timer)
        return timer is not None

    async def settle(self) -> None:
        """Return when everything that can happen without the clock has happened."""
        for _ in range(_PASSES):
            await anyio.lowlevel.checkpoint()
        await anyio.wait_all_tasks_blocked()

    def _set(self, seconds: float, call: Callable[[], object]) -> _Timer:
        timer = _Timer(self._elapsed + max(0.0, seconds), next(self._orders), call)
        heapq.heappush(self._timers, timer)
        return timer

    def _next(self) -> _Timer | None:
        while self._timers and self._timers[0].call is None:
            heapq.heappop(self._timers)
        return self._timers[0] if self._timers else None

    async def _fire(self, timer: _Timer) -> None:
        heapq.heappop(self._timers)
        self._elapsed = max(self._elapsed, timer.when)
        if timer.call is not None:
            timer.call()
        await self.settle()
