"""The trace: every visit of a run, in memory. One small tuple a visit; paths and objects are made when read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple, overload

from .errors import Failure
from .events import Event
from .frame import Frame
from .scope import Usage
from .state import snapshot

__all__ = ["Note", "RouteKind", "Trace", "Visit", "VisitRecord", "Where", "path_of"]

RouteKind = Literal["next", "label", "error", "over_limit", "complete", "join", "failed", "unfinished"]


Where = str | tuple[Frame, str, int]
"""A path, or what a path is made from when somebody wants it: a walk, a node in it, the number of the visit."""


def path_of(where: Where) -> str:
    """Return the path of a place."""
    return where if isinstance(where, str) else where[0].path_of(where[1], where[2])


class VisitRecord(NamedTuple):
    """A visit as it is kept: what `Visit` is made from."""

    frame: Frame
    node: str
    number: int
    charged: bool
    inner: Frame | None
    round: int
    walk_round: int
    attempts: int
    kind: RouteKind
    label: str
    target: str
    why: Mapping[str, Any] | None
    alternatives: tuple[str, ...]
    patch: Mapping[str, Any] | None
    value: Any
    failure: Failure | None
    retried: tuple[Failure, ...]
    started: float
    ended: float
    first_seq: int
    last_seq: int
    counters: tuple[float, ...]


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


class Trace(Sequence[Visit]):
    """The visits of one run, in the order in which they began.

    A node that was over its limit was not visited: it stands here with the kind `over_limit` and no attempts.
    """

    def __init__(self, flow: str, run_id: str = "", began: datetime | None = None) -> None:
        self.flow = flow
        self.run_id = run_id
        self.began = began
        self.root = Frame(flow)
        self.records: list[VisitRecord] = []
        self.notes: list[Note] = []
        self._sorted = 0

    def ordered(self) -> list[VisitRecord]:
        """Return what is kept of each visit, in the order in which they began."""
        if self._sorted != len(self.records):
            self.records.sort(key=lambda record: record.first_seq)
            self._sorted = len(self.records)
        return self.records

    @overload
    def __getitem__(self, index: int) -> Visit: ...
    @overload
    def __getitem__(self, index: slice) -> list[Visit]: ...
    def __getitem__(self, index: int | slice) -> Visit | list[Visit]:
        found = self.ordered()[index]
        return _visit(found) if isinstance(found, VisitRecord) else [_visit(record) for record in found]

    def __repr__(self) -> str:
        return f"<trace {self.flow}: {len(self.records)} visits>"

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Visit]:
        return map(_visit, self.ordered())

    @property
    def path(self) -> str:
        """The nodes in the order they were visited: `draft > check > draft > check > deliver`.

        A failed visit is marked with `!`, one that was not made since its limit was used up with `-`. The visits
        of a sub-flow stand in brackets, and so do branches and items, with `|` between them.
        """
        return _path(self.ordered(), self.root)


def _visit(record: VisitRecord) -> Visit:
    return Visit(
        path=record.frame.path_of(record.node, record.number),
        node=record.node,
        number=record.number,
        round=record.round,
        attempts=record.attempts,
        kind=record.kind,
        label=record.label,
        target=record.target,
        why=record.why,
        patch=snapshot(record.patch or {}),
        failure=record.failure,
        retried=record.retried,
        started=record.started,
        ended=record.ended,
        budget=Usage.of(record.counters),
    )


def _path(records: Sequence[VisitRecord], root: Frame) -> str:
    inside: dict[int, list[VisitRecord]] = {}
    for record in records:
        inside.setdefault(id(record.frame), []).append(record)

    def words(frame: Frame) -> str:
        return " > ".join(word(record) for record in inside.get(id(frame), ()))

    def word(record: VisitRecord) -> str:
        mark = "-" if record.kind == "over_limit" else "!" if record.failure is not None else ""
        frames = () if record.inner is None else (record.inner, *record.inner.children)
        inner = " | ".join(filter(None, (words(frame) for frame in frames if not frame.dropped)))
        return f"{record.node}{mark}({inner})" if inner else f"{record.node}{mark}"

    return words(root)
