"""The knock: how code is asked to stop, by knocking rather than by holding the door open.

A cancellation that is held up makes a node that swallows it spin: each await raises at once. So the door is opened
for a few passes of the event loop, then closed, then opened again after 50, 100, 200 ms and so on, until the
time of grace is over.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ..clock import Clock, Door, Loop, Timer

__all__ = ["GRACE", "Knock"]

GRACE = 5.0
"""Seconds that code which was asked to stop may take to do so."""
_FIRST_PAUSE = 0.05
_FIRST_PASSES = 3
_LATER_PASSES = 1


class Knock:
    """Asks the code behind a door to stop, again and again, and gives it up when the time of grace is over."""

    __slots__ = ("_clock", "_door", "_given_up", "_grace", "_loop", "_over", "_timer", "asked")

    def __init__(self, door: Door, loop: Loop, clock: Clock, given_up: Callable[[], object], grace: float) -> None:
        self._door = door
        self._loop = loop
        self._clock = clock
        self._given_up = given_up
        self._grace = grace
        self._over = False
        self._timer: Timer | None = None
        self.asked = False

    def end(self) -> None:
        """Say that the code behind the door has ended."""
        self._over = True
        if self._timer is not None:
            self._timer.cancel()

    def ask_in(self, seconds: float) -> None:
        """Ask the code to stop when `seconds` have passed, in place of what was said before; never, if endless."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if seconds == math.inf else self._clock.later(max(0.0, seconds), self.ask, self._loop)

    def ask(self) -> None:
        """Ask the code to stop. Asking again changes nothing."""
        if not self.asked and not self._over:
            self.asked = True
            if self._timer is not None:  # that would have asked later
                self._timer.cancel()
            self._knock(_FIRST_PASSES, _FIRST_PAUSE, 0.0)

    def _knock(self, passes: int, pause: float, spent: float) -> None:
        if self._over:
            return
        self._door.open()
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
        self._door.close()
        if last:
            self._given_up()
