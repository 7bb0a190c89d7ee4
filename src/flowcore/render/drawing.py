"""The drawing: a declared flow as nodes, edges and frames, before any format is chosen.

Everything has an id of the drawing's own, by position: no name of a user becomes part of a format's grammar.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol

from ..graph import EdgeKind, Parallel, Plan, PlanNode
from .words import edge_words, join_words, note_words

__all__ = ["Drawable", "Drawing", "DrawnEdge", "DrawnFrame", "DrawnKind", "DrawnNode", "draw"]

DrawnKind = Literal[EdgeKind, "start", "end", "finish", "join"]
"""The kind of a route; or how a flow is entered (`start`), completes (`end`) and goes on out of budget (`finish`).

A branch is entered by a `start` too, and arrives at its join by a `join`.
"""


class Drawable(Protocol):
    """What can be drawn: a flow."""

    @property
    def plan(self) -> Plan:
        """The declared nodes and routes."""
        ...


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A node, a dot where a flow starts, ends or is out of budget, or the join of branches with its badge.

    `frame` is the id of the frame around.
    """

    id: str
    kind: Literal["node", "start", "end", "out", "join"]
    path: str
    label: str = ""
    description: str = ""
    starts_round: bool = False
    frame: str | None = None


@dataclass(frozen=True, slots=True)
class DrawnFrame:
    """A composite: `start` and `end` are the ids of where it begins and ends, `frame` is the frame around it.

    `note` says how what stands inside is run, where that is not once.
    """

    id: str
    kind: str
    path: str
    label: str
    note: str
    description: str
    start: str
    end: str
    frame: str | None = None


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """A way from one node or frame to another. `label` is what its author wrote, or what its kind says.

    A route to or from a composite ends at its frame. `backward` ways lead to where the reader has been.
    """

    id: str
    kind: DrawnKind
    source: str
    target: str
    label: str = ""
    default: bool = False
    backward: bool = False


@dataclass(frozen=True)
class Drawing:
    """A flow, drawn but for the format."""

    name: str
    description: str
    nodes: tuple[DrawnNode, ...]
    frames: tuple[DrawnFrame, ...]
    edges: tuple[DrawnEdge, ...]

    def levels(self) -> dict[str | None, list[DrawnNode | DrawnFrame]]:
        """Return what stands in each frame, in order; under None what stands in no frame."""
        found: dict[str | None, list[DrawnNode | DrawnFrame]] = {}
        items: list[DrawnNode | DrawnFrame] = [*self.nodes, *self.frames]
        for item in sorted(items, key=lambda item: int(item.id[1:])):
            found.setdefault(item.frame, []).append(item)
        return found

    def anchors(self, edge: DrawnEdge) -> tuple[str, str]:
        """Return the ids that an edge joins; a way from a frame to itself goes from its end to its start."""
        frame = self._frames.get(edge.source) if edge.source == edge.target else None
        return (frame.end, frame.start) if frame is not None else (edge.source, edge.target)

    @cached_property
    def _frames(self) -> dict[str, DrawnFrame]:
        return {frame.id: frame for frame in self.frames}


def draw(flow: Drawable) -> Drawing:
    """Return the drawing of a flow: every declared route once, every composite in a frame of its own."""
    pencil = _Pencil()
    pencil.place(flow.plan, "", None)
    pencil.connect(flow.plan, "")
    parts = (tuple(pencil.nodes), tuple(pencil.frames), tuple(pencil.edges))
    return Drawing(flow.plan.name, flow.plan.description, *parts)


_START, _END, _OUT = "#start", "#end", "#out"
"""Where the dots of a flow and the join of branches stand among the paths: no id of a node has a `#`."""


@dataclass(slots=True)
class _Pencil:
    """Places nodes first and then connects them: the routes of a flow come before those inside its composites."""

    nodes: list[DrawnNode] = field(default_factory=list)
    frames: list[DrawnFrame] = field(default_factory=list)
    edges: list[DrawnEdge] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)

    def new_id(self, path: str) -> str:
        return self.ids.setdefault(path, f"n{len(self.ids)}")

    def place(self, plan: Plan, prefix: str, frame: str | None) -> None:
        self.nodes.append(DrawnNode(self.new_id(prefix + _START), "start", prefix, frame=frame))
        for item in plan.nodes.values():
            self.place_node(item, f"{prefix}{item.id}", frame)
        if plan.finish is not None:
            self.nodes.append(DrawnNode(self.new_id(prefix + _OUT), "out", prefix, frame=frame))
        self.nodes.append(DrawnNode(self.new_id(prefix + _END), "end", prefix, frame=frame))

    def place_branches(self, plan: Plan, definition: Parallel, prefix: str, frame: str) -> None:
        self.nodes.append(DrawnNode(self.new_id(prefix + _START), "start", prefix, frame=frame))
        for item in plan.nodes.values():
            self.place_node(item, f"{prefix}{item.id}", frame)
        badge = join_words(definition)
        self.nodes.append(DrawnNode(self.new_id(prefix + _END), "join", prefix, badge, frame=frame))

    def place_node(self, item: PlanNode, path: str, frame: str | None) -> None:
        id, definition = self.new_id(path), item.definition
        if item.inner is None:
            node = DrawnNode(id, "node", path, item.id, definition.description, item.starts_round, frame)
            self.nodes.append(node)
            return
        if isinstance(definition, Parallel):
            self.place_branches(item.inner, definition, f"{path}/", id)
        else:
            self.place(item.inner, f"{path}/", id)
        words = (item.id, note_words(definition), definition.description)
        ends = (self.ids[f"{path}/{_START}"], self.ids[f"{path}/{_END}"])
        self.frames.append(DrawnFrame(id, definition.kind, path, *words, *ends, frame))

    def connect(self, plan: Plan, prefix: str) -> None:
        if plan.entry is not None:
            self.add("start", self.ids[prefix + _START], self.ids[f"{prefix}{plan.entry.id}"])
        if plan.finish is not None:
            out, finish = self.ids[prefix + _OUT], self.ids[f"{prefix}{plan.finish.id}"]
            self.add("finish", out, finish, "out of budget")
        backward = _backward(plan)
        for item in plan.nodes.values():
            self.connect_node(item, prefix, backward)
            if item.completes:
                self.add("end", self.ids[f"{prefix}{item.id}"], self.ids[prefix + _END])
        self.connect_inside(plan, prefix)

    def connect_branches(self, plan: Plan, definition: Parallel, prefix: str) -> None:
        for branch in definition.branches:
            self.add("start", self.ids[prefix + _START], self.ids[f"{prefix}{branch.id}"])
        backward = _backward(plan)
        for item in plan.nodes.values():
            self.connect_node(item, prefix, backward)
            if item.signature.plain:
                self.add("join", self.ids[f"{prefix}{item.id}"], self.ids[prefix + _END])
        self.connect_inside(plan, prefix)

    def connect_node(self, item: PlanNode, prefix: str, backward: set[tuple[int, int]]) -> None:
        for edge in item.edges():
            source, target = (self.ids[f"{prefix}{end.id}"] for end in (item, edge.target))
            turns = (item.index, edge.target.index) in backward
            self.add(edge.kind, source, target, edge_words(edge), edge.default, turns)

    def connect_inside(self, plan: Plan, prefix: str) -> None:
        for item in plan.nodes.values():
            if item.inner is not None and isinstance(item.definition, Parallel):
                self.connect_branches(item.inner, item.definition, f"{prefix}{item.id}/")
            elif item.inner is not None:
                self.connect(item.inner, f"{prefix}{item.id}/")

    def add(
        self,
        kind: DrawnKind,
        source: str,
        target: str,
        label: str = "",
        default: bool = False,
        backward: bool = False,
    ) -> None:
        id = f"e{len(self.edges)}"
        self.edges.append(DrawnEdge(id, kind, source, target, label, default, backward))


def _backward(plan: Plan) -> set[tuple[int, int]]:
    """Return the pairs of nodes whose routes close a cycle, seen from the entry: depth first, in row order."""
    found: set[tuple[int, int]] = set()
    seen: set[int] = set()
    open_nodes: set[int] = set()
    for root in plan.nodes.values():
        if root.index in seen:
            continue
        seen.add(root.index)
        open_nodes.add(root.index)
        stack = [(root, root.edges())]
        while stack:
            item, edges = stack[-1]
            edge = next(edges, None)
            if edge is None:
                stack.pop()
                open_nodes.discard(item.index)
            elif edge.target.index in open_nodes:
                found.add((item.index, edge.target.index))
            elif edge.target.index not in seen:
                seen.add(edge.target.index)
                open_nodes.add(edge.target.index)
                stack.append((edge.target, edge.target.edges()))
    return found
