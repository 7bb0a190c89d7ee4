"""The check: one linear pass over a plan that finds what its graph and its types make impossible.

A sound flow is accepted without any library. What is wrong with a cycle is explained with networkx, which is
loaded only then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..errors import Problem
from ..state.shape import is_state_type, shape_of
from ..types import as_class, is_assignable, type_name
from .plan import Plan, PlanNode
from .problems import problem
from .signature import read_hints
from .subflow import Subflow

__all__ = ["check_plan"]


def check_plan(plan: Plan) -> list[Problem]:
    """Return every problem of the plan's graph and types, and settle whether it can be passed unpaid."""
    if plan.entry is None:
        return []
    found = [*_types(plan), *_unreachable(plan, plan.entry), *_dead_ends(plan)]
    if not _is_paid(plan):
        from .explain import unpaid_cycles  # noqa: PLC0415 - networkx is loaded only to explain a fault

        for cycle in unpaid_cycles(plan):
            size = f"{cycle.size} node{'' if cycle.size == 1 else 's'}"
            found.append(problem("unpaid_cycle", plan.name, cycle=cycle.words, size=size, remedy=cycle.remedy))
    if plan.finish is not None:
        found += _finish_cycle(plan, plan.finish)
    plan.passable = any(
        item.completes and not item.starts_round and item.passable
        for item in _reach([plan.entry], lambda item: [edge.target for edge in item.unpaid()])
    )
    return found


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
    if state_class is not None and not is_state_type(state_class):
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


def _subflow(item: PlanNode, definition: Subflow) -> list[Problem]:
    if definition.enter is None or definition.leave is None:
        if definition.shares_state:
            return []
        given, absent = ("enter", "leave") if definition.enter is not None else ("leave", "enter")
        return [problem("enter_without_leave", item.id, given=given, absent=absent)]
    return [*_enter(item, definition), *_leave(item, definition)]


def _enter(item: PlanNode, definition: Subflow) -> list[Problem]:
    names = _parameters(definition.enter)
    hints = read_hints(definition.enter, {}, (*names[:1], "return")) if definition.enter else {}
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


def _leave(item: PlanNode, definition: Subflow) -> list[Problem]:
    names = _parameters(definition.leave)
    hints = read_hints(definition.leave, {}, tuple(names[:2])) if definition.leave else {}
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


def _parameters(fn: Any) -> list[str]:
    code = getattr(fn, "__code__", None)
    return list(code.co_varnames[: code.co_argcount]) if code is not None else []
