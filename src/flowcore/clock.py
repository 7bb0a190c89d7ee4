"""The clock: the only place that asks what time it is, and what an event loop does for whoever waits.

A clock is asked for time and timers. Real time takes its timers from the running event loop; a clock that tests
move by hand keeps them itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from contextvars import Context
from datetime import UTC, datetime
from typing import Any, Protocol

import anyio

__all__ = ["Clock", "Door", "Loop", "SystemClock", "Timer"]


class Timer(Protocol):
    """Something that will be called, unless it is cancelled first."""

    def cancel(self) -> object:
        """See to it that the call does not happen."""
        ...


class Door(Protocol):
    """Where a cancellation is let into code that runs, or kept out."""

    def open(self) -> None:
        """Let a cancellation in."""
        ...

    def close(self) -> None:
        """Let no further one in."""
        ...


class Loop(Protocol):
    """What flowcore asks of an event loop beyond what anyio offers."""

    def soon(self, call: Callable[[], object], /) -> None:
        """Call in the loop's next pass. May be used from any thread."""
        ...

    def later(self, seconds: float, call: Callable[[], object], /) -> Timer:
        """Call when `seconds` of real time have passed."""
        ...

    def spawn(
        self, work: Callable[[], Coroutine[Any, Any, None]], name: str, context: Context | None = None
    ) -> Door:
        """Run `work` in a task of its own that nobody waits for, in a context, or in a copy of the current one.

        The door lets cancellations into the task.
        """
        ...

    def is_cancelling(self) -> bool:
        """Return whether the current task was asked to end. False where a cancellation comes from elsewhere."""
        ...

    def cancellation(self) -> BaseException:
        """Return the exception with which this kind of loop tells a task that it is cancelled."""
        ...


class Clock(Protocol):
    """What flowcore asks of time. Tests pass one that they move by hand."""

    def monotonic(self) -> float:
        """Return seconds that never go back, from any starting point."""
        ...

    def utcnow(self) -> datetime:
        """Return the wall-clock time, aware, in UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return when `seconds` have passed."""
        ...

    def later(self, seconds: float, call: Callable[[], object], loop: Loop) -> Timer:
        """Call when `seconds` have passed on this clock."""
        ...


class SystemClock:
    """Real time."""

    monotonic = staticmethod(time.monotonic)

    def utcnow(self) -> datetime:
        """Return the time of day in UTC."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Sleep in the running event loop."""
        await anyio.sleep(seconds)

    def later(self, seconds: float, call: Callable[[], object], loop: Loop) -> Timer:
        """Set a timer of the event loop."""
        return loop.later(seconds, call)
