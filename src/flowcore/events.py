"""Events: what a run tells while it goes on. Frozen, tagged by `kind`, ordered by `seq`.

Kinds may be added: a reader ignores those it does not know.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from .errors import Failure

__all__ = [
    "ArtifactAdded",
    "BudgetSpent",
    "BudgetWarned",
    "Custom",
    "Event",
    "ModelFinished",
    "ModelRequested",
    "NodeFailed",
    "NodeFinished",
    "NodeRetrying",
    "NodeStarted",
    "RoundStarted",
    "RouteTaken",
    "RunCancelledEvent",
    "RunCompleted",
    "RunFailedEvent",
    "RunStarted",
    "StatePatched",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened: `seq` counts from 1 in each run, `path` names the visit, `at` is the time."""

    kind: ClassVar[str] = "event"
    seq: int
    run_id: str
    path: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Event):
    """The first event: a run of `flow` began."""

    kind: ClassVar[str] = "run.started"
    flow: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundStarted(Event):
    """A round was charged; it is the run's `round`-th."""

    kind: ClassVar[str] = "round.started"
    round: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeStarted(Event):
    """A visit began. Sent before its body runs."""

    kind: ClassVar[str] = "node.started"
    visit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRetrying(Event):
    """Attempt `attempt` failed and another follows."""

    kind: ClassVar[str] = "node.retrying"
    attempt: int
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFinished(Event):
    """A visit returned an outcome, which was committed."""

    kind: ClassVar[str] = "node.finished"
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFailed(Event):
    """A visit failed, after its retries."""

    kind: ClassVar[str] = "node.failed"
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class StatePatched(Event):
    """A visit changed these fields of the state."""

    kind: ClassVar[str] = "state.patched"
    patch: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteTaken(Event):
    """The run went on to `target`: by `route` (next, label, error or over_limit), because of `why`."""

    kind: ClassVar[str] = "route.taken"
    route: str
    label: str
    target: str
    why: Mapping[str, Any] | None = None
    alternatives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequested(Event):
    """A request was paid for and is sent to `model`; it is the run's `request`-th."""

    kind: ClassVar[str] = "model.requested"
    request: int
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFinished(Event):
    """A request ended: with what it used, and with a failure if there was no answer."""

    kind: ClassVar[str] = "model.finished"
    request: int
    tokens: int
    cost: float
    failure: Failure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetWarned(Event):
    """Four fifths of a limit are used. Sent once for each dimension."""

    kind: ClassVar[str] = "budget.warned"
    dimension: str
    limit: float
    used: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetSpent(Event):
    """A limit was reached."""

    kind: ClassVar[str] = "budget.exhausted"
    dimension: str
    limit: float
    used: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Custom(Event):
    """What a node sent with `step.emit(name, data)`."""

    kind: ClassVar[str] = "custom"
    name: str
    data: object = field(default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactAdded(Event):
    """A node kept something with its visit: `data` of the given media type, under `name`."""

    kind: ClassVar[str] = "artifact.added"
    name: str
    data: object
    media_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCompleted(Event):
    """A terminal event: the run completed with `value`.

    `exhausted` names the dimension if a limit was reached and the finish path gave the value.
    """

    kind: ClassVar[str] = "run.completed"
    value: object
    exhausted: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFailedEvent(Event):
    """A terminal event: the run failed. `exhausted` names the dimension if a limit was the reason."""

    kind: ClassVar[str] = "run.failed"
    failure: Failure
    exhausted: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCancelledEvent(Event):
    """A terminal event: somebody asked the run to end."""

    kind: ClassVar[str] = "run.cancelled"
    reason: str
