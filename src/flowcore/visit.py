"""The visit: one node, once entered. What is kept of it, and what is made of that for a reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from .errors import Failure
from .events import Event
from .frame import Frame
from .scope import Usage
from .state import snapshot

__all__ = [
    "Ending",
    "Note",
    "Rare",
    "RouteKind",
    "Visit",
    "VisitRecord",
    "Way",
    "Where",
    "path_of",
    "visit_of",
    "written_path_of",
]

RouteKind = Literal["next", "label", "error", "over_limit", "complete", "join", "failed", "unfinished"]


Where = str | tuple[Frame, str, int]
"""A path, or what a path is made from when somebody wants it: a walk, a node in it, the number of the visit."""


def path_of(where: Where) -> str:
    """Return the path of a place."""
    return where if isinstance(where, str) else where[0].path_of(where[1], where[2])


def written_path_of(where: Where) -> str:
    """Return the path under which what happened at a place before an interruption is kept."""
    return where if isinstance(where, str) else where[0].written_path_of(where[1], where[2])


class Way(NamedTuple):
    """How a visit was left. The ways that a flow declares are made once, with its plan."""

    kind: RouteKind
    label: str = ""
    target: str = ""
    alternatives: tuple[str, ...] = ()
    edge: int = -1
    """Which of the node's declared routes it is, in the order of its row; -1 is none of them."""


class Rare(NamedTuple):
    """What most visits have nothing of."""

    inner: Frame | None = None
    attempts: int = 1
    why: Mapping[str, Any] | None = None
    value: Any = None
    failure: Failure | None = None
    retried: tuple[Failure, ...] = ()


_USUAL = Rare()


class VisitRecord(NamedTuple):
    """A visit as it is kept, small: what `Visit` is made from."""

    frame: Frame
    node: str
    number: int
    charged: bool
    round: int
    walk_round: int
    way: Way
    rare: Rare | None
    names: tuple[str, ...]
    written: tuple[Any, ...]
    started: float
    ended: float
    first_seq: int
    span: int
    counters: tuple[float, ...]

    @property
    def kind(self) -> RouteKind:
        """By which kind of route it was left."""
        return self.way.kind

    @property
    def told(self) -> Rare:
        """What is rarely there, or that it is not."""
        return self.rare or _USUAL

    @property
    def failure(self) -> Failure | None:
        """How it failed, if it did."""
        return self.told.failure

    @property
    def inner(self) -> Frame | None:
        """The walk inside it, if it is a composite."""
        return self.told.inner

    @property
    def patch(self) -> dict[str, Any]:
        """The fields that it changed."""
        return dict(zip(self.names, self.written, strict=True))

    @property
    def last_seq(self) -> int:
        """The number of the last event that tells of it."""
        return self.first_seq + self.span


@dataclass(frozen=True, slots=True)
class Visit:
    """One visit of a node.

    `kind` says how it ended: by which kind of route it left (`next`, `label`, `error`, `over_limit`), or
    `complete`, `join` (a branch reached its join), `failed` (no route took the failure), `unfinished` (the run
    ended first, or it was not needed any more). `started` and `ended` are seconds since the run began. `budget`
    is what the run had spent when the visit ended.
    """

    path: str
    node: str
    number: int
    round: int
    attempts: int
    kind: RouteKind
    label: str
    target: str
    why: Mapping[str, Any] | None
    patch: Mapping[str, Any]
    failure: Failure | None
    retried: tuple[Failure, ...]
    started: float
    ended: float
    budget: Usage


class Note(NamedTuple):
    """Something that happened and that no visit tells: what its event is made from."""

    event: type[Event]
    seq: int
    where: Where
    at: float
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ending:
    """How the run of a trace ended."""

    status: Literal["completed", "failed", "cancelled"]
    value: object
    failure: Failure | None
    usage: Usage
    exhausted: str | None = None
    reason: str = ""
    stragglers: tuple[str, ...] = ()


def visit_of(record: VisitRecord) -> Visit:
    """Return a kept visit as its reader sees it."""
    return Visit(
        path=record.frame.path_of(record.node, record.number),
        node=record.node,
        number=record.number,
        round=record.round,
        attempts=record.told.attempts,
        kind=record.kind,
        label=record.way.label,
        target=record.way.target,
        why=record.told.why,
        patch=snapshot(record.patch),
        failure=record.failure,
        retried=record.told.retried,
        started=record.started,
        ended=record.ended,
        budget=Usage.of(record.counters),
    )
