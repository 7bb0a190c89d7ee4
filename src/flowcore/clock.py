"""The clock: the only place that asks what time it is."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Protocol

import anyio

__all__ = ["Clock", "SystemClock"]


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

    def timeout(self, seconds: float) -> AbstractContextManager[anyio.CancelScope]:
        """Return a scope that is cancelled when `seconds` have passed inside it."""
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

    def timeout(self, seconds: float) -> AbstractContextManager[anyio.CancelScope]:
        """Return a scope with a deadline in the running event loop."""
        return anyio.move_on_after(seconds)
