"""The check: one linear pass over a plan that finds what its graph and its types make impossible.

A sound flow is accepted without any library. What is wrong with a cycle is explained with networkx, which is
loaded only then.
"""

from __future__ import annotations

from ..errors import Problem
from .check_types import type_problems
from .plan import Plan, PlanNode
from .problems import problem
from .reach import can_end_unpaid, is_acyclic, reach

__all__ = ["check_plan"]


def check_plan(plan: Plan) -> list[Problem]:
    """Return every problem of the plan's graph and types, and settle whether it can be passed unpaid."""
    if plan.entry is None:
        return []
    found = [*type_problems(plan), *_unreachable(plan, plan.entry), *_dead_ends(plan)]
    if not is_acyclic(plan.nodes.values(), lambda item: [edge.target for edge in item.unpaid()]):
        from .explain import unpaid_cycles  # noqa: PLC0415 - networkx is loaded only to explain a fault

        for cycle in unpaid_cycles(plan):
            size = f"{cycle.size} node{'' if cycle.size == 1 else 's'}"
            values = {"cycle": cycle.words, "size": size, "payers": " or ".join(cycle.payers)}
            found.append(problem("unpaid_cycle", plan.name, cycle.remedy, **values))
    if plan.finish is not None and (cycle_words := _cycle_after(plan, plan.finish, "")):
        found.append(problem("finish_cycle", plan.name, finish=plan.finish.id, cycle=cycle_words))
    plan.passable = can_end_unpaid(plan.entry, lambda item: item.completes)
    return found


def _unreachable(plan: Plan, entry: PlanNode) -> list[Problem]:
    start = [item for item in (entry, plan.on_error, plan.finish) if item is not None]
    reached = {item.index for item in reach(start, lambda item: [edge.target for edge in item.edges()])}
    return [problem("unreachable", item.id) for item in plan.nodes.values() if item.index not in reached]


def _dead_ends(plan: Plan) -> list[Problem]:
    sources: dict[int, list[PlanNode]] = {item.index: [] for item in plan.nodes.values()}
    for edge in plan.edges():
        sources[edge.target.index].append(edge.source)
    ends = [item for item in plan.nodes.values() if item.completes or item.faulty or item.signature.fault]
    alive = {item.index for item in reach(ends, lambda item: sources[item.index])}
    return [problem("dead_end", item.id) for item in plan.nodes.values() if item.index not in alive]


def _cycle_after(plan: Plan, start: PlanNode, prefix: str) -> str:
    """Return a cycle that can be come to from here, paid or not, in this flow or inside its composites; or ''.

    A finish path runs on what was reserved for it, so it must end by itself.
    """
    reached = reach([start], lambda item: [edge.target for edge in item.edges()])
    if not is_acyclic(reached, lambda item: [edge.target for edge in item.edges()]):
        from .explain import cycle_from  # noqa: PLC0415 - networkx is loaded only to explain a fault

        return f"{prefix}{cycle_from(plan, start)}"
    for item in reached:
        if item.inner is not None:
            for inside in item.inner.beginnings:
                if words := _cycle_after(item.inner, inside, f"{prefix}{item.id}: "):
                    return words
    return ""
