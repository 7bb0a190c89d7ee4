"""Replay of a run from a file: each recorded route is looked for in today's declaration."""

from __future__ import annotations

from typing import Any

from ..flow import Flow
from ..recording import NodeData, Recording, RouteData, VisitData, flow_data

__all__ = ["replay_routes"]

_ENDS = ("join", "failed", "unfinished", "running")
"""How a visit is left by no declared route."""


def replay_routes(record: Recording, flow: Flow[Any, Any, Any]) -> int:
    """Return how many visits were compared. Raises `AssertionError` for the first that would go elsewhere."""
    today = flow_data(flow.plan)
    then, now = dict(record.flow.walk()), dict(today.walk())
    routes = _routes(now, today.routes_of())
    entry = next((visit.node for visit in record.visits if not (visit.around or visit.finish)), today.entry)
    if entry != today.entry:
        raise AssertionError(f"the run began with {entry}, and flow {flow.name!r} begins with {today.entry} today")
    for visit in record.visits:
        words = _elsewhere(visit, then[visit.declared], now.get(visit.declared), routes)
        if words:
            raise AssertionError(f"{visit.path}: {words} in flow {flow.name!r} today")
    return len(record.visits)


def _routes(nodes: dict[str, NodeData], top: dict[str, list[RouteData]]) -> dict[str, list[RouteData]]:
    found = dict(top)
    for place, node in nodes.items():
        if node.inside is not None:
            found |= {f"{place}/{id}": routes for id, routes in node.inside.routes_of().items()}
    return found


def _elsewhere(visit: VisitData, was: NodeData, node: NodeData | None, routes: dict[str, list[RouteData]]) -> str:
    """Return why a visit would not be left as it was; '' if it would."""
    if node is None:
        return f"there is no node {visit.declared}"
    if node.kind != was.kind:
        return f"it was of the kind {was.kind}, and is a {node.kind}"
    if visit.kind == "complete" and not node.completes:
        return f"it completed, and {visit.node} completes nothing"
    if visit.kind == "complete" or visit.kind in _ENDS:
        return ""
    alike = [route for route in routes[visit.declared] if route.kind == visit.kind]
    if visit.kind == "label":
        alike = [route for route in alike if route.label == visit.label]
    targets = [route.target for route in alike]
    if visit.target in targets:
        return ""
    words = f"it went to {visit.target} ({visit.kind} {visit.label})".replace(" )", ")")
    return f"{words}, and goes to {' or '.join(targets)}" if targets else f"{words}, and has no such route"
