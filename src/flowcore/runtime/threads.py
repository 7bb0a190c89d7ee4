"""The threads of a run: where plain functions work. A thread cannot be stopped, only abandoned and named."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread

from ..clock import Clock, Loop

__all__ = ["RunThreads"]

_MOST = 40


class _Call:
    """One call in a thread. It is either begun or dropped, whatever comes first."""

    __slots__ = ("_argument", "_begun", "_dropped", "_ended", "_fn", "_lock")

    def __init__(self, fn: Callable[[Any], Any], argument: Any, ended: Callable[[], None]) -> None:
        self._fn = fn
        self._argument = argument
        self._ended = ended
        self._lock = threading.Lock()
        self._begun = False
        self._dropped = False

    def run(self) -> Any:
        """Do the work, in a thread, unless it was dropped before it began."""
        with self._lock:
            if self._dropped:
                return None
            self._begun = True
        try:
            return self._fn(self._argument)
        finally:
            self._ended()

    def drop(self) -> bool:
        """Keep the work from beginning. Return False if it has begun."""
        with self._lock:
            self._dropped = not self._begun
            return self._dropped


class RunThreads:
    """The worker threads of one run, at most forty at a time."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._limiter: anyio.CapacityLimiter | None = None
        self._working: dict[_Call, str] = {}
        self._idle: anyio.Event | None = None

    @property
    def working(self) -> tuple[str, ...]:
        """The paths of the visits whose threads are at work, abandoned ones included."""
        return tuple(self._working.values())

    async def call(self, fn: Callable[[Any], Any], argument: Any, path: str) -> Any:
        """Call `fn` in a thread. When the wait is cancelled the thread goes on by itself."""
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(_MOST)
        call = _Call(fn, argument, lambda: self._loop.soon(lambda: self._ended(call)))
        self._working[call] = path
        try:
            return await anyio.to_thread.run_sync(call.run, abandon_on_cancel=True, limiter=self._limiter)
        finally:
            if call.drop():
                self._ended(call)

    async def idle_within(self, seconds: float, clock: Clock) -> None:
        """Return when no thread is at work, or when the time is over."""
        if self._working:
            self._idle = anyio.Event()
            timer = clock.later(seconds, self._idle.set, self._loop)
            with anyio.CancelScope(shield=True):
                await self._idle.wait()
            timer.cancel()

    def _ended(self, call: _Call) -> None:
        self._working.pop(call, None)
        if not self._working and self._idle is not None:
            self._idle.set()
