"""The check: one linear pass over a plan that finds what its graph and its types make impossible.

A sound flow is accepted without any library. What is wrong with a cycle is explained with networkx, which is
loaded only then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..errors import Problem
from ..state.shape import is_state_type, shape_of
from ..types import as_class, is_assignable, is_open, type_name, union_members
from .function import is_async
from .plan import Plan, PlanNode
from .problems import problem
from .signature import parameter_names, read_hints
from .subflow import Subflow

__all__ = ["check_plan"]


def check_plan(plan: Plan) -> list[Problem]:
    """Return every problem of the plan's graph and types, and settle whether it can be passed unpaid."""
    if plan.entry is None:
        return []
    found = [*_types(plan), *_unreachable(plan, plan.entry), *_dead_ends(plan)]
    for item in plan.nodes.values():
        if isinstance(item.definition, Subflow) and item.definition.budget is not None:
            # Its own budget may run out at once, and then its finish is reached with nothing paid.
            inner = item.definition.plan
            item.passable = item.passable or (inner.finish is not None and _is_passable(inner.finish))
    if not _is_paid(plan):
        from .explain import unpaid_cycles  # noqa: PLC0415 - networkx is loaded only to explain a fault

        for cycle in unpaid_cycles(plan):
            size = f"{cycle.size} node{'' if cycle.size == 1 else 's'}"
            values = {"cycle": cycle.words, "size": size, "payers": " or ".join(cycle.payers)}
            found.append(problem("unpaid_cycle", plan.name, cycle.remedy, **values))
    if plan.finish is not None:
        found += _finish_cycle(plan, plan.finish)
    plan.passable = _is_passable(plan.entry)
    return found


def _is_passable(start: PlanNode) -> bool:
    """Return whether an unpaid path leads from here to a `Complete`."""
    reached = _reach([start], lambda item: [edge.target for edge in item.unpaid()])
    return any(item.completes and not item.starts_round and item.passable for item in reached)


def _reach(start: Iterable[PlanNode], following: Callable[[PlanNode], Iterable[PlanNode]]) -> list[PlanNode]:
    queue = list(start)
    seen = {item.index for item in queue}
    for item in queue:  # grows while it is read
        for target in following(item):
            if target.index not in seen:
                seen.add(target.index)
                queue.append(target)
    return queue


def _unreachable(plan: Plan, entry: PlanNode) -> list[Problem]:
    start = [item for item in (entry, plan.on_error, plan.finish) if item is not None]
    reached = {item.index for item in _reach(start, lambda item: [edge.target for edge in item.edges()])}
    return [problem("unreachable", item.id) for item in plan.nodes.values() if item.index not in reached]


def _dead_ends(plan: Plan) -> list[Problem]:
    sources: dict[int, list[PlanNode]] = {item.index: [] for item in plan.nodes.values()}
    for edge in plan.edges():
        sources[edge.target.index].append(edge.source)
    ends = [item for item in plan.nodes.values() if item.completes or item.faulty or item.signature.fault]
    alive = {item.index for item in _reach(ends, lambda item: sources[item.index])}
    return [problem("dead_end", item.id) for item in plan.nodes.values() if item.index not in alive]


def _is_paid(plan: Plan) -> bool:
    """Take away nodes that no unpaid route enters, until none is left or only cycles are."""
    entering = dict.fromkeys(range(len(plan.nodes)), 0)
    free = {item.index: [edge.target for edge in item.unpaid()] for item in plan.nodes.values()}
    for targets in free.values():
        for target in targets:
            entering[target.index] += 1
    ready = [index for index, count in entering.items() if count == 0]
    for index in ready:  # grows while it is read
        for target in free[index]:
            entering[target.index] -= 1
            if entering[target.index] == 0:
                ready.append(target.index)
    return len(ready) == len(entering)


def _finish_cycle(plan: Plan, finish: PlanNode) -> list[Problem]:
    """The finish path runs on a reserve, so it must end by itself: no cycle, paid or not, may be reached."""
    reached = _reach([finish], lambda item: [edge.target for edge in item.edges()])
    entering = {item.index: 0 for item in reached}
    for item in reached:
        for edge in item.edges():
            entering[edge.target.index] += 1
    ready = [item for item in reached if entering[item.index] == 0]
    for item in ready:  # grows while it is read
        for edge in item.edges():
            entering[edge.target.index] -= 1
            if entering[edge.target.index] == 0:
                ready.append(edge.target)
    if len(ready) == len(reached):
        return []
    from .explain import cycle_from  # noqa: PLC0415 - networkx is loaded only to explain a fault

    return [problem("finish_cycle", plan.name, finish=finish.id, cycle=cycle_from(plan, finish))]


def _types(plan: Plan) -> list[Problem]:
    found: list[Problem] = []
    wanted = plan.state
    state_class = as_class(wanted)
    if not _can_be_state(wanted):
        return [problem("bad_state_type", plan.name, state=type_name(wanted))]
    for item in plan.nodes.values():
        if item.signature.state is not wanted and not is_assignable(wanted, item.signature.state):
            state = type_name(item.signature.state)
            found.append(problem("state_mismatch", item.id, state=state, wanted=type_name(wanted)))
        if isinstance(item.definition, Subflow):
            found += _subflow(item, item.definition)
        elif item.definition.writes is not None and state_class is not None:
            names = shape_of(state_class).names
            found += [
                problem("unknown_write", item.id, field=name, state=type_name(wanted))
                for name in item.definition.writes
                if name not in names
            ]
    return found


def _can_be_state(hint: Any) -> bool:
    """Return whether a run can have a state of this type. What cannot be told at run time can."""
    members = union_members(hint)
    if len(members) > 1:
        return all(map(_can_be_state, members))
    cls = as_class(hint)
    return is_open(hint) if cls is None else is_state_type(cls)


def _subflow(item: PlanNode, definition: Subflow) -> list[Problem]:
    enter, leave = definition.enter, definition.leave
    found = [
        problem("async_function", item.id, function=name)
        for name, fn in (("enter", enter), ("leave", leave), ("deps", definition.deps))
        if fn is not None and is_async(fn)
    ]
    if enter is not None and leave is not None:
        return [*found, *_enter(item, definition, enter), *_leave(item, definition, leave)]
    if not definition.shares_state:
        given, absent = ("enter", "leave") if enter is not None else ("leave", "enter")
        found.append(problem("enter_without_leave", item.id, given=given, absent=absent))
    return found


def _enter(item: PlanNode, definition: Subflow, enter: Callable[..., Any]) -> list[Problem]:
    names = parameter_names(enter)
    hints = read_hints(enter, {}, (*names[:1], "return"))
    if isinstance(hints, str):
        return []  # enter may go without annotations, and then nothing is known of it
    found = []
    inner = definition.plan.state
    if "return" in hints and not is_assignable(hints["return"], inner):
        values = {"verb": "returns", "given": type_name(hints["return"]), "wanted": type_name(inner)}
        found.append(problem("enter_mismatch", item.id, **values))
    if names and names[0] in hints and not is_assignable(item.signature.state, hints[names[0]]):
        values = {
            "verb": "takes",
            "given": type_name(hints[names[0]]),
            "wanted": type_name(item.signature.state),
        }
        found.append(problem("enter_mismatch", item.id, **values))
    return found


def _leave(item: PlanNode, definition: Subflow, leave: Callable[..., Any]) -> list[Problem]:
    names = parameter_names(leave)
    hints = read_hints(leave, {}, names[:2])
    if isinstance(hints, str):
        return []  # the unreadable annotation is a problem of its own already
    offered = [[item.signature.state], list(definition.plan.results)]
    found = []
    for name, given in zip(names, offered, strict=False):
        for kind in given:
            if name in hints and not is_assignable(kind, hints[name]):
                values = {"given": type_name(hints[name]), "wanted": type_name(kind)}
                found.append(problem("leave_mismatch", item.id, **values))
    return found
