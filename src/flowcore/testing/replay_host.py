"""The replay host: answers a walk with what a recorded run did, and holds each way that it takes against that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

from ..errors import BudgetExhausted, Failure, RunFailed
from ..frame import Frame
from ..graph import PlanNode
from ..outcome import Complete, Continue
from ..runtime import Ended, Place, Walk, WalkStopped
from ..runtime.host import Arrival, Done, Left, Opened, Side, Slot, Verdict
from ..runtime.outcomes import as_failure, is_routable
from ..scope import Budget, Reserve, Scope
from ..state import Values
from ..trace import Trace
from ..visit import VisitRecord, Way

__all__ = ["Elsewhere", "ReplayHost", "ReplayWalk"]

_ORDINARY = Arrival()
_UNLIMITED = Budget(rounds=None)
_Key = tuple[int, str, int]


class Elsewhere(BaseException):
    """Ends a walk that goes another way. A composite takes any `Exception` for a failure of its own."""


class ReplayHost:
    """A host whose visits happened long ago."""

    keeps = False

    def __init__(self, trace: Trace, flow: str) -> None:
        self.visits = 0
        self._flow = flow
        self._ending = trace.ending
        self._root = trace.root
        self._records: dict[_Key, VisitRecord] = {
            (id(record.frame), record.node, record.number): record for record in trace.records
        }

    def frame(self, frame: Frame) -> Frame | None:
        """Return the recorded walk that a walk of today stands for."""
        if frame.owner is not None:
            owner = self.frame(frame.owner)
            beside = [] if owner is None else owner.children
            return next((one for one in beside if (one.label, one.index) == (frame.label, frame.index)), None)
        if frame.parent is None:
            return self._root
        around = self.record(frame.parent, frame.node, frame.number)
        return None if around is None else around.inner

    def record(self, frame: Frame, node: str, number: int) -> VisitRecord | None:
        """Return the recorded visit, if there is one."""
        walk = self.frame(frame)
        return None if walk is None else self._records.get((id(walk), node, number))

    def around(self, frame: Frame) -> VisitRecord | None:
        """Return the recorded visit that a walk stands in."""
        return None if frame.parent is None else self.record(frame.parent, frame.node, frame.number)

    def elsewhere(self, path: str, words: str) -> NoReturn:
        """Say that today's flow would go another way."""
        raise Elsewhere(f"{path}: {words} in flow {self._flow!r} today")

    def ran_out(self, place: Place) -> Exception:
        """Return the limit that ended the recorded walk. Raises `WalkStopped` if it was asked to end."""
        frame: Frame | None = place.frame
        while frame is not None:
            walk, around = self.frame(frame), self.around(frame)
            if walk is not None and walk.finish is not None:
                limit = _scope(place.scope, walk.path)
                return BudgetExhausted(walk.finish[2], 0, 0, walk.path, scope_id=limit.limit_id)
            failure = None if around is None else around.failure
            if failure is None and frame.parent is None and self._ending is not None:
                failure = self._ending.failure
            if failure is not None and isinstance(failure.exception, BudgetExhausted):
                return _error(failure, place.scope)
            frame = frame.parent
        raise WalkStopped

    def control(self, scope: Scope) -> bool:
        """Nobody waits."""
        return False

    async def breathe(self) -> None:
        """Nobody waits."""

    def begin(self, place: Place, item: PlanNode, number: int) -> Opened:
        """Count a visit, which must be one of the same kind of node."""
        path, record = place.frame.path_of(item.id, number), self.record(place.frame, item.id, number)
        assert record is not None  # the walk has looked before it came here
        if record.inner is None and item.inner is not None and record.kind != "unfinished":
            self.elsewhere(path, f"it was one visit, and is a {item.definition.kind}")
        if record.inner is not None and item.inner is None:
            self.elsewhere(path, "other visits stood inside it, and it is a single node")
        self.visits += 1
        return Opened(record.first_seq, record.started, record.round, record.charged)

    def passed_by(self) -> Opened:
        """A node is over its limit."""
        return Opened(0, 0.0, 0, False)

    async def visit(self, place: Place, item: PlanNode, number: int, values: Values, arrival: Arrival) -> Done:
        """Return what the recorded visit returned."""
        path, record = place.frame.path_of(item.id, number), self.record(place.frame, item.id, number)
        assert record is not None  # begun just before
        if record.kind == "unfinished":
            raise WalkStopped
        if (failure := record.failure) is not None:
            error = _error(failure, place.scope)
            routable = record.kind == "error" or is_routable(error, place.scope)
            return Done(None, None, error, failure, routable, record.told.attempts, record.told.retried)
        self._must_be_declared(path, item, record.way)
        outcome: Continue[Any] | Complete[Any] = Continue(why=record.told.why)
        if record.kind == "complete":
            outcome = Complete(record.told.value)
        elif record.kind == "label":
            outcome = Continue(record.way.label, why=record.told.why)
        return Done(outcome, record.patch or None, attempts=record.told.attempts, retried=record.told.retried)

    def _must_be_declared(self, path: str, item: PlanNode, way: Way) -> None:
        if way.kind == "complete" and not item.completes:
            self.elsewhere(path, f"it completed, and {item.id} completes nothing")
        if way.kind == "label" and way.label not in item.ways:
            self.elsewhere(path, f"it returned {way.label!r}, and {item.id} has no route for that")
        if way.kind in ("next", "join") and not item.signature.plain:
            self.elsewhere(path, f"it continued without a label, and {item.id} has labels only")

    def kept(self, place: Place, item: PlanNode, number: int, values: Values, done: Done) -> Done:
        """Nothing is written."""
        return done

    def commit(self, left: Left) -> None:
        """Hold the way that is taken today against the recorded one."""
        path, record = left.frame.path_of(left.node, left.number), self.record(left.frame, left.node, left.number)
        assert record is not None  # begun before
        if record.kind == "unfinished":
            raise WalkStopped
        was, now = record.way, left.way
        if (was.kind, was.label, was.target) != (now.kind, now.label, now.target):
            failed = "" if left.done.failure is None or record.failure is not None else f" ({left.done.failure})"
            self.elsewhere(path, f"it {_words(was)}, and {_words(now, 'today')}{failed}")

    def exhausted(self, path: str, error: Exception) -> Failure:
        """Return the limit as a failure."""
        return as_failure(error, path)

    def finishing(self, place: Place, item: PlanNode, dimension: str) -> None:
        """The walk goes along its finish path, which must be the recorded one."""
        walk = self.frame(place.frame)
        was = None if walk is None or walk.finish is None else walk.finish[0]
        if was != item.id:
            self.elsewhere(
                place.frame.path or "the run", f"it finished with {was or 'nothing'}, and finishes with {item.id}"
            )

    def narrowed(self, scope: Scope, budget: Budget, frame: Frame, reserve: Reserve) -> Scope:
        """Return a scope of its own, which runs out only where the recorded one did."""
        return scope.narrow(_UNLIMITED, path=frame.path)

    def timed(self, scope: Scope, seconds: float, path: str) -> Scope:
        """Return a scope of its own, which runs out only where the recorded one did."""
        return scope.narrow(_UNLIMITED, path=path, is_timeout=True)

    async def bounded(
        self, place: Place, walk: Callable[[], Awaitable[Ended]], values: Callable[[], Values]
    ) -> Ended:
        """Walk; what was stopped because its time was over has failed again."""
        try:
            return await walk()
        except WalkStopped:
            record = self.around(place.frame)
            if record is None or record.failure is None or record.kind == "unfinished":
                raise
            error = _error(record.failure, place.scope)
            return Ended(None, values(), error, record.failure, routable=False)

    async def gather(
        self,
        place: Place,
        count: int,
        begin: Callable[[int, Slot], Side],
        limit: int,
        verdict: Callable[[int, Ended], Verdict],
    ) -> list[Ended | None]:
        """Walk those that counted, one after the other, in their order."""
        walk, record = self.frame(place.frame), self.around(place.frame)
        if walk is None or record is None:
            raise WalkStopped
        results: list[Ended | None] = [None] * count
        for index in range(count):
            side = begin(index, _NoSlot())
            then = self.frame(side.frame)
            if then is None and side.frame.label:
                self.elsewhere(walk.path, f"there was no branch {side.frame.label}, and there is one")
            if then is not None and not then.dropped:
                results[index] = await self._side(side)
            elif isinstance(spent := record.failure and record.failure.exception, BudgetExhausted):
                assert record.failure is not None  # it has the exception
                error = _error(record.failure, side.scope)
                results[index] = Ended(None, {}, error, as_failure(spent, record.failure.path), routable=False)
            ended = results[index]
            if ended is not None:
                verdict(index, ended)
        self._same_number(walk, count)
        if record.kind == "unfinished" or (record.failure is not None and not any(results)):
            raise WalkStopped
        return results

    async def _side(self, side: Side) -> Ended | None:
        try:
            return await side.walk()
        except WalkStopped:
            return None

    def _same_number(self, walk: Frame, count: int) -> None:
        kept = [child for child in walk.children if not child.dropped]
        if len(kept) > count:
            kind = "items" if kept[0].index is not None else "branches"
            self.elsewhere(walk.path, f"there were {len(kept)} {kind}, and there are {count}")


class ReplayWalk(Walk):
    """A walk that looks, before it enters a node, whether the recorded run did."""

    __slots__ = ()
    host: Any

    def child(self, plan: Any, place: Place) -> ReplayWalk:
        """Return a walk of another plan in another place."""
        return ReplayWalk(plan, place, self.host)

    async def run(self, item: PlanNode, values: Values, arrival: Arrival = _ORDINARY) -> Ended:
        """Walk on from the very values of then: a log knows which log it has grown from."""
        then = self.host.frame(self.place.frame)
        if then is not None and not self.place.frame.start:
            values = {name: then.start.get(name, value) for name, value in values.items()}
        return await super().run(item, values, arrival)

    def _route(self, item: PlanNode, number: int, opened: Opened, done: Done) -> tuple[Left, PlanNode | None]:
        record = self.host.record(self.place.frame, item.id, number)
        if record is not None and done.patch and item.inner is not None:
            self.values.update(record.patch)
        return super()._route(item, number, opened, done)

    def _enter(self, item: PlanNode, number: int) -> PlanNode | None:
        host: ReplayHost = self.host
        frame = self.place.frame
        path, record = frame.path_of(item.id, number), host.record(frame, item.id, number)
        over = super()._enter(item, number)
        if record is None:
            raise host.ran_out(self.place)
        if (over is not None) != (record.kind == "over_limit"):
            was, now = ("was not", "is") if over is not None else ("was", "is not")
            host.elsewhere(path, f"it {was} over its limit of visits, and {now}")
        return over


class _NoSlot:
    """A place among items that run at a time: in a replay there is always one."""

    is_crowded = False

    async def park(self, waiting: Awaitable[None]) -> None:
        """Wait for nothing."""

    def leave(self) -> None:
        """Give up nothing."""

    async def enter(self) -> None:
        """Take nothing."""

    def reclaim(self) -> None:
        """Take nothing."""


def _error(failure: Failure, scope: Scope) -> Exception:
    """Return what was raised, as an error of this walk's scopes."""
    error = failure.exception if failure.exception is not None else RunFailed(failure)
    if isinstance(error, BudgetExhausted):
        limit = _scope(scope, error.path)
        return BudgetExhausted(error.dimension, error.limit, error.used, error.path, scope_id=limit.limit_id)
    return error


def _scope(scope: Scope, path: str) -> Scope:
    """Return the scope at a path, among those around a place: the outermost for ''."""
    here: Scope = scope
    while here.parent is not None and here.path != path:
        here = here.parent
    return here


def _words(way: Way, today: str = "") -> str:
    reason = f" ({way.kind} {way.label})".replace(" )", ")")
    if way.target:
        return f"{'goes' if today else 'went'} to {way.target}{reason}"
    words = {"complete": ("completed", "completes"), "failed": ("failed", "fails"), "join": ("joined", "joins")}
    return words[way.kind][bool(today)]
