"""The walk: one token that enters a node, visits it, commits what it did and follows a route.

It decides; the host acts. There is no clock, I/O, chance or task in here, so the same walk runs anywhere and can
be replayed.
"""

from __future__ import annotations

from ..errors import BudgetExhausted, ContractError, Failure
from ..frame import Frame
from ..graph import Plan, PlanNode, Subflow
from ..outcome import Complete, Continue
from ..scope.scope import scope_variable
from ..state import Values, shape_of
from ..types import type_name
from .host import Done, Ended, Host, Left, Opened, Place
from .outcomes import as_failure, checked, is_routable

__all__ = ["Walk"]


class Walk:
    """One walk through one flow. A sub-flow is a walk inside a walk."""

    __slots__ = ("deps", "frame", "host", "place", "plan", "scope", "shape", "values")

    def __init__(self, plan: Plan, place: Place, host: Host) -> None:
        self.plan = plan
        self.place = place
        self.frame = place.frame
        self.shape = place.shape
        self.scope = place.scope
        self.deps = place.deps
        self.host = host
        self.values: Values = {}

    async def run(self, values: Values) -> Ended:
        """Walk from the entry to a `Complete` or to a failure that no route takes."""
        host, frame = self.host, self.frame
        self.values = values
        item, failure = self.plan.entry, None
        assert item is not None  # a plan without an entry is never constructed
        while True:
            await host.breathe()
            number = frame.enter(item.id)
            try:
                over = self._enter(item, number)
            except BudgetExhausted as error:
                return Ended(None, values, error, host.exhausted(self.place, item, number, error), routable=False)
            if over is not None:
                left = Left(frame, item.id, number, host.passed_by(), _SKIPPED, "over_limit", target=over.id)
                await host.commit(left)
                item = over
                continue
            opened = host.begin(self.place, item, number, item.starts_round)
            if type(item.definition) is Subflow:
                done = await self._subflow(item, item.definition, number, values)
            else:
                done = await host.visit(self.place, item, number, values, failure)
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
        self.host.control()
        if item.max_visits is not None and number > item.max_visits:
            if item.over_limit is None:
                raise BudgetExhausted("visits", item.max_visits, number - 1, self.frame.path_of(item.id, number))
            return item.over_limit
        if item.starts_round:
            self.scope.charge(rounds=1)
            self.frame.rounds += 1
        return None

    def _route(self, item: PlanNode, number: int, opened: Opened, done: Done) -> tuple[Left, PlanNode | None]:
        """Decide where the walk goes on; None says that it ends here."""
        frame, outcome = self.frame, done.outcome
        if type(outcome) is Complete:
            return Left(frame, item.id, number, opened, done, "complete"), None
        if type(outcome) is Continue:
            if outcome.label is None:
                following = item.next
                assert following is not None  # the construction found a route for each outcome
                return Left(frame, item.id, number, opened, done, "next", "", following.id, outcome.why), following
            following = item.labels[outcome.label]
            others = tuple(label for label in item.labels if label != outcome.label)
            return (
                Left(
                    frame,
                    item.id,
                    number,
                    opened,
                    done,
                    "label",
                    outcome.label,
                    following.id,
                    outcome.why,
                    others,
                ),
                following,
            )
        target = item.error_target(done.error) if done.routable and done.error is not None else None
        if target is None:
            return Left(frame, item.id, number, opened, done, "failed"), None
        label = done.failure.type if done.failure is not None else ""
        return Left(frame, item.id, number, opened, done, "error", label, target.id), target

    async def _subflow(self, item: PlanNode, definition: Subflow, number: int, values: Values) -> Done:
        frame = Frame(definition.plan.name, self.frame, item.id, number)
        try:
            walk, start = self._child(definition, frame, values)
        except Exception as error:
            return self._broken(error, frame, None)
        token = scope_variable.set(walk.scope) if walk.scope is not self.scope else None
        try:
            ended = await walk.run(start)
        finally:
            if token is not None:
                scope_variable.reset(token)
        if ended.error is not None:
            own_limit = isinstance(ended.error, BudgetExhausted) and walk.scope is not self.scope
            routable = ended.routable or (own_limit and _limit_path(ended.error) == walk.scope.path)
            return Done(None, None, ended.error, ended.failure, routable, inner=frame)
        try:
            return self._leave(item, definition, frame, values, ended)
        except Exception as error:
            return self._broken(error, frame, frame)

    def _child(self, definition: Subflow, frame: Frame, values: Values) -> tuple[Walk, Values]:
        plan = definition.plan
        scope = self.scope if definition.budget is None else self.scope.narrow(definition.budget, path=frame.path)
        deps = self.deps if definition.deps is None else definition.deps(self.deps)
        if definition.enter is None:
            return Walk(plan, Place(frame, self.shape, scope, deps), self.host), values
        state = definition.enter(self.shape.draft(values))
        wanted = plan.state
        if isinstance(wanted, type) and not isinstance(state, wanted):
            raise ContractError(f"{frame.path}: enter returned {type_name(type(state))}, not {wanted.__name__}")
        shape = shape_of(state.__class__)
        return Walk(plan, Place(frame, shape, scope, deps), self.host), shape.values(state)

    def _leave(self, item: PlanNode, definition: Subflow, frame: Frame, values: Values, ended: Ended) -> Done:
        if definition.leave is None:
            patch = {name: value for name, value in ended.values.items() if value is not values.get(name)}
            return Done(Continue(), patch or None, inner=frame)
        draft = self.shape.draft(values)
        outcome = checked(item, definition.leave(draft, ended.value), frame.path)
        return Done(outcome, self.shape.difference(draft, values, frame.path), inner=frame)

    def _broken(self, error: Exception, frame: Frame, inner: Frame | None) -> Done:
        failure: Failure = as_failure(error, frame.path)
        return Done(None, None, error, failure, is_routable(error), inner=inner)


_SKIPPED = Done(None, attempts=0)


def _limit_path(error: Exception | None) -> str | None:
    return error.path if isinstance(error, BudgetExhausted) else None
