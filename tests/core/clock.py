"""A clock that a test moves by hand. Who waits on it waits for the test, and never for real time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import anyio
import anyio.lowlevel

from flowcore.clock import Loop

START = datetime(2026, 1, 1, tzinfo=UTC)


class Alarm:
    """Something that is called once its time has come, unless it is cancelled first."""

    def __init__(self, due: float, call: Callable[[], object]) -> None:
        self.due = due
        self.call = call
        self.is_over = False

    def cancel(self) -> None:
        self.is_over = True


class HandClock:
    """Time stands still until `advance` is called; one that `jumps` moves by itself when somebody sleeps."""

    def __init__(self, *, jumps: bool = False) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self._jumps = jumps
        self._alarms: list[Alarm] = []

    def monotonic(self) -> float:
        return self.now

    def utcnow(self) -> datetime:
        return START + timedelta(seconds=self.now)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        woken = anyio.Event()
        self._alarms.append(Alarm(self.now + seconds, woken.set))
        if self._jumps:
            self.advance(seconds)
        await woken.wait()
        await anyio.lowlevel.checkpoint()

    def later(self, seconds: float, call: Callable[[], object], loop: Loop) -> Alarm:
        alarm = Alarm(self.now + seconds, call)
        self._alarms.append(alarm)
        return alarm

    def advance(self, seconds: float) -> None:
        """Move the time, and call in order what its time has come for."""
        self.now += seconds
        for alarm in sorted(self._alarms, key=lambda alarm: alarm.due):
            if alarm.due <= self.now and not alarm.is_over:
                alarm.is_over = True
                alarm.call()
        self._alarms = [alarm for alarm in self._alarms if not alarm.is_over]
