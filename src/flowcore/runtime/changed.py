"""Changed flows: what is otherwise today than in the flow that a stored run was begun with, level by level."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import FlowChanged
from ..graph import Plan, PlanNode, names_today, plan_data, signature_of_data
from ..state import Shape, field_types
from ..store import RunRow
from ..types import as_class
from .stored_state import StateType, Upgrade

if TYPE_CHECKING:
    from ..recording import BranchesData, FlowData, NodeData

__all__ = ["Changes", "Level", "check_flow"]

_LAST = "or let it end in the old code, or fork it at an earlier visit"


def check_flow(run: RunRow, plan: Plan) -> None:
    """Raise `FlowChanged` for a run of another flow."""
    if run.flow != plan.name:
        was = f"the flow: was {run.flow!r}, is {plan.name!r}: resume it with the flow {run.flow!r}"
        raise FlowChanged(f"run {run.run_id} is none of the flow {plan.name!r}", [was])


class Level(NamedTuple):
    """The nodes among which one walk goes: today's, and those that were declared when the run began.

    `was` and `now` are None where nothing that is declared has changed. `names` has today's ids by former ones.
    """

    plan: Plan
    was: FlowData | BranchesData | None
    now: FlowData | BranchesData | None
    names: Mapping[str, str]
    fields: Mapping[str, str] | None
    upgrade: Upgrade | None

    @classmethod
    def of(cls, run: RunRow, plan: Plan) -> Level:
        """Return the outermost level of a run."""
        data = plan_data(plan)
        if signature_of_data(data) == run.signature:
            return cls(plan, None, None, {}, None, plan.upgrade)
        from ..recording import read_flow  # noqa: PLC0415 - models that only a changed flow needs

        was, now = read_flow(json.loads(run.declared)), read_flow(data)
        return cls(plan, was, now, _names(plan, was), was.fields, plan.upgrade)

    def inside(self, id: str, item: PlanNode, *, shares_state: bool) -> Level:
        """Return the level inside a composite: `id` is what the node was called, `item` what it is today."""
        assert item.inner is not None  # a composite has one
        old, new = self.node_then(id), self.node_now(item.id)
        was, now = _inside(old), _inside(new)
        fields, upgrade = (was.fields if was is not None and hasattr(was, "fields") else None), item.inner.upgrade
        if shares_state:
            fields, upgrade = self.fields, upgrade or self.upgrade
        return Level(item.inner, was, now, _names(item.inner, was), fields, upgrade)

    def today(self, id: str) -> str:
        """Return today's id of a node."""
        return self.names.get(id, id)

    def node_then(self, id: str) -> NodeData | None:
        """Return a node as it was declared when the run began, by an id that it had then or has had since."""
        if self.was is None:
            return None
        named = {node.id: node for node in self.was.nodes}
        if id in named:
            return named[id]
        today = self.today(id)
        return next((node for node in self.was.nodes if self.today(node.id) == today), None)

    def node_now(self, id: str) -> NodeData | None:
        """Return a node as it is declared today, where that is not what it was."""
        return None if self.now is None else next((node for node in self.now.nodes if node.id == id), None)

    @property
    def entry(self) -> str:
        """By which id the entry of the flow was known."""
        then = getattr(self.was, "entry", None)
        if then is not None:
            return str(then)
        assert self.plan.entry is not None  # a plan without an entry is never constructed
        return self.plan.entry.id

    def state_type(self, name: str, shape: Shape | None = None) -> StateType:
        """Return of which type the state of a walk was, and is; `shape` is that of the state that it shares."""
        today = as_class(self.plan.state) if shape is None else shape.cls
        fields = self.fields
        if self.was is None and today is not None:
            fields = field_types(today)
        return StateType(name, today, fields, self.upgrade)


class Changes:
    """All that keeps a run from going on in today's flow, a line each."""

    def __init__(self, run: RunRow) -> None:
        self._run = run
        self._found: list[str] = []

    def add(self, path: str, words: str, remedy: str) -> None:
        """Note one."""
        line = f"{path}: {words}: {remedy}, {_LAST}"
        if line not in self._found:
            self._found.append(line)

    def check(self) -> None:
        """Raise `FlowChanged` if there is any."""
        if self._found:
            said = f"run {self._run.run_id} of {self._run.flow} cannot go on in today's flow"
            raise FlowChanged(said, self._found)

    def gone(self, path: str, id: str, level: Level, what: str = "node") -> None:
        """Note that a node is not there any more."""
        then = level.node_then(id)
        was = "" if then is None else f", a {then.kind}"
        remedy = f"name one of them {id!r} again, or say .renamed_from({id!r}) at the one that it is now"
        there = ", ".join(level.plan.nodes)
        self.add(path, f"was the {what} {id!r}{was}, and is no {what} any more; today there are {there}", remedy)

    def node(self, path: str, id: str, item: PlanNode, level: Level, *, is_inside: bool, is_open: bool) -> None:
        """Note what has changed of the node that a walk stands at, or inside of.

        `is_open` says that what a visit of it comes to is partly known: it was asked for, or dispatched.
        """
        old, new = level.node_then(id), level.node_now(item.id)
        if old is None or new is None or level.was is None or level.now is None:
            return
        from ..recording.keeping import broken_inside, broken_node, broken_routes  # noqa: PLC0415 - as `Level.of`

        for broken in (*broken_node(old, new), *(broken_inside(old, new) if is_inside else ())):
            remedy = f"make it what it was ({broken.why})"
            self.add(path, f"was {broken.was}, is {broken.now}", remedy)
        was = level.was.routes_of().get(old.id, ())
        now = level.now.routes_of().get(new.id, ())
        for route in broken_routes(old, was, now) if is_open and old.kind == new.kind else ():
            label = f"the label {route.label!r}" if route.kind == "label" else "a plain Continue()"
            self.add(path, f"was left by {label}, is not any more", "give it that route again")

    def states(self, path: str, faults: Collection[str], *, can_upgrade: bool) -> None:
        """Note why a stored state is none of today's."""
        help = "mend the upgrade" if can_upgrade else "make the type what it was, or give Flow(..., upgrade=...)"
        add = partial(self.add, f"{path}: state" if path else "state", remedy=help)
        for fault in faults:
            add(fault)


def _inside(node: NodeData | None) -> Any:
    return None if node is None else node.inside


def _names(plan: Plan, was: Any) -> Mapping[str, str]:
    return {} if was is None else names_today(plan, [node.id for node in was.nodes])
