"""The stoppable: a stretch of code that can be asked to stop, by knocking rather than by holding the door.

A cancellation that is held up makes a node that swallows it spin: each await raises at once. So it is delivered
for a few passes of the event loop, then shielded, then delivered again after 50, 100, 200 ms and so on, until the
time of grace is over.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

import anyio

from ..clock import Clock, Loop, Timer

__all__ = ["GRACE", "Stoppable"]

GRACE = 5.0
"""Seconds that code which was asked to stop may take to do so."""
_FIRST_PAUSE = 0.05
_FIRST_PASSES = 3
_LATER_PASSES = 1


class Stoppable:
    """Two scopes around a stretch of code: the outer one is cancelled, the inner one lets that through or not."""

    __slots__ = ("_clock", "_given_up", "_grace", "_inner", "_loop", "_outer", "_over", "_timer", "asked")

    def __init__(self, loop: Loop, clock: Clock, given_up: Callable[[], object], grace: float = GRACE) -> None:
        self._loop = loop
        self._clock = clock
        self._given_up = given_up
        self._grace = grace
        self._outer = anyio.CancelScope()
        self._inner = anyio.CancelScope()
        self._over = False
        self._timer: Timer | None = None
        self.asked = False

    def __enter__(self) -> Self:
        self._outer.__enter__()
        self._inner.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self._over = True
        if self._timer is not None:
            self._timer.cancel()
        if self._inner.__exit__(kind, error, trace):
            kind = error = trace = None
        return bool(self._outer.__exit__(kind, error, trace))

    def ask_in(self, seconds: float) -> None:
        """Ask the code inside to stop when `seconds` have passed."""
        self._timer = self._clock.later(seconds, self.ask, self._loop)

    def ask(self) -> None:
        """Ask the code inside to stop. Asking again changes nothing."""
        if not self.asked and not self._over:
            self.asked = True
            self._outer.cancel()
            self._knock(_FIRST_PASSES, _FIRST_PAUSE, 0.0)

    def _knock(self, passes: int, pause: float, spent: float) -> None:
        if self._over:
            return
        self._inner.shield = False
        pause = min(pause, self._grace - spent)
        self._close_after(passes, last=pause <= 0)
        if pause > 0:
            following = (_LATER_PASSES, pause * 2, spent + pause)
            self._timer = self._clock.later(pause, lambda: self._knock(*following), self._loop)

    def _close_after(self, passes: int, *, last: bool) -> None:
        if self._over:
            return
        if passes:
            self._loop.soon(lambda: self._close_after(passes - 1, last=last))
            return
        self._inner.shield = True
        if last:
            self._given_up()
