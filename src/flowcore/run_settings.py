"""The settings of a run: what is said of it beside its flow and state, checked before anything begins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypedDict

from .clock import Clock, SystemClock
from .runtime import GRACE, Observer
from .scope import Budget

__all__ = ["RunOptions", "RunSettings"]


class RunOptions(TypedDict, total=False):
    """What may be said of a run beside its state and deps; `Flow.run` tells what each means."""

    budget: Budget | None
    run_id: str | None
    observers: Sequence[Observer]
    deadline: datetime | None
    clock: Clock | None
    grace: float


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How a run is to go. Raises `TypeError` and `ValueError` for what cannot be meant."""

    deps: Any = None
    budget: Budget | None = None
    run_id: str | None = None
    observers: Sequence[Observer] = ()
    deadline: datetime | None = None
    clock: Clock | None = None
    grace: float = GRACE
    cancel_when_unwatched: float | None = None
    time: Clock = field(init=False)
    limits: Budget = field(init=False)

    def __post_init__(self) -> None:
        _check_kind("budget", self.budget, Budget)
        _check_kind("run_id", self.run_id, str)
        _check_kind("deadline", self.deadline, datetime)
        if self.deadline is not None and self.deadline.tzinfo is None:
            raise ValueError("deadline has no time zone: give an aware datetime, such as datetime.now(UTC) + ...")
        for observer in self.observers:
            if not callable(observer):
                raise TypeError(f"observers={observer!r}: give functions of one event")
        _check_seconds("grace", self.grace)
        _check_seconds("cancel_when_unwatched", self.cancel_when_unwatched)
        object.__setattr__(self, "time", self.clock if self.clock is not None else _CLOCK)
        object.__setattr__(self, "limits", self.budget if self.budget is not None else Budget())

    def seconds(self) -> float | None:
        """Return the seconds that the run may take from now on: those of its budget, or those to its deadline."""
        limits = [] if self.limits.seconds is None else [float(self.limits.seconds)]
        if self.deadline is not None:
            limits.append(self.to_deadline())
        return min(limits) if limits else None

    def to_deadline(self) -> float:
        """Return the seconds from now to its deadline: endless if it has none."""
        if self.deadline is None:
            return math.inf
        return (self.deadline.astimezone(UTC) - self.time.utcnow()).total_seconds()


_CLOCK = SystemClock()


def _check_kind(name: str, value: object, kind: type) -> None:
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{name}={value!r}: give a {kind.__name__}")


def _check_seconds(name: str, value: object) -> None:
    if value is None and name != "grace":
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name}={value!r}: give a number of seconds")
    if not value >= 0:
        raise ValueError(f"{name}={value!r}: give zero or more seconds")
