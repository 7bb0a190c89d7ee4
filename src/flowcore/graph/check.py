"""The check: one linear pass over a plan that finds what its graph and its types make impossible.

A sound flow is accepted without any library. What is wrong with a cycle is explained with networkx, which is
loaded only then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..errors import Problem
from .check_types import type_problems
from .plan import Plan, PlanNode
from .problems import problem
from .subflow import Subflow

__all__ = ["check_plan"]


def check_plan(plan: Plan) -> list[Problem]:
    """Return every problem of the plan's graph and types, and settle whether it can be passed unpaid."""
    if plan.entry is None:
        return []
    found = [*type_problems(plan), *_unreachable(plan, plan.entry), *_dead_ends(plan)]
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
