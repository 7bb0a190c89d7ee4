"""The countdown: asks code to stop when its time is over, and stands still while a person is waited for."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Protocol

from ..scope import Scope, standstill_of

__all__ = ["Countdown", "counting"]


class Asked(Protocol):
    """Code that can be asked to stop."""

    @property
    def asked(self) -> bool:
        """Whether it was asked."""
        ...

    def ask_in(self, seconds: float) -> None:
        """Ask when so much time has passed, in place of what was said before."""
        ...


class Countdown:
    """Time that runs out at `ends_at`; however long it stands still, not after `latest`."""

    def __init__(
        self,
        code: Asked,
        now: float,
        ends_at: float,
        *,
        latest: float = math.inf,
        moved: Callable[[float], object] | None = None,
    ) -> None:
        self.ends_at = ends_at
        self._code = code
        self._latest = max(latest, ends_at)
        self._moved = moved
        self._left = 0.0
        code.ask_in(max(0.0, ends_at - now))

    def hold(self, now: float) -> None:
        """Stand still from now on."""
        self._left = self.ends_at - now
        self._move(now, self._latest)

    def let_pass(self, now: float) -> None:
        """Go on from where it stood."""
        self._move(now, min(self._latest, now + self._left))

    def _move(self, now: float, ends_at: float) -> None:
        if self._code.asked:
            return
        self.ends_at = ends_at
        if self._moved is not None:
            self._moved(ends_at)
        self._code.ask_in(max(0.0, ends_at - now))


@contextmanager
def counting(scope: Scope, countdown: Countdown) -> Generator[None]:
    """Let what waits beneath the scope hold the countdown, as long as the body lasts."""
    countdowns = standstill_of(scope).countdowns
    countdowns.append(countdown)
    try:
        yield
    finally:
        countdowns.remove(countdown)
