"""The rows of a record: what is written of a run, as frozen data. Values are text that the codec made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ..trigger import Trigger

__all__ = [
    "ACTIVE",
    "SIGNALS",
    "Attention",
    "CallRow",
    "EndRow",
    "FrameRow",
    "NoteRow",
    "RequestRow",
    "RunRow",
    "RunStatus",
    "Signal",
    "Stored",
    "VisitRow",
    "Write",
]

RunStatus = Literal["running", "paused", "waiting", "completed", "failed", "cancelled"]
Signal = Literal["", "resume", "pause", "stop", "interrupt"]
SIGNALS: tuple[Signal, ...] = ("", "resume", "pause", "stop", "interrupt")
"""From the weakest to the strongest; a stronger one stands. `resume` takes back a `pause`, and only that."""
ACTIVE = ("running", "paused")
"""The stored statuses of runs that have not ended. A running one with a pending request is told as waiting."""


@dataclass(frozen=True, slots=True)
class EndRow:
    """How a run ended. `value`, `failure`, `usage` and `state` are JSON text."""

    status: Literal["completed", "failed", "cancelled"]
    ended: float
    value: str = ""
    failure: str = ""
    reason: str = ""
    exhausted: str = ""
    stragglers: tuple[str, ...] = ()
    usage: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run. Times are seconds since 1970, UTC.

    `declared` is the declared flow as JSON, `budget` and `spent` are JSON by dimension; `spent` is what had been
    used at the last write that said so, running seconds included. `lease` is when the right of `owner` to walk the
    run is over; '' owns nothing. `forked` names the run and the path that it was forked from.
    """

    run_id: str
    flow: str
    signature: str
    declared: str
    state_type: str
    trigger: Trigger
    budget: str
    began: float
    deadline: float | None = None
    status: RunStatus = "running"
    owner: str = ""
    lease: float = 0.0
    signal: Signal = ""
    signal_by: str = ""
    spent: str = ""
    forked: str = ""
    title: str = ""
    end: EndRow | None = None


class FrameRow(NamedTuple):
    """A walk: where it stands under its parent, and what it began with. Written again when it changes.

    `frame` numbers it within the run, 0 is the run's own walk; `parent` and `owner` are such numbers, -1 for none.
    `place` says which of the branches (`label` is its name) or items beside one another it is, else -1; `items`
    are the states of an each as they were evaluated, a JSON list; `finish` is `node#number dimension` once the
    walk goes along its finish path; `spent` is JSON, what the scope of its own has used, where it has one.
    What visits numbered up to `since` changed is in `start` already.
    """

    frame: int
    parent: int
    owner: int
    node: str
    number: int
    place: int
    label: str
    flow: str
    shape: str
    start: str
    items: str
    finish: str
    spent: str
    since: int = 0


class VisitRow(NamedTuple):
    """A visit that has ended, as `VisitRecord` has it. `rest` is JSON, '' where there is nothing rare to tell."""

    seq: int
    last: int
    frame: int
    node: str
    number: int
    kind: str
    label: str
    target: str
    edge: int
    round: int
    walk_round: int
    charged: int
    patch: str
    rest: str
    started: float
    ended: float
    rounds: int
    requests: int
    tool_calls: int
    tokens: int
    cost: float


class NoteRow(NamedTuple):
    """What happened and no visit tells. Without a visit `frame` is -1 and `node` is the path."""

    seq: int
    frame: int
    node: str
    number: int
    kind: str
    at: float
    values: str


class CallRow(NamedTuple):
    """A call inside a visit. `status` is dispatched, done, failed or unknown; a later write replaces the earlier.

    `key` tells calls of one run apart: made of path, kind, name, arguments, and which of equal ones it is.
    An effects node that was dispatched is a call of kind `node`.
    """

    key: str
    frame: int
    node: str
    number: int
    kind: str
    name: str
    status: str
    result: str
    at: float


class RequestRow(NamedTuple):
    """What a run asks a person. `status` is pending, answered, expired or withdrawn, `data` the request as JSON.

    `key` says for which place of which visit it is, so that a visit that runs again finds its own request.
    """

    id: str
    key: str
    path: str
    kind: str
    data: str
    opened: float
    expires: float
    status: str = "pending"
    answer: str = ""
    by: str = ""
    at: float = 0.0


class Write(NamedTuple):
    """What is written of a run in one transaction, by its owner and as long as the run is active.

    `status` and `spent` change the run where they are not ''; with a status, a signal to pause or to resume has
    been followed and is cleared. Frames, calls and requests replace what was written of the same number, key or
    id; but a request that is closed stays as it was closed, so that an answer which came in meanwhile is not lost.
    A visit or note whose `seq` is there already refuses the write.
    """

    run_id: str
    owner: str
    visits: tuple[VisitRow, ...] = ()
    frames: tuple[FrameRow, ...] = ()
    notes: tuple[NoteRow, ...] = ()
    calls: tuple[CallRow, ...] = ()
    requests: tuple[RequestRow, ...] = ()
    status: Literal["", "running", "paused"] = ""
    spent: str = ""


@dataclass(frozen=True, slots=True)
class Attention:
    """What others did to a run since its owner last looked: a signal, answers, or its end."""

    signal: Signal = ""
    signal_by: str = ""
    answered: tuple[RequestRow, ...] = ()
    is_lost: bool = False
    """Whether the run has ended, or belongs to another owner."""


@dataclass(frozen=True, slots=True)
class Stored:
    """Everything that is written of a run. Visits and notes are in the order of their `seq`."""

    run: RunRow
    frames: list[FrameRow] = field(default_factory=list)
    visits: list[VisitRow] = field(default_factory=list)
    notes: list[NoteRow] = field(default_factory=list)
    calls: list[CallRow] = field(default_factory=list)
    requests: list[RequestRow] = field(default_factory=list)
