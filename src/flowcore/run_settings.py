"""The settings of a run: what is said of it beside its flow and state, checked before anything begins."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Required, TypedDict

from .clock import Clock, SystemClock
from .runtime import GRACE, Observer, current_task
from .scope import Budget
from .store import RunStore
from .trigger import Trigger

__all__ = ["ResumeOptions", "RunOptions", "RunSettings"]


class RunOptions(TypedDict, total=False):
    """What may be said of a run beside its state and deps; `Flow.run` tells what each means."""

    budget: Budget | None
    run_id: str | None
    observers: Sequence[Observer]
    deadline: datetime | None
    store: RunStore | None
    trigger: Trigger | None
    title: str
    clock: Clock | None
    grace: float


class ResumeOptions(TypedDict, total=False):
    """What may be said of a run that is resumed; `Flow.resume` tells what each means."""

    store: Required[RunStore]
    by: str
    observers: Sequence[Observer]
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
    store: RunStore | None = None
    trigger: Trigger | None = None
    by: str = ""
    title: str = ""
    time: Clock = field(init=False)
    limits: Budget = field(init=False)

    def __post_init__(self) -> None:
        _check_kind("budget", self.budget, Budget)
        _check_kind("run_id", self.run_id, str)
        _check_kind("deadline", self.deadline, datetime)
        _check_kind("trigger", self.trigger, Trigger)
        _check_kind("title", self.title, str)
        if self.run_id is not None and not _is_plain(self.run_id):
            raise ValueError(f"run_id={self.run_id!r}: give a text that can be printed, of 1 to 200 characters")
        if self.store is not None and not callable(getattr(self.store, "commit", None)):
            raise TypeError(f"store={self.store!r}: give a store, such as SQLiteRunStore('runs.db')")
        if self.deadline is not None and self.deadline.tzinfo is None:
            raise ValueError("deadline has no time zone: give an aware datetime, such as datetime.now(UTC) + ...")
        for observer in self.observers:
            if not callable(observer):
                raise TypeError(f"observers={observer!r}: give functions of one event")
        _check_seconds("grace", self.grace)
        _check_seconds("cancel_when_unwatched", self.cancel_when_unwatched)
        object.__setattr__(self, "time", self.clock if self.clock is not None else _clock_around())
        object.__setattr__(self, "limits", self.budget if self.budget is not None else Budget())

    def seconds(self, spent: float = 0.0) -> float | None:
        """Return the seconds that the run may take, with those that it has taken: by budget and by deadline."""
        limits = [] if self.limits.seconds is None else [float(self.limits.seconds)]
        if self.deadline is not None:
            limits.append(spent + self.to_deadline())
        return min(limits) if limits else None

    def of_record(self, budget: str, deadline: float | None, trigger: Trigger) -> RunSettings:
        """Return the settings with what the record of the run says of them."""
        latest = None if deadline is None else datetime.fromtimestamp(deadline, UTC)
        return replace(self, budget=Budget(**json.loads(budget)), deadline=latest, trigger=trigger)

    def to_deadline(self) -> float:
        """Return the seconds from now to its deadline: endless if it has none."""
        if self.deadline is None:
            return math.inf
        return (self.deadline.astimezone(UTC) - self.time.utcnow()).total_seconds()


_CLOCK = SystemClock()


def _clock_around() -> Clock:
    """Return the clock of the run around, so that its deadline holds for a run inside; else real time."""
    task = current_task.get()
    return _CLOCK if task is None else task.host.inside.clock


def _check_kind(name: str, value: object, kind: type) -> None:
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{name}={value!r}: give a {kind.__name__}")


def _is_plain(text: str) -> bool:
    return 0 < len(text) <= 200 and text.isprintable()


def _check_seconds(name: str, value: object) -> None:
    if value is None and name != "grace":
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name}={value!r}: give a number of seconds")
    if not value >= 0:
        raise ValueError(f"{name}={value!r}: give zero or more seconds")
