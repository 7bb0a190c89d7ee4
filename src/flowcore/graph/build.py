"""Building: rows become a plan. What is wrong with the rows themselves is found here."""

from __future__ import annotations

import json
import keyword
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import Problem
from ..scope import Reserve
from .former import former_names
from .function import Function
from .inside import default_timeout, limits_of_waiting, settle_inner
from .node import UNSET, Node
from .plan import Plan, PlanNode
from .problems import bad_id, problem
from .signature import Signature, read_signature

__all__ = ["FlowOptions", "build_plan"]


@dataclass(frozen=True, slots=True)
class FlowOptions:
    """What a flow says beside its rows."""

    on_error: Node[Any, Any, Any, Any] | None = None
    finish: Node[Any, Any, Any, Any] | None = None
    reserve: Reserve = field(default_factory=Reserve)
    node_timeout: float | None = None
    description: str = ""
    upgrade: Callable[[dict[str, Any], str], Any] | None = None


def build_plan(name: str, rows: Sequence[Any], options: FlowOptions) -> tuple[Plan, list[Problem]]:
    """Return the plan of the rows, as far as they can be resolved, and every problem of the rows."""
    return _Builder(name, rows).build(options)


class _Builder:
    def __init__(self, name: str, rows: Sequence[Any]) -> None:
        self.name = name
        self.problems: list[Problem] = []
        self.rows: dict[str, Node[Any, Any, Any, Any]] = {}
        self.nodes: dict[str, PlanNode] = {}
        self.add(bad_id(name, f"flow {name!r}"))
        self.take_rows(rows)

    def add(self, found: Problem | None) -> None:
        if found is not None:
            self.problems.append(found)

    def take_rows(self, rows: Sequence[Any]) -> None:
        counts: dict[str, int] = {}
        if not rows:
            self.add(problem("no_rows", self.name))
        for number, row in enumerate(rows, 1):
            if not isinstance(row, Node):
                self.add(problem("not_a_row", self.name, number=number, value=_shown(row)))
                continue
            counts[row.id] = counts.get(row.id, 0) + 1
            first = self.rows.get(row.id)
            if first is None:
                self.rows[row.id] = row
                self.add(bad_id(row.id, row.id or self.name))
                self.nodes[row.id] = item = PlanNode(row.id, len(self.nodes), row.definition, self.read(row))
                item.is_async = item.is_async or item.signature.awaited
                item.former = row.former
            elif first.definition is not row.definition and first.definition != row.definition:
                self.add(problem("two_definitions", row.id))
                counts[row.id] -= 1
        for id, count in counts.items():
            if count > 1:
                self.add(problem("duplicate_id", id, count=count))

    def read(self, row: Node[Any, Any, Any, Any], where: str = "") -> Signature:
        definition = row.definition
        signature = definition.signature
        if signature.fault and isinstance(definition, Function):
            signature = read_signature(definition.fn, {})  # names that were defined since
        if signature.fault:
            function = (
                _outcome_of(definition.kind)
                if definition.is_composite
                else getattr(definition.fn, "__qualname__", row.id)
            )
            code = "missing_annotation" if signature.missing else "unreadable_annotation"
            self.add(problem(code, where or row.id, function=function, fault=signature.fault))
        return signature

    def build(self, options: FlowOptions) -> tuple[Plan, list[Problem]]:
        default = finish = None
        if options.on_error is not None:
            default = self.resolve(options.on_error, self.name, "default error route", None)
        if options.finish is not None:
            finish = self.resolve(options.finish, self.name, "finish route", None)
        for id, row in self.rows.items():
            self.fill(self.nodes[id], row, default, options.node_timeout)
        entry = next(iter(self.nodes.values()), None)
        for item in self.nodes.values():
            unset = item.definition.starts_round is None
            item.starts_round = (item is entry) if unset else bool(item.definition.starts_round)
        plan = Plan(self.name, self.nodes, entry)
        plan.description = options.description
        plan.node_timeout = options.node_timeout
        plan.on_error = default
        plan.finish = finish
        plan.reserve = options.reserve
        plan.upgrade = options.upgrade
        self.problems += former_names(plan.nodes, "")
        return plan, self.problems

    def fill(
        self,
        item: PlanNode,
        row: Node[Any, Any, Any, Any],
        default: PlanNode | None,
        node_timeout: float | None,
    ) -> None:
        self.fill_routes(item, row)
        errors: list[tuple[tuple[type[Exception], ...], PlanNode | None]] = []
        for route in row.errors:
            if route.target is None:
                errors.append((route.types, None))
            elif target := self.resolve(route.target, item.id, "error route", item):
                errors.append((route.types, target))
        item.errors = tuple(errors)
        caught = any(not kinds for kinds, _ in errors)
        item.default_error = None if caught or item is default else default
        if row.limit is not None:
            item.over_limit = self.resolve(row.limit, item.id, "over-limit route", item)
        item.timeout = default_timeout(item, node_timeout) if row.timeout is UNSET else _seconds(row.timeout)
        item.retry = row.retry
        item.max_visits = row.max_visits
        if item.is_composite and row.retry is not None:
            self.add(problem("retry_on_composite", item.id))
        self.problems += limits_of_waiting(item, item.id)
        if item.is_composite:
            self.problems += settle_inner(item, item.id, node_timeout, self.read)

    def fill_routes(self, item: PlanNode, row: Node[Any, Any, Any, Any]) -> None:
        signature = item.signature
        for route in row.routes:
            kind = "route" if route.label is None else f"route {route.label!r}"
            target = self.resolve(route.target, item.id, kind, item)
            if route.label is None and item.next is not None:
                self.add(problem("duplicate_route", item.id, what="a plain Continue()"))
            elif route.label is not None and route.label in item.labels:
                self.add(problem("duplicate_route", item.id, what=f"the label {route.label!r}"))
            elif target is not None and route.label is None:
                item.next = target
            elif target is not None and route.label is not None:
                item.labels[route.label] = target
        if not signature.fault:
            self.match_routes(item, row, signature)

    def match_routes(self, item: PlanNode, row: Node[Any, Any, Any, Any], signature: Signature) -> None:
        routed = {route.label: route for route in row.routes}
        if signature.plain and signature.labels:
            item.faulty = True
            self.add(problem("mixed_continue", item.id))
        elif signature.plain and None not in routed:
            item.faulty = True
            self.add(problem("nowhere_to_go", item.id))
        if not signature.plain and None in routed:
            self.add(problem("route_without_continue", item.id, target=routed[None].target.id))
        needed = set(signature.labels) - dict(signature.stand_ins).keys()
        for label in signature.labels:
            if label not in routed and label in needed:
                item.faulty = True
                self.add(problem("label_without_route", item.id, label=label, route=_as_route(label)))
        for known in routed:
            if known is not None and known not in signature.labels:
                self.add(problem("route_without_label", item.id, label=known))

    def resolve(
        self, reference: Node[Any, Any, Any, Any], where: str, kind: str, source: PlanNode | None
    ) -> PlanNode | None:
        target = self.rows.get(reference.id)
        if target is None:
            self.add(problem("unknown_target", where, kind=kind, target=reference.id))
        elif target.definition is not reference.definition and target.definition != reference.definition:
            self.add(problem("foreign_reference", where, kind=kind, target=reference.id))
        elif not reference.is_reference:
            self.add(problem("routed_reference", where, kind=kind, target=reference.id))
        if target is None and source is not None:
            source.faulty = True
        found = None if target is None else self.nodes[reference.id]
        if found is not None and reference.former:
            found.former = tuple(dict.fromkeys((*found.former, *reference.former)))
        return found


def _seconds(timeout: Any) -> float | None:
    return None if timeout is UNSET or timeout is None else float(timeout)


def _as_route(label: str) -> str:
    """Return how a route for a label is written: not every label can be the name of an argument."""
    by_name = label.isidentifier() and not keyword.iskeyword(label)
    return f"{label}=..." if by_name else f"{{{json.dumps(label, ensure_ascii=False)}: ...}}"


def _outcome_of(kind: str) -> str:
    return {"subflow": "leave", "each": "collect"}.get(kind, kind)


def _shown(value: object) -> str:
    name = getattr(value, "__name__", None)
    return f"the function {name}" if callable(value) and name else f"a {type(value).__name__}"
