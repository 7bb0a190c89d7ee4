"""The recorder: numbers what happens in a run, keeps the trace, and tells those who listen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from ..clock import Clock
from ..errors import BudgetExhausted, Failure
from ..events import (
    ArtifactAdded,
    BudgetSpent,
    BudgetWarned,
    Custom,
    Event,
    ModelFinished,
    ModelRequested,
    NodeRetrying,
    RouteTaken,
)
from ..frame import Frame
from ..graph import Plan, PlanNode, plan_data
from ..outcome import Complete
from ..scope import Request, Scope
from ..scope.budget import COUNTED
from ..state import snapshot
from ..trace import Trace
from ..trace_events import OpenVisit, Told, begin_events, end_events
from ..visit import Note, Rare, VisitRecord, Way, Where, path_of
from .calls import Calls
from .host import Done, Left, Opened, Place
from .outcomes import as_failure

if TYPE_CHECKING:
    from ..state import Codec
    from .ledger import Ledger

__all__ = ["Recorder"]

_WARN_AT = 0.8
_UNFINISHED = Way("unfinished")
_CANCELLED = Failure("", "Cancelled", "cancelled", "it was cancelled")
Listener = Callable[[Event], None]


class Recorder:
    """Where everything that a run does is written down, in order. Closed, it takes nothing any more."""

    def __init__(self, plan: Plan, run_id: str, scope: Scope, clock: Clock, trace: Trace | None = None) -> None:
        self.run_id = run_id
        made = Trace(plan.name, run_id, clock.utcnow(), partial(plan_data, plan), scope.budget)
        self.trace = made if trace is None else trace
        self.listeners: list[Listener] = []
        self.round = 0
        self.seq = 0
        self.closed = False
        self.refusing = False
        self.calls = Calls(self.is_open, self.heard, clock, partial(_codec_of, plan))
        self.ledger: Ledger | None = None
        """Where it is written down, if the run is stored."""
        self._monotonic = clock.monotonic
        self.began = clock.monotonic()
        if trace is not None and trace.began is not None:
            self.began -= (clock.utcnow() - trace.began).total_seconds()
        self._scope = scope
        scope.teller = self
        self._requests = 0
        self._counters = scope.counters
        self._version = scope.version
        self._exhausted: set[tuple[str, int]] = set()
        self._exhausted_before: frozenset[tuple[str, str]] = frozenset()
        self._names: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._open: dict[tuple[Frame, str, int], Opened] = {}
        self._again: dict[tuple[Frame, str, int], Opened] = {}
        names = (*COUNTED, "seconds")
        self._unwarned = [(name, limit) for name in names if (limit := getattr(scope.budget, name))]

    def go_on(
        self,
        round: int,
        seq: int,
        requests: int,
        warned: Collection[str] = (),
        exhausted: Iterable[tuple[str, str]] = (),
    ) -> None:
        """Count on from what another process has told of the run, and tell no limit again that it told."""
        self.round, self.seq, self._requests = round, seq, requests
        self._exhausted_before = frozenset(exhausted)
        known = {*warned, *(dimension for dimension, path in self._exhausted_before if not path)}
        self._unwarned = [pair for pair in self._unwarned if pair[0] not in known]

    @property
    def now(self) -> float:
        """Seconds on the run's clock."""
        return self._monotonic()

    @property
    def under_way(self) -> list[OpenVisit]:
        """The visits that have begun and not ended, the outermost first."""
        at_once = self._open.copy()  # who looks from another thread sees one moment
        return [(opened.seq, opened.at, opened.round, opened.charged, *where) for where, opened in at_once.items()]

    def is_open(self, where: Where) -> bool:
        """Return whether a visit is under way."""
        return where in self._open

    def note(self, event: type[Event], where: Where, **values: Any) -> None:
        """Keep what no visit tells, and tell it."""
        if self.closed:
            return
        self.seq += 1
        at = self._monotonic() - self.began
        self.trace.notes.append(Note(event, self.seq, where, at, values))
        if self.ledger is not None:
            self.ledger.note(self.trace.notes[-1])
        if self.listeners:
            self._tell([(event, self.seq, where, at, values)])

    def conclude(self, event: type[Event], values: Mapping[str, Any]) -> Note:
        """Keep the last thing that happens. It is told when it has been written down."""
        self.seq += 1
        note = Note(event, self.seq, "", self._monotonic() - self.began, values)
        if self.ledger is not None:
            self.ledger.note(note)
        self.closed = True
        return note

    def tell(self, note: Note) -> None:
        """Tell the last thing."""
        self.trace.notes.append(note)
        if self.listeners:
            self._tell([(note.event, note.seq, note.where, note.at, dict(note.values))])

    def begin(self, place: Place, item: PlanNode, number: int) -> Opened:
        """Note the beginning of a visit, and of its round if it starts one."""
        where = (place.frame, item.id, number)
        charged = item.starts_round
        again = self._again.pop(where, None) if self._again else None
        self.round += charged and again is None
        round = self.round if again is None else again.round
        opened = Opened._make((self.seq + 1, self._monotonic() - self.began, round, charged))
        self.seq += 1 + charged
        self._open[where] = opened
        if self.listeners:
            self._tell(begin_events(*opened, where))
        if charged and self._unwarned:
            self._warn(where)
        return opened

    def passed_by(self) -> Opened:
        """Return the beginning of a visit that its limit keeps from taking place."""
        return Opened(self.seq + 1, self._monotonic() - self.began, self.round, False)

    def interrupt(self) -> None:
        """Note that what is under way was stopped, and will begin again: what was told of it stays told."""
        for where, opened in self._open.items():
            for event, seq, place, at, values in begin_events(*opened, where):
                self.trace.notes.append(Note(event, seq, place, at, values))
                if self.ledger is not None:
                    self.ledger.note(self.trace.notes[-1])
        self._again, self._open = self._again | self._open, {}

    def finish(self, left: Left) -> Awaitable[None] | None:
        """Note the end of a visit, and add it to the trace. Return what to wait for, if it is written down."""
        if self.closed:
            return None
        frame, done, opened, way = left.frame, left.done, left.opened, left.way
        self._open.pop((frame, left.node, left.number), None)
        patch = done.patch
        self.seq += (way.kind != "over_limit") + bool(patch) + bool(way.target)
        if self._version != self._scope.version:
            self._version = self._scope.version
            self._counters = self._scope.counters
        names = tuple(patch or ())
        written = tuple(patch.values()) if patch else ()
        names = self._names.setdefault(names, names)
        record = VisitRecord._make((
            frame, left.node, left.number, opened.charged, opened.round, frame.rounds, way, _rare(left),
            names, written, opened.at, self._monotonic() - self.began, opened.seq, self.seq - opened.seq,
            self._counters,
        ))  # fmt: skip
        self.trace.records.append(record)
        if not way.target:
            frame.order = self.seq
        if self.listeners:
            self._tell(end_events(record))
        if self._unwarned:
            self._warn((frame, left.node, left.number))
        if self.calls.visits:
            self.calls.ended(left)
        return None if self.ledger is None else self.ledger.visit(record, left)

    def abandon(self, failure: Failure, within: Frame) -> tuple[str, ...]:
        """End the visits under way in a walk and beneath it; return their paths, the innermost first."""
        mine = [(where, opened) for where, opened in self._open.items() if where[0].is_within(within)]
        inner: dict[tuple[int, str, int], Frame] = {}
        for record in self.trace.records if mine else ():
            _note_inner(inner, record.frame)
        paths: list[str] = []
        for (frame, node, number), opened in reversed(mine):
            inside = inner.get((id(frame), node, number))
            _note_inner(inner, frame)
            paths.append(frame.path_of(node, number))
            done = Done(None, None, None, replace(failure, path=paths[-1]), inner=inside)
            self.finish(Left(frame, node, number, opened, done, _UNFINISHED))
        return tuple(paths)

    def leaves(self, within: Frame) -> tuple[str, ...]:
        """Return the paths of the innermost visits under way in a walk and beneath it."""
        paths = [frame.path_of(node, number) for frame, node, number in self._open if frame.is_within(within)]
        return tuple(path for path in paths if not any(other.startswith(f"{path}/") for other in paths))

    def retrying(self, where: Where, failure: Failure) -> None:
        """Note a failed attempt that another follows."""
        self.note(NodeRetrying, where, attempt=failure.attempts, failure=failure)
        self.calls.again(where, failure.attempts + 1)

    def finishing(self, frame: Frame, node: str, dimension: str) -> None:
        """Note that a limit ran out and that the finish path goes on from here."""
        frame.finish = (node, frame.visits.get(node, 0) + 1, dimension)
        if self.ledger is not None:
            self.ledger.finishing(frame)
        self.note(RouteTaken, frame.path, route="finish", label=dimension, target=node, why=None, alternatives=())

    def custom(self, where: Where, name: str, data: object, media_type: str | None = None) -> None:
        """Note what a node emits, or the artifact that it keeps, while its visit lasts."""
        if isinstance(where, tuple) and where in self._open and not self.refusing:
            data = snapshot(data)
            if media_type is None:
                self.note(Custom, where, name=name, data=data)
            else:
                self.note(ArtifactAdded, where, name=name, data=data, media_type=media_type)

    def heard(self, where: Where, event: type[Event], values: Mapping[str, Any]) -> None:
        """Note what code inside a visit tells while its visit lasts."""
        if where in self._open:
            self.note(event, where, **values)

    def passing(self, where: Where, event: type[Event], values: Mapping[str, Any]) -> None:
        """Tell those who listen what is not kept, and takes no number."""
        if self.listeners and not self.closed and not self.refusing and where in self._open:
            self._tell([(event, self.seq, where, self._monotonic() - self.began, dict(values))])

    def requested(self, where: Where, model: str, why: str) -> int:
        """Note that a model was asked, and return the number of the request."""
        self._requests += 1
        self.note(ModelRequested, where, request=self._requests, model=model, why=why)
        return self._requests

    def answered(self, where: Where, number: int, request: Request, error: BaseException | None) -> None:
        """Note how a request to a model ended."""
        failure = None
        if error is not None:
            failure = as_failure(error, path_of(where)) if isinstance(error, Exception) else _CANCELLED
        used = {"tokens": request.tokens, "cost": request.cost, "estimated": request.estimated}
        self.note(ModelFinished, where, request=number, **used, failure=failure)

    def exhausted(self, error: BudgetExhausted, path: str) -> None:
        """Note a limit that was reached; once for each."""
        key = (error.dimension, error.scope_id)
        told_before = (error.dimension, error.scope_path) in self._exhausted_before
        if key not in self._exhausted and not told_before:
            self._exhausted.add(key)
            if self._scope.holds(error):
                self._unwarned = [pair for pair in self._unwarned if pair[0] != error.dimension]
            known = {"limit": error.limit, "used": error.used, "scope": error.scope_path}
            self.note(BudgetSpent, path, dimension=error.dimension, **known)

    def _warn(self, where: Where) -> None:
        for dimension, limit in self._unwarned:
            passed = dimension == "seconds"
            used = self._monotonic() - self._scope.began if passed else self._scope.spent(dimension)
            if used >= _WARN_AT * limit:
                self._unwarned = [pair for pair in self._unwarned if pair[0] != dimension]
                self.note(BudgetWarned, where, dimension=dimension, limit=limit, used=used)

    def _tell(self, told: Iterable[Told]) -> None:
        began = self.trace.began
        assert began is not None  # set when the recorder was made
        for event, seq, where, at, values in told:
            made = event(
                seq=seq, run_id=self.run_id, path=path_of(where), at=began + timedelta(seconds=at), **values
            )
            for listener in tuple(self.listeners):
                listener(made)


def _codec_of(plan: Plan) -> Codec:
    from .opening import codec_of  # noqa: PLC0415 - loaded where a run is stored

    return codec_of(plan)


def _rare(left: Left) -> Rare | None:
    """Return what most visits have nothing of, or None."""
    done, completes = left.done, left.way.kind == "complete"
    usual = done.inner is None and done.attempts == 1 and left.why is None and done.failure is None
    if usual and not completes:
        return None
    value = done.outcome.value if completes and isinstance(done.outcome, Complete) else None
    return Rare(done.inner, done.attempts, left.why and snapshot(left.why), value, done.failure, done.retried)


def _note_inner(inner: dict[tuple[int, str, int], Frame], frame: Frame) -> None:
    """Note of which visit a frame is the inside: that of a branch or an item is part of the composite's."""
    inner.setdefault((id(frame.parent), frame.node, frame.number), frame.owner or frame)
