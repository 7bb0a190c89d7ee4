"""The drawing: a declared flow as nodes, edges and frames, before any format is chosen.

Everything has an id of the drawing's own, by position: no name of a user becomes part of a format's grammar.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol

from ..graph import EdgeKind, Plan, PlanNode, Subflow
from .words import edge_words

__all__ = ["Drawable", "Drawing", "DrawnEdge", "DrawnFrame", "DrawnKind", "DrawnNode", "draw"]

DrawnKind = Literal[EdgeKind, "start", "end", "finish"]
"""The kind of a route; or `start`, `end` and `finish`: how a flow is entered, completes, goes on out of budget."""


class Drawable(Protocol):
    """What can be drawn: a flow."""

    @property
    def plan(self) -> Plan:
        """The declared nodes and routes."""
        ...


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A node, or a dot: where a flow starts, ends, or is out of budget. `frame` is the id of the frame around."""

    id: str
    kind: Literal["node", "start", "end", "out"]
    path: str
    label: str = ""
    description: str = ""
    starts_round: bool = False
    frame: str | None = None


@dataclass(frozen=True, slots=True)
class DrawnFrame:
    """A sub-flow: `start` and `end` are the ids of its dots, `frame` is the id of the frame around it."""

    id: str
    path: str
    label: str
    description: str
    start: str
    end: str
    frame: str | None = None


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """A way from one node or frame to another. `label` is what its author wrote, or what its kind says.

    A route to or from a sub-flow ends at its frame. `backward` ways lead to where the reader has been.
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
    """Return the drawing of a flow: every declared route once, every sub-flow in a frame of its own."""
    pencil = _Pencil()
    pencil.place(flow.plan, "", None)
    pencil.connect(flow.plan, "")
    parts = (tuple(pencil.nodes), tuple(pencil.frames), tuple(pencil.edges))
    return Drawing(flow.plan.name, flow.plan.description, *parts)


_START, _END, _OUT = "#start", "#end", "#out"
"""Where the dots of a flow stand among its paths: no id of a node has a `#`."""


@dataclass(slots=True)
class _Pencil:
    """Places nodes first and then connects them: the routes of a flow come before those inside its sub-flows."""

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

    def place_node(self, item: PlanNode, path: str, frame: str | None) -> None:
        id = self.new_id(path)
        description = item.definition.description
        if isinstance(item.definition, Subflow):
            self.place(item.definition.plan, f"{path}/", id)
            start, end = self.ids[f"{path}/{_START}"], self.ids[f"{path}/{_END}"]
            self.frames.append(DrawnFrame(id, path, item.id, description, start, end, frame))
        else:
            self.nodes.append(DrawnNode(id, "node", path, item.id, description, item.starts_round, frame))

    def connect(self, plan: Plan, prefix: str) -> None:
        ids = {item.index: self.ids[f"{prefix}{item.id}"] for item in plan.nodes.values()}
        if plan.entry is not None:
            self.add("start", self.ids[prefix + _START], ids[plan.entry.index])
        if plan.finish is not None:
            self.add("finish", self.ids[prefix + _OUT], ids[plan.finish.index], "out of budget")
        backward = _backward(plan)
        for item in plan.nodes.values():
            for edge in item.edges():
                ends = (item.index, edge.target.index)
                source, target = (ids[end] for end in ends)
                self.add(edge.kind, source, target, edge_words(edge), edge.default, ends in backward)
            if item.completes:
                self.add("end", ids[item.index], self.ids[prefix + _END])
        for item in plan.nodes.values():
            if isinstance(item.definition, Subflow):
                self.connect(item.definition.plan, f"{prefix}{item.id}/")

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
