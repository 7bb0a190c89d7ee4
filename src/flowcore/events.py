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
    "EVENT_KINDS",
    "ArtifactAdded",
    "BudgetSpent",
    "BudgetWarned",
    "CallRecalled",
    "ContextCompacted",
    "Custom",
    "Event",
    "ModelChunk",
    "ModelFinished",
    "ModelRequested",
    "NodeFailed",
    "NodeFinished",
    "NodeRetrying",
    "NodeStarted",
    "RequestAnswered",
    "RequestOpened",
    "RoundStarted",
    "RouteTaken",
    "RunCancelledEvent",
    "RunCompleted",
    "RunFailedEvent",
    "RunPaused",
    "RunResumed",
    "RunStarted",
    "StatePatched",
    "ToolDelta",
    "ToolDenied",
    "ToolFinished",
    "ToolProposed",
    "ToolStarted",
    "ToolWarned",
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
    """A request was paid for and is sent to `model`; it is the run's `request`-th.

    `why` is `retry`, `repair` or `reduced` where an earlier one gave no answer that could be used.
    """

    kind: ClassVar[str] = "model.requested"
    request: int
    model: str
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChunk(Event):
    """A piece of the answer to a request came.

    Told only to those who follow the run while it goes on, and kept nowhere. It has no `seq` of its own: it bears
    that of the event before it.
    """

    kind: ClassVar[str] = "model.chunk"
    request: int
    text: str
    reasoning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFinished(Event):
    """A request ended: with what it used, and with a failure if there was no answer.

    `estimated` says that the tokens are a guess, since the model did not tell.
    """

    kind: ClassVar[str] = "model.finished"
    request: int
    tokens: int
    cost: float
    estimated: bool = False
    failure: Failure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProposed(Event):
    """A model proposed to call `tool`; `call` is the id of the call, `arguments` what the model wrote."""

    kind: ClassVar[str] = "tool.proposed"
    call: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted(Event):
    """A call was let through and is dispatched, with these arguments. Sent before the tool runs."""

    kind: ClassVar[str] = "tool.started"
    call: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDelta(Event):
    """A tool told how it goes on.

    Told only to those who follow the run while it goes on, and kept nowhere. It has no `seq` of its own: it bears
    that of the event before it.
    """

    kind: ClassVar[str] = "tool.delta"
    call: str
    tool: str
    data: object


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDenied(Event):
    """A call was not let through."""

    kind: ClassVar[str] = "tool.denied"
    call: str
    tool: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolWarned(Event):
    """A model called the same tool in `turns` replies in a row."""

    kind: ClassVar[str] = "tool.warned"
    call: str
    tool: str
    turns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished(Event):
    """A call has its result, whether the tool ran or not; `text` is what the model is told."""

    kind: ClassVar[str] = "tool.finished"
    call: str
    tool: str
    status: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecalled(Event):
    """A visit that runs again took the recorded result of a call, which was not made a second time.

    `of` says what was called: model, tool, effect (a tool with effects) or once; `name` which one.
    """

    kind: ClassVar[str] = "call.recalled"
    of: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOpened(Event):
    """A person is asked; an answer counts until `expires`.

    `asks` says about what: tool, approve, ask or verify. `call`, `tool` and `arguments` tell of the call of a
    tool, `shown` is what the person sees beside the question.
    """

    kind: ClassVar[str] = "request.opened"
    request: str
    asks: str
    call: str
    tool: str
    arguments: str
    question: str = ""
    shown: str = ""
    expires: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestAnswered(Event):
    """A request was closed; `by` is who answered.

    `answer` is approved or denied, answered, done, not_done or failed (what was verified), expired, or withdrawn.
    """

    kind: ClassVar[str] = "request.answered"
    request: str
    answer: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextCompacted(Event):
    """The messages in a field of the state became fewer or shorter; `how` is what was done, such as `compact`."""

    kind: ClassVar[str] = "context.compacted"
    how: str
    field: str
    messages_before: int
    messages_after: int
    tokens_before: int
    tokens_after: int


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
    scope: str = ""
    """The path of the scope whose limit it was; '' is the run's own."""


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
class RunPaused(Event):
    """The run was paused `by` somebody: what was under way was stopped, and begins again when it goes on."""

    kind: ClassVar[str] = "run.paused"
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumed(Event):
    """The run goes on: it was paused, or the process that walked it is gone. `by` says who resumed it."""

    kind: ClassVar[str] = "run.resumed"
    by: str = ""


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


EVENT_KINDS: Mapping[str, type[Event]] = {
    kind.kind: kind for kind in tuple(globals().values()) if isinstance(kind, type) and issubclass(kind, Event)
}
"""The class of each kind of event."""
