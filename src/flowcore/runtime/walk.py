"""The walk: one token that enters a node, visits it, commits what it did and follows a route.

It decides; the host acts. There is no clock, I/O, chance or task in here, so the same walk runs anywhere and
can be replayed.
"""

from __future__ import annotations

from functools import partial

from ..errors import BudgetExhausted, ContractError, Failure
from ..frame import Frame
from ..graph import Plan, PlanNode, Subflow
from ..outcome import Complete, Continue
from ..scope import Scope
from ..scope.scope import scope_variable
from ..state import Values, shape_of
from ..types import as_class, type_name
from .host import Done, Ended, Host, Left, Opened, Place
from .outcomes import as_failure, checked, is_routable

__all__ = ["Walk"]

_NOT_VISITED = Done(None, attempts=0)


class Walk:
    """One walk through one flow. A sub-flow is a walk inside a walk."""

    __slots__ = ("host", "place", "plan", "values")

    def __init__(self, plan: Plan, place: Place, host: Host) -> None:
        self.plan = plan
        self.place = place
        self.host = host
        self.values: Values = {}

    async def run(self, values: Values) -> Ended:
        """Walk from the entry to a `Complete` or to a failure that no route takes."""
        host, place, frame = self.host, self.place, self.place.frame
        self.values = values
        item, failure = self.plan.entry, None
        assert item is not None  # a plan without an entry is never constructed
        while True:
            number = frame.enter(item.id)
            try:
                if host.control(place.scope):
                    await host.breathe()
                over = self._enter(item, number)
            except BudgetExhausted as error:
                return Ended(None, values, error, host.exhausted(place, item, number, error), routable=False)
            if over is not None:
                left = Left(frame, item.id, number, host.passed_by(), _NOT_VISITED, "over_limit", target=over.id)
                await host.commit(left)
                item = over
                continue
            opened = host.begin(place, item, number, item.starts_round)
            if type(item.definition) is Subflow:
                done = await self._subflow(item, item.definition, number, values)
            else:
                done = await host.visit(place, item, number, values, failure)
            if done.patch:
                self.values = values = {**values, **done.patch}
            left, following = self._route(item, number, opened, done)
            await host.commit(left)
            if following is None:
                value = done.outcome.value if type(done.outcome) is Complete else None
                return Ended(value, values, done.error, done.failure, done.routable)
            item, failure = following, done.failure

    def _enter(self, item: PlanNode, number: int) -> PlanNode | None:
        """Pay for the node's round; or return where its over-limit route leads, if its visits are used up."""
        frame = self.place.frame
        if item.max_visits is not None and number > item.max_visits:
            if item.over_limit is None:
                path = frame.path_of(item.id, number)
                raise BudgetExhausted("visits", item.max_visits, number - 1, path, scope_id=self.place.scope.id)
            return item.over_limit
        if item.starts_round:
            self.place.scope.charge(rounds=1)
            frame.rounds += 1
        return None

    def _route(self, item: PlanNode, number: int, opened: Opened, done: Done) -> tuple[Left, PlanNode | None]:
        """Decide where the walk goes on; None says that it ends here."""
        frame, outcome = self.place.frame, done.outcome
        if type(outcome) is Complete:
            return Left(frame, item.id, number, opened, done, "complete"), None
        if type(outcome) is Continue:
            label = outcome.label
            following = item.next if label is None else item.labels[label]
            assert following is not None  # the construction found a route for each outcome
            if label is None:
                return Left(frame, item.id, number, opened, done, "next", "", following.id, outcome.why), following
            others = tuple(other for other in item.labels if other != label)
            left = Left(frame, item.id, number, opened, done, "label", label, following.id, outcome.why, others)
            return left, following
        target = item.error_target(done.error) if done.routable and done.error is not None else None
        if target is None:
            return Left(frame, item.id, number, opened, done, "failed"), None
        kind = done.failure.type if done.failure is not None else ""
        return Left(frame, item.id, number, opened, done, "error", kind, target.id), target

    async def _subflow(self, item: PlanNode, definition: Subflow, number: int, values: Values) -> Done:
        frame = Frame(definition.plan.name, self.place.frame, item.id, number)
        try:
            walk, start = self._child(definition, frame, values)
        except Exception as error:
            return _broken(error, frame, self.place.scope)
        scope = walk.place.scope
        own_scope = scope is not self.place.scope
        token = scope_variable.set(scope) if own_scope else None
        try:
            if own_scope and scope.ends_at is not None:
                ended = await self.host.bounded(walk.place, partial(walk.run, start), lambda: walk.values)
            else:
                ended = await walk.run(start)
        finally:
            if token is not None:
                scope_variable.reset(token)
        if ended.error is not None:
            limit = isinstance(ended.error, BudgetExhausted)
            routable = is_routable(ended.error, self.place.scope) if limit else ended.routable
            return Done(None, None, ended.error, ended.failure, routable, inner=frame)
        try:
            return self._leave(item, definition, frame, values, ended)
        except Exception as error:
            return _broken(error, frame, self.place.scope)

    def _child(self, definition: Subflow, frame: Frame, values: Values) -> tuple[Walk, Values]:
        plan, place = definition.plan, self.place
        deps = place.deps if definition.deps is None else definition.deps(place.deps)
        if definition.enter is None:
            shape, start = place.shape, values
        else:
            state = definition.enter(place.shape.draft(values))
            wanted = as_class(plan.state)
            if wanted is not None and not isinstance(state, wanted):
                given, name = type_name(type(state)), type_name(wanted)
                raise ContractError(f"{frame.path}: enter returned {given}, not {name}")
            shape = shape_of(state.__class__)
            start = shape.values(state)
        scope = place.scope
        if definition.budget is not None:
            scope = self.host.narrowed(scope, definition.budget, frame.path)
        return Walk(plan, Place(frame, shape, scope, deps), self.host), start

    def _leave(self, item: PlanNode, definition: Subflow, frame: Frame, values: Values, ended: Ended) -> Done:
        if definition.leave is None:
            patch = {name: value for name, value in ended.values.items() if value is not values.get(name)}
            return Done(Continue(), patch or None, inner=frame)
        shape = self.place.shape
        draft = shape.draft(values)
        outcome = checked(item, definition.leave(draft, ended.value), frame)
        return Done(outcome, shape.difference(draft, values, frame), inner=frame)


def _broken(error: Exception, frame: Frame, scope: Scope) -> Done:
    """Return the end of a composite whose enter, leave or deps failed: that is its own failure."""
    failure: Failure = as_failure(error, frame.path)
    return Done(None, None, error, failure, is_routable(error, scope), inner=frame)
