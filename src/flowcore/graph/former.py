"""Former names: by which a run that was stored finds nodes that have other names today."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..errors import Problem
from .plan import Plan, PlanNode
from .problems import problem

__all__ = ["former_names", "names_today"]


def former_names(nodes: Mapping[str, PlanNode], prefix: str) -> list[Problem]:
    """Return what is wrong with the former names of nodes: each is that of one node, and of none today."""
    found: list[Problem] = []
    owners: dict[str, str] = {}
    for id, item in nodes.items():
        for former in item.former:
            other = former if former in nodes else owners.setdefault(former, id)
            if other != id or former == id:
                found.append(problem("former_name_taken", f"{prefix}{id}", former=former, other=other))
    return found


def names_today(plan: Plan, declared: Iterable[str]) -> dict[str, str]:
    """Return today's ids of nodes by their former ones, for a run in whose flow the given ids were declared.

    A node whose id of today was declared then is not meant: it is another one.
    """
    known = frozenset(declared)
    return {former: item.id for item in plan.nodes.values() if item.id not in known for former in item.former}
