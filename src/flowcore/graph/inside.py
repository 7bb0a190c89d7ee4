"""The inside of composites: a plan for each, that of a parallel made of its branches, which end at the join."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import Problem
from .each import Each
from .former import former_names
from .node import UNSET, Node
from .parallel import Parallel
from .person import Person
from .plan import Plan, PlanNode
from .problems import bad_id, problem
from .reach import can_end_unpaid
from .signature import Signature
from .subflow import Subflow

__all__ = ["default_timeout", "limits_of_waiting", "settle_inner"]


Read = Callable[[Node[Any, Any, Any, Any], str], Signature]
"""Reads the signature of a node that stands at a path, and notes what is wrong with it."""


def settle_inner(item: PlanNode, where: str, node_timeout: float | None, read: Read) -> list[Problem]:
    """Give a composite the plan of what stands inside it, and settle whether it can be passed unpaid."""
    definition = item.definition
    if isinstance(definition, Subflow):
        item.inner = definition.plan
        finish = definition.plan.finish
        if definition.budget is not None and finish is not None and can_end_unpaid(finish, _completes):
            item.passable = True  # its own budget may run out at once, and then its finish is come to unpaid
    elif isinstance(definition, Each):
        item.inner = definition.plan
    elif isinstance(definition, Parallel):
        item.inner, problems = _build(where, definition, node_timeout, read)
        can = [can_end_unpaid(item.inner.nodes[row.id], _continues) for row in definition.branches]
        item.passable = all(can) if definition.join == "all" else any(can)
        return problems
    return []


def default_timeout(item: PlanNode, node_timeout: float | None) -> float | None:
    """Return the timeout of a node that is given none of its own: a flow's is for what works by itself."""
    return None if item.is_composite or isinstance(item.definition, Person) else node_timeout


def limits_of_waiting(item: PlanNode, where: str) -> list[Problem]:
    """Return what is wrong with the limits of a node that waits for a person."""
    if not isinstance(item.definition, Person):
        return []
    found = [problem("timeout_on_person", where)] if item.timeout is not None else []
    return [*found, problem("retry_on_person", where)] if item.retry is not None else found


def _completes(item: PlanNode) -> bool:
    return item.completes


def _continues(item: PlanNode) -> bool:
    return item.signature.plain


def _build(where: str, definition: Parallel, node_timeout: float | None, read: Read) -> tuple[Plan, list[Problem]]:
    problems: list[Problem] = []
    nodes: dict[str, PlanNode] = {}
    rows: dict[str, Node[Any, Any, Any, Any]] = {}
    for row in definition.rows():
        path = f"{where}/{row.id}"
        if row.id in rows:
            problems.append(problem("shared_branch", path))
            continue
        rows[row.id] = row
        if (wrong := bad_id(row.id, path)) is not None:
            problems.append(wrong)
        nodes[row.id] = item = PlanNode(row.id, len(nodes), row.definition, read(row, path))
        _settle_branch(item, row, node_timeout)
        item.former = row.former
        problems += _branch_problems(item, row, path)
        problems += settle_inner(item, path, node_timeout, read)
    for key, row in rows.items():
        nodes[key].errors = tuple(
            (route.types, None if route.target is None else nodes[route.target.id]) for route in row.errors
        )
    count = len(definition.branches)
    if not count:
        problems.append(problem("no_branches", where))
    elif not 1 <= definition.wanted <= count:
        problems.append(problem("impossible_join", where, wanted=definition.wanted, count=count))
    plan = Plan(where, nodes, next(iter(nodes.values()), None))
    plan.is_branches = True
    problems += former_names(nodes, f"{where}/")
    return plan, problems


def _settle_branch(item: PlanNode, row: Node[Any, Any, Any, Any], node_timeout: float | None) -> None:
    item.starts_round = bool(row.definition.starts_round)
    if row.timeout is UNSET:
        item.timeout = default_timeout(item, node_timeout)
    else:
        item.timeout = None if row.timeout is None else float(row.timeout)
    item.retry = row.retry
    item.max_visits = row.max_visits


def _branch_problems(item: PlanNode, row: Node[Any, Any, Any, Any], where: str) -> list[Problem]:
    found: list[Problem] = []
    if row.routes or row.limit is not None:
        found.append(problem("branch_with_routes", where))
    if item.is_composite and row.retry is not None:
        found.append(problem("retry_on_composite", where))
    found += limits_of_waiting(item, where)
    if not item.signature.fault and (item.signature.labels or item.signature.results):
        found.append(problem("branch_outcome", where))
    return found
