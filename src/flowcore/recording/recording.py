"""The recording: one run as plain data, whole. Pages, comparisons, files and exports are made from it alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from ..visit import RouteKind
from .declared import Data, FlowData, Limits

__all__ = ["AskedData", "Change", "Fault", "ModelCall", "Recording", "Said", "Spent", "ToolCallData", "VisitData"]

_NUMBERS = re.compile(r"#\d+|\[\d+\]")


class Change(Data):
    """One change of the state, at a place in it such as `draft.items[2].text`; values are text, '' for none."""

    kind: Literal["added", "removed", "changed", "appended"]
    place: str
    was: str = ""
    now: str = ""


class Fault(Data):
    """How something failed."""

    path: str = ""
    type: str
    code: str = ""
    message: str = ""
    attempts: int = 1

    def __str__(self) -> str:
        return f"{self.type}: {self.message}" if self.message else self.type


class ModelCall(Data):
    """One request to a model. Times are seconds since the run began; `ended` is None while it is under way.

    `why` is `retry`, `repair` or `reduced` where an earlier request gave no answer that could be used. `estimated`
    says that the tokens are a guess.
    """

    model: str = ""
    why: str = ""
    started: float
    ended: float | None = None
    tokens: int = 0
    cost: float = 0.0
    estimated: bool = False
    failure: Fault | None = None


class ToolCallData(Data):
    """One call that a model proposed, and what came of it. Times are seconds since the run began.

    `arguments` are those that it was dispatched with, else those that were proposed. `started` is None for a call
    that was not dispatched, `ended` for one that has no result yet, and `status` is then empty. `text` is what the
    model was told. `answer` and `by` say what a person answered who was asked about it, and who.
    """

    id: str
    tool: str
    arguments: str
    status: str = ""
    text: str = ""
    proposed: float
    started: float | None = None
    ended: float | None = None
    answer: str = ""
    by: str = ""


class AskedData(Data):
    """What a person was asked by a node that waits, and what came of it. Times are seconds since the run began.

    `closed` is None and `answer` empty while it waits. `answer` is approved or denied, answered, done, not_done or
    failed (what was verified), expired, or withdrawn; `by` is who answered.
    """

    kind: str
    question: str = ""
    shown: str = ""
    opened: float
    closed: float | None = None
    answer: str = ""
    by: str = ""


class Said(Data):
    """What a visit told by itself: an event of its own (`emit`), an artifact, or a context made smaller."""

    kind: Literal["custom", "artifact", "context"]
    name: str
    text: str
    at: float


class Spent(Data):
    """What a run had spent at a moment."""

    rounds: int = 0
    requests: int = 0
    tool_calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0


class VisitData(Data):
    """One visit of a node.

    `kind`, `label`, `target` say by which route it was left, as in `Visit`; `kind` is `running` while it is
    under way. `edge` is that route's place among the routes of the node, -1 for none. `branch` names the branch
    or item whose walk it belongs to, `dropped` says that nothing of that walk was kept. `finish` names the limit
    that had run out where the finish path began.
    """

    path: str
    node: str
    number: int
    seq: int
    round: int
    charged: bool = False
    walk_round: int
    attempts: int
    kind: RouteKind | Literal["running"]
    label: str = ""
    target: str = ""
    edge: int = -1
    why: Mapping[str, str] | None = None
    changes: tuple[Change, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    tools: tuple[ToolCallData, ...] = ()
    asked: tuple[AskedData, ...] = ()
    said: tuple[Said, ...] = ()
    failure: Fault | None = None
    retried: tuple[tuple[float, Fault], ...] = ()
    branch: str = ""
    dropped: bool = False
    finish: str = ""
    started: float
    ended: float | None
    spent: Spent

    @property
    def declared(self) -> str:
        """The path of the node in the declared flow: that of the visit without its numbers."""
        return _NUMBERS.sub("", self.path)

    @property
    def around(self) -> str:
        """The path of the visit that this one stands in; '' at the top."""
        above = self.path.rpartition("/")[0]
        return above.rpartition("[")[0] if above.endswith("]") else above


class Recording(Data):
    """One run. `name` and `title` are what its caller knows it by: the id and the text of a question.

    `began` is the time of day, `state` the fields that the run began with; all values are text.
    """

    name: str = ""
    title: str = ""
    flow: FlowData
    signature: str
    run_id: str
    began: datetime | None
    status: Literal["running", "completed", "failed", "cancelled"]
    value: str = ""
    failure: Fault | None = None
    exhausted: str | None = None
    reason: str = ""
    stragglers: tuple[str, ...] = ()
    budget: Limits
    spent: Spent
    state: Mapping[str, str]
    visits: tuple[VisitData, ...]
