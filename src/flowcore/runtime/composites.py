"""Composites: how a walk goes through a sub-flow, through branches, and through items.

Each is a walk inside a walk, or several side by side; what is decided here is how they begin and what is made of
their ends.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Protocol, cast

from ..errors import BudgetExhausted, ContractError, NodeTimeout
from ..frame import Frame
from ..graph import Each, ItemFailure, Parallel, Plan, PlanNode, Subflow, Unfinished
from ..outcome import Continue
from ..scope import Budget, Reserve, Scope
from ..scope.scope import scope_variable
from ..state import Shape, Values, as_change, shape_of
from ..types import as_class, type_name
from .host import Done, Ended, Host, Place, Side, Slot, Verdict
from .outcomes import add_note, as_failure, checked, is_routable

__all__ = ["Walker", "composite", "known_end"]


class Walker(Protocol):
    """A walk, as its composites see it."""

    host: Host
    place: Place
    plan: Plan
    values: Values

    def child(self, plan: Plan, place: Place) -> Walker:
        """Return a walk of another plan in another place."""
        ...

    async def run(self, item: PlanNode, values: Values) -> Ended:
        """Walk from a node to the end."""
        ...

    async def to_the_end(self, values: Values) -> Ended:
        """Walk the whole plan within the limits of this walk's own scope."""
        ...


async def composite(walk: Walker, item: PlanNode, number: int, values: Values) -> Done:
    """Visit a composite, within its timeout if it has one."""
    around, definition = walk.place.scope, item.definition
    frame = _inside(walk.place.frame, item, number)
    limit = around if item.timeout is None else walk.host.timed(around, item.timeout, frame.path)
    place = walk.place._replace(frame=frame, scope=limit)
    token = scope_variable.set(limit)
    try:
        if isinstance(definition, Subflow):
            done = await _subflow(walk, item, definition, place, values)
        elif isinstance(definition, Parallel):
            done = await _parallel(walk, item, definition, place, values)
        else:
            assert isinstance(definition, Each)  # there are no other composites
            done = await _each(walk, item, definition, place, values)
    except Exception as error:  # enter, leave, deps, over, collect or a merge rule failed: the composite's failure
        return Done(None, None, error, as_failure(error, frame.path), is_routable(error, around), inner=frame)
    finally:
        scope_variable.reset(token)
    if isinstance(done.error, BudgetExhausted | NodeTimeout):
        return done._replace(inner=frame, routable=is_routable(done.error, around))
    return done._replace(inner=frame)


def _inside(around: Frame, item: PlanNode, number: int) -> Frame:
    """Return the walk inside a visit: the one that was interrupted there, or a new one."""
    frame = around.inside
    if frame is None or (frame.node, frame.number) != (item.id, number):
        frame = around.inside = Frame(item.inner.name if item.inner is not None else "", around, item.id, number)
    return frame


async def _subflow(walk: Walker, item: PlanNode, definition: Subflow, place: Place, values: Values) -> Done:
    plan, frame = definition.plan, place.frame
    deps = place.deps if definition.deps is None else definition.deps(place.deps)
    shape, start = place.shape, values
    if frame.shape is not None:  # it was entered before
        shape, start = frame.shape, dict(frame.start)
    elif definition.enter is not None:
        shape, start = _state_of(
            definition.enter(place.shape.draft(values)), plan, f"{frame.path}: enter returned"
        )
        frame.shape = shape
    scope = _narrowed(walk.host, place.scope, definition.budget, frame, plan.reserve)
    inner = walk.child(plan, place._replace(shape=shape, scope=scope, deps=deps))
    ended = await _walked(walk, inner, start, place)
    if ended.error is not None:
        return Done(None, None, ended.error, ended.failure, ended.routable)
    if definition.leave is None:
        patch = {
            name: as_change(value, values.get(name))
            for name, value in ended.values.items()
            if value is not values.get(name)
        }
        return Done(Continue(), patch or None)
    draft = place.shape.draft(values)
    outcome = checked(item, definition.leave(draft, ended.value), frame)
    return Done(outcome, place.shape.difference(draft, values, frame) or None)


async def _walked(walk: Walker, inner: Walker, start: Values, place: Place) -> Ended:
    """Walk a flow inside: to its own end if it has limits of its own, within the timeout if there is one."""
    entry, scope = inner.plan.entry, inner.place.scope
    assert entry is not None  # a plan without an entry is never constructed
    own = scope is not place.scope
    work = partial(inner.to_the_end, start) if own else partial(inner.run, entry, start)
    token = scope_variable.set(scope)
    try:
        if place.scope is walk.place.scope:
            return await work()
        return await walk.host.bounded(inner.place._replace(scope=place.scope), work, lambda: inner.values)
    finally:
        scope_variable.reset(token)
        if own:
            scope.release()


async def _parallel(walk: Walker, item: PlanNode, definition: Parallel, place: Place, values: Values) -> Done:
    plan, order = item.inner, list[int]()
    assert plan is not None  # built with the flow
    starts = [plan.nodes[branch.id] for branch in definition.branches]
    sides = [place.frame.beside(index, start.id) for index, start in enumerate(starts)]

    def begin(index: int, slot: Slot) -> Side:
        inner = walk.child(plan, _beside(place, sides[index], slot=slot))
        return _side(inner, partial(inner.run, starts[index], values))

    def verdict(index: int, ended: Ended) -> Verdict:
        if ended.error is not None:
            return Verdict.STOP if definition.join == "all" or not ended.routable else Verdict.GO_ON
        order.append(index)
        return Verdict.STOP if len(order) >= definition.wanted else Verdict.GO_ON

    gather = partial(_gather_rest, walk, place, len(starts), begin, len(starts), verdict)
    ended = await _in_time(walk, place, gather, values)
    if ended.error is not None:
        return Done(None, None, ended.error, ended.failure, ended.routable)
    results: list[Ended | None] = ended.value
    if len(order) < definition.wanted:
        return _failed(results, place.frame)
    place.frame.keep(order[: definition.wanted])
    finals = [(starts[index].id, results[index]) for index in sorted(order[: definition.wanted])]
    return Done(
        Continue(), _joined(place, values, [(id, final.values) for id, final in finals if final is not None])
    )


def _joined(place: Place, values: Values, finals: Sequence[tuple[str, Values]]) -> Values | None:
    """Return what the branches changed, merged in declared order."""
    patch: Values = {}
    for name in place.shape.names:
        before = values.get(name, place)
        written = [(id, final[name]) for id, final in finals if name in final and final[name] is not before]
        if len(written) == 1:
            patch[name] = as_change(written[0][1], values.get(name))
        elif len(written) > 1 and place.shape.can_merge(name):
            patch[name] = place.shape.merge(name, values.get(name), [value for _, value in written], place.frame)
        elif written:
            branches = " and ".join(f"{place.frame.path}/{id}" for id, _ in written)
            rule = "Annotated[..., Merge.append] or Merge(fn)"
            raise ContractError(f"{branches} both changed {name!r}: give the field a merge rule, {rule}")
    return patch or None


async def _gather_rest(
    walk: Walker,
    place: Place,
    count: int,
    begin: Callable[[int, Slot], Side],
    limit: int,
    verdict: Callable[[int, Ended], Verdict],
) -> list[Ended | None]:
    """Gather, less the walks that had ended before the composite was interrupted: those keep their ends."""
    children, results = place.frame.children, [cast("Ended | None", None)] * count
    ended = {index: child for index, child in enumerate(children) if child.ended is not None}
    if not ended:
        return await walk.host.gather(place, count, begin, limit, verdict)
    last = count
    for index in sorted(ended, key=lambda index: ended[index].order):
        results[index] = one = known_end(ended[index].ended, place.scope)
        said = verdict(index, one)
        if said is Verdict.STOP:
            return results
        last = len(children) if said is Verdict.NO_MORE else last
    rest = [index for index in range(last) if index not in ended]
    found = await walk.host.gather(
        place, len(rest), lambda at, slot: begin(rest[at], slot), limit, lambda at, one: verdict(rest[at], one)
    )
    for index, end in zip(rest, found, strict=True):
        results[index] = end
    return results


def known_end(ended: Ended, scope: Scope) -> Ended:
    """Return how a walk ended before an interruption: a limit that ran out in another process is one of today's.

    Unless its scope was one inside of the walk, which is no more.
    """
    error = ended.error
    if isinstance(error, BudgetExhausted | NodeTimeout) and not error.scope_id:
        path = error.path if isinstance(error, NodeTimeout) else error.scope_path
        error.scope_id = next((around.limit_id for around in scope.chain if around.path == path), 0)
    return ended


async def _each(walk: Walker, item: PlanNode, definition: Each, place: Place, values: Values) -> Done:
    plan, frame = definition.plan, place.frame
    starts = _items(definition, place, values)
    scope = _narrowed(walk.host, place.scope, definition.budget, frame, Reserve())
    entry = plan.entry
    assert entry is not None  # a plan without an entry is never constructed

    def begin(index: int, slot: Slot) -> Side:
        shape, start = starts[index]
        beside = frame.beside(index)
        inner = walk.child(plan, _beside(place._replace(scope=scope, shape=shape), beside, slot=slot))
        return _side(inner, partial(inner.run, entry, start))

    def verdict(_: int, ended: Ended) -> Verdict:
        if ended.error is None:
            return Verdict.GO_ON
        if isinstance(ended.error, BudgetExhausted) and scope.holds(ended.error):
            return Verdict.NO_MORE
        return Verdict.GO_ON if definition.on_item_error == "collect" and ended.routable else Verdict.STOP

    limit: list[Ended] = []

    async def work() -> list[Ended | None]:
        results, late = await _gathered(walk, place._replace(scope=scope), len(starts), begin, definition, verdict)
        limit.extend(late)
        return results

    try:
        ended = await _in_time(walk, place, work, values)
    finally:
        if scope is not place.scope:
            scope.release()
    if ended.error is not None:
        return Done(None, None, ended.error, ended.failure, ended.routable)
    return _collected(item, definition, place, scope, values, ended.value, limit)


async def _gathered(
    walk: Walker,
    place: Place,
    count: int,
    begin: Callable[[int, Slot], Side],
    definition: Each,
    verdict: Callable[[int, Ended], Verdict],
) -> tuple[list[Ended | None], list[Ended]]:
    """Gather items within the time of their own budget; return also how that ran out, if it did."""
    results: list[Ended | None] = [None] * count

    def noted(index: int, ended: Ended) -> Verdict:
        results[index] = ended
        return verdict(index, ended)

    async def work() -> Ended:
        return Ended(await _gather_rest(walk, place, count, begin, definition.limit, noted), {})

    if definition.budget is None or place.scope.ends_at is None:
        return (await work()).value, []
    ended = await walk.host.bounded(place, work, dict)
    return (results, [ended]) if ended.error is not None else (ended.value, [])


def _items(definition: Each, place: Place, values: Values) -> list[tuple[Shape, Values]]:
    frame = place.frame
    if frame.items is None:
        given = definition.over(place.shape.draft(values))
        try:
            states = iter(given)
        except TypeError:
            said = f"{frame.path}: over returned {type_name(type(given))}, which has no items"
            raise ContractError(said) from None
        frame.items = [
            _state_of(state, definition.plan, f"{frame.path}: item {index} is")
            for index, state in enumerate(states)
        ]
    items: list[tuple[Shape, Values]] = frame.items
    return items


def _collected(
    item: PlanNode,
    definition: Each,
    place: Place,
    scope: Scope,
    values: Values,
    results: Sequence[Ended | None],
    late: Sequence[Ended],
) -> Done:
    limit = late[0] if late else None
    found: list[Any] = []
    for index, ended in enumerate(results):
        error = None if ended is None else ended.error
        if ended is None or (isinstance(error, BudgetExhausted) and scope.holds(error)):
            limit = limit or ended
            found.append(Unfinished(index))
        elif error is None:
            found.append(ended.value)
        elif definition.on_item_error == "collect" and ended.routable and ended.failure is not None:
            found.append(ItemFailure(index, ended.failure))
        else:
            return _failed(results, place.frame)
    place.frame.keep(index for index, one in enumerate(found) if not isinstance(one, Unfinished))
    if limit is not None and not definition.takes_unfinished:
        return Done(None, None, limit.error, limit.failure, limit.routable)
    draft = place.shape.draft(values)
    outcome = checked(item, definition.collect(draft, found), place.frame)
    patch = place.shape.difference(draft, values, place.frame) or None
    if limit is not None and isinstance(limit.error, BudgetExhausted) and place.scope.holds(limit.error):
        return Done(None, patch, limit.error, limit.failure, limit.routable)
    return Done(outcome, patch)


def _failed(results: Sequence[Ended | None], frame: Frame) -> Done:
    """Return the failure of the lowest path; the other failures are attached to it."""
    indices = [index for index, ended in enumerate(results) if ended is not None and ended.error is not None]
    frame.keep(indices[:1])
    failed = [ended for ended in results if ended is not None and ended.error is not None]
    first, others = failed[0], failed[1:]
    assert first.error is not None  # chosen so
    for other in others:
        if other.failure is not None:
            add_note(first.error, f"also failed: {other.failure.path}: {other.failure}")
    routable = all(ended.routable for ended in failed)
    return Done(None, None, first.error, first.failure, routable)


def _side(inner: Walker, walk: Callable[[], Awaitable[Ended]]) -> Side:
    async def begin() -> Ended:
        scope_variable.set(inner.place.scope)
        return await walk()

    return Side(begin, inner.place.scope, inner.place.frame)


def _beside(place: Place, frame: Frame, *, slot: Slot | None) -> Place:
    """Return the place of a walk beside others: its scope is its own, so that it alone can be refused."""
    return Place(frame, place.shape, place.scope.beside(), place.deps, slot)


def _narrowed(host: Host, scope: Scope, budget: Budget | None, frame: Frame, reserve: Reserve) -> Scope:
    return scope if budget is None else host.narrowed(scope, budget, frame, reserve)


def _state_of(state: Any, plan: Plan, words: str) -> tuple[Shape, Values]:
    wanted = as_class(plan.state)
    if wanted is not None and not isinstance(state, wanted):
        raise ContractError(f"{words} {type_name(type(state))}, not {type_name(wanted)}")
    shape = shape_of(state.__class__)
    return shape, shape.values(state)


async def _in_time(
    walk: Walker, place: Place, gather: Callable[[], Awaitable[list[Ended | None]]], values: Values
) -> Ended:
    """Gather within the timeout of the composite, if it has one. The value is how each walk ended."""

    async def work() -> Ended:
        return Ended(await gather(), values)

    if place.scope is walk.place.scope:
        return await work()
    return await walk.host.bounded(place, work, lambda: values)
