"""The retry policy: how often, how long between, and for which errors an attempt is made again."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .types import is_error_type

__all__ = ["Retry"]


@dataclass(frozen=True, slots=True)
class Retry:
    """Make up to `attempts` attempts of a node, the first included.

    Before attempt n + 1 it waits `wait * factor ** (n - 1)` seconds, at most `max_wait`. `on` names the errors
    that are worth another attempt. Cancellation, contract errors, exhausted budgets and nodes with effects are
    never retried. Raises `ValueError` for numbers out of range and `TypeError` for an `on` that is no error.
    """

    attempts: int = 3
    wait: float = 0.0
    factor: float = 2.0
    max_wait: float = 60.0
    on: tuple[type[Exception], ...] = (Exception,)

    def __post_init__(self) -> None:
        if not self.attempts >= 1:
            raise ValueError(f"Retry(attempts={self.attempts}): give 1 or more")
        for name in ("wait", "factor", "max_wait"):
            value = getattr(self, name)
            if math.isnan(value) or value < 0:
                raise ValueError(f"Retry({name}={value}): give zero or more")
        for kind in self.on:
            if not is_error_type(kind):
                raise TypeError(f"Retry(on={self.on!r}): name subclasses of Exception")

    def pause(self, attempt: int) -> float:
        """Return the seconds to wait after attempt number `attempt` failed."""
        try:
            pause = self.wait * self.factor ** (attempt - 1) if self.wait else 0.0
        except OverflowError:
            pause = self.max_wait
        return float(min(self.max_wait, self.wait if math.isnan(pause) else pause))

    def wants(self, error: Exception, attempt: int) -> bool:
        """Return whether attempt number `attempt`, which raised `error`, is followed by another."""
        return attempt < self.attempts and isinstance(error, self.on)
