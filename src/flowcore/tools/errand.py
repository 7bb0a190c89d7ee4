"""The errand: one dispatched call in a task of its own, which can be asked to stop, and at last be left behind."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from ..clock import Clock, Loop
from ..runtime import Countdown, Knock, counting, wait_whatever_comes
from ..scope import Scope, scope_variable

__all__ = ["Errand"]


class Errand:
    """Runs `work` for at most some seconds. What does not stop for the whole time of grace is left to itself."""

    def __init__(
        self,
        work: Callable[[], Awaitable[Any]],
        scope: Scope,
        clock: Clock,
        loop: Loop,
        grace: float,
        left_behind: Callable[[], object],
    ) -> None:
        self.value: Any = None
        self.error: BaseException | None = None
        self.returned = False
        self.is_late = False
        self._work = work
        self._scope = scope
        self._clock = clock
        self._loop = loop
        self._grace = grace
        self._left_behind = left_behind
        self._done = anyio.Event()

    async def run(self, seconds: float, name: str) -> None:
        """Return when the work is done, or its time is over. Cancelled, it ends the work first."""
        door = self._loop.spawn(self._go, f"flowcore tool {name}")
        knock = Knock(door, self._loop, self._clock, self._give_up, self._grace)
        now = self._clock.monotonic()
        countdown = Countdown(knock, now, now + seconds)
        try:
            with counting(self._scope, countdown):
                await self._done.wait()
            self.is_late = knock.asked
        except BaseException:
            knock.ask()
            await wait_whatever_comes(self._done)
            raise
        finally:
            knock.end()
            self._scope.close(self._loop.cancellation)

    async def _go(self) -> None:
        scope_variable.set(self._scope)
        try:
            value = await self._work()
        except BaseException as error:  # a task that nobody waits for: whoever runs the errand judges it
            self._end(None, error)
        else:
            self._end(value, None)

    def _end(self, value: Any, error: BaseException | None) -> None:
        if not self._done.is_set():
            self.value, self.error, self.returned = value, error, error is None
            self._done.set()

    def _give_up(self) -> None:
        self._left_behind()
        self._done.set()
