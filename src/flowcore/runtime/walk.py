"""The walk: one token that enters a node, visits it, commits what it did and follows a route.

It decides; the host acts. There is no clock, I/O, chance or task in here, so the same walk runs anywhere and
can be replayed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from ..errors import BudgetExhausted, NodeTimeout
from ..frame import Standing
from ..graph import Plan, PlanNode
from ..outcome import Complete, Continue
from ..state import Values
from ..visit import Way
from .composites import composite, known_end
from .host import Arrival, Done, Ended, Host, Left, Opened, Place

__all__ = ["Walk"]

_NOT_VISITED = Done(None, attempts=0)
_ORDINARY = Arrival()
_COMPLETE = Way("complete")
_FAILED = Way("failed")


class Walk:
    """One walk through one flow. A sub-flow is a walk inside a walk."""

    __slots__ = ("arrival", "host", "item", "number", "paid", "place", "plan", "values")
    item: PlanNode
    """The node that is visited, or the next one."""
    number: int
    """Of the visit of that node; 0 while it has not been entered."""
    paid: bool
    """Whether the round of the visit has been charged."""

    def __init__(self, plan: Plan, place: Place, host: Host) -> None:
        self.plan = plan
        self.place = place
        self.host = host
        self.values: Values = {}
        self.arrival = _ORDINARY

    async def to_the_end(self, values: Values) -> Ended:
        """Walk within the limits that this walk's own scope sets; when one runs out, along the finish path."""
        entry, scope, frame = self.plan.entry, self.place.scope, self.place.frame
        assert entry is not None  # a plan without an entry is never constructed
        self.values = values
        if frame.finish is not None:  # it was interrupted there
            return await self._finish(frame.finish[2], values)
        ended = await self._in_time(partial(self.run, entry, values))
        error, finish = ended.error, self.plan.finish
        if finish is None or not isinstance(error, BudgetExhausted) or error.scope_id != scope.id:
            return ended
        if error.dimension == "seconds" and not self.plan.reserve.seconds:
            return ended
        frame.ended = frame.standing = None
        self.host.finishing(self.place, finish, error.dimension)
        return await self._finish(error.dimension, ended.values)

    async def _finish(self, dimension: str, values: Values) -> Ended:
        """Walk along the finish path, which may spend the reserve."""
        finish, scope = self.plan.finish, self.place.scope
        assert finish is not None  # looked at before
        scope.finish()
        if scope.ends_at is not None:
            scope.ends_at += self.plan.reserve.seconds
        ended = await self._in_time(partial(self.run, finish, values, Arrival(None, dimension)))
        return ended._replace(exhausted=dimension)

    def child(self, plan: Plan, place: Place) -> Walk:
        """Return a walk of another plan in another place."""
        return Walk(plan, place, self.host)

    async def run(self, item: PlanNode, values: Values, arrival: Arrival = _ORDINARY) -> Ended:
        """Walk from a node to a `Complete`, or to a failure that no route takes; or on from an interruption."""
        frame = self.place.frame
        if frame.ended is not None:
            return known_end(frame.ended, self.place.scope)
        self.item, self.values, self.arrival, self.paid, self.number = item, values, arrival, False, 0
        if (standing := frame.taken_up()) is not None:
            self.item, self.values, self.paid = (
                self.plan.nodes[standing.node],
                dict(standing.values),
                standing.paid,
            )
            self.arrival = Arrival(standing.failure, standing.exhausted)
        frame.start = frame.start or self.values
        try:
            return await self._visit_all()
        except BaseException:
            if frame.ended is None:
                standing = Standing(self.item.id, self.values, *self.arrival, self.paid)
                frame.stand(standing, is_entered=self.number > 0)
            raise

    async def _visit_all(self) -> Ended:
        host, place, frame = self.host, self.place, self.place.frame
        first = True
        while True:
            item, values = self.item, self.values
            self.number = number = frame.enter(item.id)
            try:
                if host.control(place.scope) and not first:
                    await host.breathe()
                first = False
                over = None if self.paid else self._enter(item, number)
            except (BudgetExhausted, NodeTimeout) as error:
                failure = host.exhausted(frame.path_of(item.id, number), error)
                return Ended(None, values, error, failure, routable=False)
            if over is not None:
                waiting = self._pass_by(item, number, over)
            else:
                opened = host.begin(place, item, number)
                self.paid = True
                if item.inner is not None:
                    done = await composite(self, item, number, values)
                    frame.inside = None
                else:
                    done = await host.visit(place, item, number, values, self.arrival)
                waiting = self._leave(item, number, opened, done)
            # From here on the walk stands before the next visit, whatever comes while this one is written.
            if waiting is not None:
                await waiting
            if frame.ended is not None:
                ended: Ended = frame.ended
                return ended

    def _pass_by(self, item: PlanNode, number: int, over: PlanNode) -> Awaitable[None] | None:
        """Go where the over-limit route of a node leads. Return what to wait for."""
        way = Way("over_limit", "", over.id, edge=sum(1 for _ in item.edges()) - 1)
        left = Left(self.place.frame, item.id, number, self.host.passed_by(), _NOT_VISITED, way)
        self.item, self.arrival, self.number = over, _ORDINARY, 0
        return self.host.commit(left)

    def _leave(self, item: PlanNode, number: int, opened: Opened, done: Done) -> Awaitable[None] | None:
        """Commit what a visit did, and go where its route leads. Return what to wait for."""
        host = self.host
        if host.keeps:
            done = host.kept(self.place, item, number, self.values, done)
        if done.patch:
            self.values = {**self.values, **done.patch}
        left, following = self._route(item, number, opened, done)
        self.paid, self.number = False, 0
        if following is None:
            value = done.outcome.value if type(done.outcome) is Complete else None
            self.place.frame.ended = Ended(value, self.values, done.error, done.failure, done.routable)
        else:
            self.item = following
            self.arrival = _ORDINARY if done.failure is None else Arrival(done.failure)
        return host.commit(left)

    async def _in_time(self, walk: Callable[[], Awaitable[Ended]]) -> Ended:
        if self.place.scope.ends_at is None:
            return await walk()
        return await self.host.bounded(self.place, walk, lambda: self.values)

    def _enter(self, item: PlanNode, number: int) -> PlanNode | None:
        """Pay for the node's round; or return where its over-limit route leads, if its visits are used up."""
        frame = self.place.frame
        if item.max_visits is not None and number > item.max_visits:
            if item.over_limit is None:
                path, scope = frame.path_of(item.id, number), self.place.scope
                limits = (item.max_visits, number - 1, path)
                within = next(around.path for around in scope.chain if around.id == scope.limit_id)
                raise BudgetExhausted("visits", *limits, scope_id=scope.limit_id, scope_path=within)
            return item.over_limit
        if item.starts_round:
            self.place.scope.charge_round()
            frame.rounds += 1
        return None

    def _route(self, item: PlanNode, number: int, opened: Opened, done: Done) -> tuple[Left, PlanNode | None]:
        """Decide where the walk goes on; None says that it ends here."""
        frame, outcome = self.place.frame, done.outcome
        why, following, way = None, None, _COMPLETE
        if type(outcome) is Continue:
            why = outcome.why
            if outcome.label is None:
                following, way = item.next, item.way  # a branch has no next: it ends at its join
            else:
                following, way = item.ways[outcome.label]
        elif outcome is None:
            edge, kind = -1, done.failure.type if done.failure is not None else ""
            if done.routable and done.error is not None:
                following, edge = item.error_route(done.error)
            way = _FAILED if following is None else Way("error", kind, following.id, edge=edge)
        return Left._make((frame, item.id, number, opened, done, way, why)), following
