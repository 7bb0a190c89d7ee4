"""A plan as plain data: JSON, its signature, and a networkx graph."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..scope import Budget, Reserve
from ..state import field_types
from ..types import type_name
from .each import Each
from .parallel import Parallel
from .person import Person
from .plan import Edge, Plan, PlanNode
from .subflow import Subflow

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["exempt_errors", "plan_data", "plan_graph", "plan_signature", "signature_of_data"]


def plan_data(plan: Plan) -> dict[str, Any]:
    """Return the declared flow as JSON-ready data: nodes and routes in the order of the rows."""
    return {
        "name": plan.name,
        "description": plan.description,
        "state": type_name(plan.state),
        "fields": field_types(plan.state),
        "results": [type_name(result) for result in plan.results],
        "entry": plan.entry.id if plan.entry is not None else None,
        "finish": plan.finish.id if plan.finish is not None else None,
        "reserve": _limits(plan.reserve),
        **_graph_data(plan),
    }


def _graph_data(plan: Plan) -> dict[str, Any]:
    return {
        "nodes": [_node_data(item) for item in plan.nodes.values()],
        "routes": [_edge_data(edge) for edge in plan.edges()],
    }


def _node_data(item: PlanNode) -> dict[str, Any]:
    definition = item.definition
    return {
        "id": item.id,
        "kind": definition.kind,
        "description": definition.description,
        "starts_round": item.starts_round,
        "effects": definition.effects,
        "completes": [type_name(result) for result in item.signature.results],
        "continues": item.signature.plain,
        "state": type_name(item.signature.state),
        "deps": type_name(item.signature.deps),
        "timeout": None if item.timeout == math.inf else item.timeout,  # JSON has no such number
        "retry": item.retry.attempts if item.retry is not None else None,
        "max_visits": item.max_visits,
        "writes": None if definition.writes is None else list(definition.writes),
        **({"renamed_from": list(item.former)} if item.former else {}),
        **({} if item.inner is None else _inside(item, item.inner)),
        **(_asked(definition) if isinstance(definition, Person) else {}),
    }


def _asked(definition: Person) -> dict[str, Any]:
    """Return what a node that waits for a person says of its request."""
    form = definition.form
    return {"expires": definition.expires, "form": None if form is None else type_name(form)}


def _inside(item: PlanNode, inner: Plan) -> dict[str, Any]:
    """Return what a composite says of itself, and what stands inside it."""
    definition = item.definition
    if isinstance(definition, Parallel):
        starts = [branch.id for branch in definition.branches]
        return {"join": definition.join, "branches": {"starts": starts, **_graph_data(inner)}}
    if isinstance(definition, Each):
        own: dict[str, Any] = {"limit": definition.limit, "on_item_error": definition.on_item_error}
    else:
        assert isinstance(definition, Subflow)  # there are no other composites
        own = {"shares_state": definition.shares_state}
    budget = None if definition.budget is None else _limits(definition.budget)
    return {**own, "budget": budget, "flow": plan_data(inner)}


def _limits(limits: Budget | Reserve) -> dict[str, Any]:
    none = None if isinstance(limits, Budget) else 0
    return {name: value for name, value in asdict(limits).items() if value != none}


def _edge_data(edge: Edge) -> dict[str, Any]:
    return {
        "from": edge.source.id,
        "to": edge.target.id,
        "kind": edge.kind,
        "label": edge.label,
        "default": edge.default,
        "except": exempt_errors(edge),
    }


def exempt_errors(edge: Edge) -> str:
    """Return the types of error that an error route would take if its row had not opted out of them before it."""
    found: list[type[Exception]] = []
    for kinds, target in edge.source.errors if edge.kind == "error" else ():
        words = " | ".join(kind.__name__ for kind in kinds)
        if target is edge.target and words == edge.label and not edge.default:
            found = [kind for kind in found if not kinds or issubclass(kind, kinds)]
            break
        if target is None:
            found += kinds
    return " | ".join(kind.__name__ for kind in found)


def plan_signature(plan: Plan) -> str:
    """Return a short hash of everything that is declared. Equal for equal declarations in every process."""
    return signature_of_data(plan_data(plan))


def signature_of_data(data: Mapping[str, Any]) -> str:
    """Return the signature of a plan that is there as data."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def plan_graph(plan: Plan) -> nx.MultiDiGraph[str]:
    """Return the declared graph; a composite is a node with what stands inside in the attribute `graph`."""
    import networkx as nx  # noqa: PLC0415 - takes longer to load than all the rest

    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph(name=plan.name)
    for item in plan.nodes.values():
        attributes = {
            "kind": item.definition.kind,
            "starts_round": item.starts_round,
            "completes": item.completes,
        }
        inside = {} if item.inner is None else {"graph": plan_graph(item.inner)}
        graph.add_node(item.id, **attributes, **inside)
    for edge in plan.edges():
        graph.add_edge(edge.source.id, edge.target.id, kind=edge.kind, label=edge.label, default=edge.default)
    return graph
