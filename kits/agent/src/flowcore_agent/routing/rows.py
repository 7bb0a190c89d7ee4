"""The rows of routing: what stands between the prepared request and the loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flowcore_agent.parts import Parts
from flowcore_agent.routing.plan import plan_node
from flowcore_agent.routing.route import route_node

__all__ = ["Routing", "routing_rows"]


@dataclass(frozen=True, slots=True)
class Routing:
    """The routing in a flow: where it begins, and its rows."""

    entry: Any
    rows: tuple[Any, ...]


def routing_rows(parts: Parts, loop: Any) -> Routing:
    """Return the routing before a loop with this entry. What cannot happen with this spec is not there."""
    spec = parts.spec
    route: Any = route_node(parts)
    if not spec.plan:
        return Routing(route, (route.to(loop) if spec.classify is None else route.to(direct=loop, task=loop),))
    plan = plan_node(parts)
    first = route.to(plan) if spec.classify is None else route.to(direct=loop, task=loop, plan=plan)
    return Routing(route, (first, plan.to(loop)))
