"""Building branches: the rows of a parallel become a plan of their own, whose nodes end at the join."""

from __future__ import annotations

from typing import Any

from ..errors import Problem
from .node import UNSET, Node
from .parallel import Parallel
from .plan import Plan, PlanNode
from .problems import problem
from .signature import Signature

__all__ = ["branches_passable", "build_branches"]


def build_branches(
    id: str, definition: Parallel, node_timeout: float | None, signatures: dict[str, Signature]
) -> tuple[Plan, list[Problem]]:
    """Return the plan of the branches of the parallel `id`, and every problem of theirs."""
    problems: list[Problem] = []
    nodes: dict[str, PlanNode] = {}
    rows: dict[str, Node[Any, Any, Any, Any]] = {}
    for row in definition.rows():
        where = f"{id}/{row.id}"
        if row.id in rows:
            problems.append(problem("duplicate_id", where, count=2))
            continue
        rows[row.id] = row
        nodes[row.id] = _branch(row, where, len(nodes), node_timeout, signatures[row.id], problems)
    for key, row in rows.items():
        nodes[key].errors = tuple(
            (route.types, None if route.target is None else nodes[route.target.id]) for route in row.errors
        )
    if not definition.branches:
        problems.append(problem("no_branches", id))
    elif not 1 <= definition.wanted <= len(definition.branches):
        count = len(definition.branches)
        problems.append(problem("impossible_join", id, wanted=definition.wanted, count=count))
    return Plan(id, nodes, next(iter(nodes.values()), None)), problems


def _branch(
    row: Node[Any, Any, Any, Any],
    where: str,
    index: int,
    node_timeout: float | None,
    signature: Signature,
    problems: list[Problem],
) -> PlanNode:
    item = PlanNode(row.id, index, row.definition, signature)
    item.starts_round = bool(row.definition.starts_round)
    item.timeout = node_timeout if row.timeout is UNSET and not item.is_composite else None
    if row.timeout is not UNSET and row.timeout is not None:
        item.timeout = float(row.timeout)
    item.retry = row.retry
    item.max_visits = row.max_visits
    if row.routes or row.limit is not None:
        problems.append(problem("branch_with_routes", where))
    if item.is_composite and row.retry is not None:
        problems.append(problem("retry_on_composite", where))
    if not signature.fault and (signature.labels or signature.results):
        problems.append(problem("branch_outcome", where))
    return item


def branches_passable(inner: Plan, definition: Parallel) -> bool:
    """Return whether the join can be reached unpaid: by every branch if all are needed, else by one."""
    can = [_passable(inner.nodes[branch.id]) for branch in definition.branches if branch.id in inner.nodes]
    return all(can) if definition.join == "all" else any(can)


def _passable(start: PlanNode) -> bool:
    queue = [start]
    for item in queue:  # grows while it is read
        if item.signature.plain and not item.starts_round and item.passable:
            return True
        queue += [edge.target for edge in item.unpaid() if edge.target not in queue]
    return False
