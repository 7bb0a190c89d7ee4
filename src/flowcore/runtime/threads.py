"""The threads of a run: where plain functions work. A thread cannot be stopped, only abandoned and named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread

from ..clock import Clock, Loop

__all__ = ["RunThreads"]

_MOST = 40


class RunThreads:
    """The worker threads of one run, at most forty at a time."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._limiter: anyio.CapacityLimiter | None = None
        self._working: dict[object, str] = {}
        self._idle: anyio.Event | None = None

    @property
    def working(self) -> tuple[str, ...]:
        """The paths of the visits whose threads are at work, abandoned ones included."""
        return tuple(self._working.values())

    async def call(self, fn: Callable[[Any], Any], argument: Any, path: str) -> Any:
        """Call `fn` in a thread. When the wait is cancelled the thread goes on by itself."""
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(_MOST)
        key = object()

        def work() -> Any:
            try:
                return fn(argument)
            finally:
                self._loop.soon(lambda: self._ended(key))

        self._working[key] = path
        started = False

        def begin() -> Any:
            nonlocal started
            started = True
            return work()

        try:
            return await anyio.to_thread.run_sync(begin, abandon_on_cancel=True, limiter=self._limiter)
        finally:
            if not started:
                self._ended(key)

    async def idle_within(self, seconds: float, clock: Clock) -> None:
        """Return when no thread is at work, or when the time is over."""
        if self._working:
            self._idle = anyio.Event()
            timer = clock.later(seconds, self._idle.set, self._loop)
            await self._idle.wait()
            timer.cancel()

    def _ended(self, key: object) -> None:
        self._working.pop(key, None)
        if not self._working and self._idle is not None:
            self._idle.set()
