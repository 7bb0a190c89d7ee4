"""A clock that a test moves by hand. Who waits on it waits for the test, and never for real time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import anyio

START = datetime(2026, 1, 1, tzinfo=UTC)


class HandClock:
    """Time stands still until `advance` is called; with `jumps` a sleep moves the time by itself."""

    def __init__(self, *, jumps: bool = False) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self._jumps = jumps
        self._alarms: list[tuple[float, anyio.Event]] = []
        self._scopes: list[tuple[float, anyio.CancelScope]] = []

    def monotonic(self) -> float:
        return self.now

    def utcnow(self) -> datetime:
        return START + timedelta(seconds=self.now)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if self._jumps:
            self.advance(seconds)
            await anyio.lowlevel.checkpoint()
            return
        alarm = anyio.Event()
        self._alarms.append((self.now + seconds, alarm))
        await alarm.wait()

    @contextmanager
    def timeout(self, seconds: float) -> Iterator[anyio.CancelScope]:
        with anyio.CancelScope() as scope:
            entry = (self.now + seconds, scope)
            self._scopes.append(entry)
            if seconds <= 0:
                scope.cancel()
            try:
                yield scope
            finally:
                self._scopes.remove(entry)

    def advance(self, seconds: float) -> None:
        """Move the time, wake who slept long enough and cancel what took too long."""
        self.now += seconds
        for due, alarm in self._alarms:
            if due <= self.now:
                alarm.set()
        for due, scope in self._scopes:
            if due <= self.now:
                scope.cancel()

    async def until_asleep(self) -> None:
        """Return when somebody sleeps on this clock."""
        while not any(not alarm.is_set() for _, alarm in self._alarms):
            await anyio.lowlevel.checkpoint()
