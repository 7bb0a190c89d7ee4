"""The drawing: a declared flow as nodes, edges and frames, before any format is chosen.

Everything has an id of the drawing's own, by position: no name of a user becomes part of a format's grammar.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, Protocol

from ..graph import EdgeKind, Plan
from ..recording import BranchesData, FlowData, GraphData, NodeData, RouteData, flow_data
from .words import edge_words, join_words, note_words, write_words

__all__ = ["Drawable", "Drawing", "DrawnEdge", "DrawnFrame", "DrawnKind", "DrawnNode", "Mark", "MarkKind", "draw"]

DrawnKind = Literal[EdgeKind, "start", "end", "finish", "join", "cut"]
"""The kind of a route; or how a flow is entered (`start`), completes (`end`) and goes on out of budget (`finish`).

A branch is entered by a `start` too, and arrives at its join by a `join`. A `cut` stands for routes not drawn.
"""

MarkKind = Literal["added", "removed", "changed", "ok", "failed", "retried", "unused", "taken", "other"]
"""What a mark says: how a comparison or a run looks at a part of a flow."""


class Drawable(Protocol):
    """What can be drawn: a flow."""

    @property
    def plan(self) -> Plan:
        """The declared nodes and routes."""
        ...


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A node, a dot where a flow starts, ends or is out of budget, or the join of branches with its badge.

    In a part of a drawing also a composite that is closed (`folded`), or a stub where routes are cut off (`cut`).
    `frame` is the id of the frame around, `details` are the lines below the label.
    `waits` says that it waits for a person.
    """

    id: str
    kind: Literal["node", "start", "end", "out", "join", "folded", "cut"]
    path: str
    label: str = ""
    description: str = ""
    starts_round: bool = False
    frame: str | None = None
    details: tuple[str, ...] = ()
    waits: bool = False


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


@dataclass(frozen=True, slots=True)
class Mark:
    """What is said of a node, frame or edge in a picture that tells more than the flow, in `note` in words.

    A comparison marks what was added, removed, changed. A run marks nodes as ok, failed, retried, unused, and
    edges as taken, or as taken by another run only.
    """

    kind: MarkKind
    note: str = ""


@dataclass(frozen=True)
class Drawing:
    """A flow, drawn but for the format. `marks` are by the id of what they mark."""

    name: str
    description: str
    nodes: tuple[DrawnNode, ...]
    frames: tuple[DrawnFrame, ...]
    edges: tuple[DrawnEdge, ...]
    marks: Mapping[str, Mark] = field(default_factory=dict)

    def items(self) -> list[DrawnNode | DrawnFrame]:
        """Return the nodes, then the frames."""
        return [*self.nodes, *self.frames]

    def levels(self) -> dict[str | None, list[DrawnNode | DrawnFrame]]:
        """Return what stands in each frame, in order; under None what stands in no frame."""
        found: dict[str | None, list[DrawnNode | DrawnFrame]] = {}
        for item in sorted(self.items(), key=lambda item: int(item.id[1:])):
            found.setdefault(item.frame, []).append(item)
        return found

    def anchors(self, edge: DrawnEdge) -> tuple[str, str]:
        """Return the ids that an edge joins; a way from a frame to itself goes from its end to its start."""
        frame = self._frames.get(edge.source) if edge.source == edge.target else None
        return (frame.end, frame.start) if frame is not None else (edge.source, edge.target)

    @cached_property
    def _frames(self) -> dict[str, DrawnFrame]:
        return {frame.id: frame for frame in self.frames}


def draw(flow: Drawable | FlowData, types: bool = False) -> Drawing:
    """Return the drawing of a flow: every declared route once, every composite in a frame of its own.

    With `types`, ways in name the type of the state, ways out those of the results, and nodes what they write.
    """
    data = flow if isinstance(flow, FlowData) else flow_data(flow.plan)
    pencil = _Pencil(types)
    pencil.place(data, "", None)
    pencil.connect(data, "")
    parts = (tuple(pencil.nodes), tuple(pencil.frames), tuple(pencil.edges))
    return Drawing(data.name, data.description, *parts)


Fields = Mapping[str, str]
"""The fields of a state, with their types."""

_START, _END, _OUT = "#start", "#end", "#out"
"""Where the dots of a flow and the join of branches stand among the paths: no id of a node has a `#`."""


@dataclass(slots=True)
class _Pencil:
    """Places nodes first and then connects them: the routes of a flow come before those inside its composites."""

    types: bool
    nodes: list[DrawnNode] = field(default_factory=list)
    frames: list[DrawnFrame] = field(default_factory=list)
    edges: list[DrawnEdge] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)

    def new_id(self, path: str) -> str:
        return self.ids.setdefault(path, f"n{len(self.ids)}")

    def place(self, flow: FlowData, prefix: str, frame: str | None) -> None:
        self.nodes.append(DrawnNode(self.new_id(prefix + _START), "start", prefix, frame=frame))
        for item in flow.nodes:
            self.place_node(item, f"{prefix}{item.id}", flow.fields, frame)
        if flow.finish is not None:
            self.nodes.append(DrawnNode(self.new_id(prefix + _OUT), "out", prefix, frame=frame))
        self.nodes.append(DrawnNode(self.new_id(prefix + _END), "end", prefix, frame=frame))

    def place_branches(self, item: NodeData, inner: BranchesData, prefix: str, fields: Fields, frame: str) -> None:
        self.nodes.append(DrawnNode(self.new_id(prefix + _START), "start", prefix, frame=frame))
        for branch in inner.nodes:
            self.place_node(branch, f"{prefix}{branch.id}", fields, frame)
        badge = join_words(item)
        self.nodes.append(DrawnNode(self.new_id(prefix + _END), "join", prefix, badge, frame=frame))

    def place_node(self, item: NodeData, path: str, fields: Fields, frame: str | None) -> None:
        id = self.new_id(path)
        if item.branches is not None:
            self.place_branches(item, item.branches, f"{path}/", fields, id)
        elif item.flow is not None:
            self.place(item.flow, f"{path}/", id)
        else:
            details = write_words(item, fields) if self.types else ()
            node = DrawnNode(id, "node", path, item.id, item.description, item.starts_round, frame, details)
            self.nodes.append(replace(node, waits=True) if item.waits else node)
            return
        words = (item.id, note_words(item), item.description)
        ends = (self.ids[f"{path}/{_START}"], self.ids[f"{path}/{_END}"])
        self.frames.append(DrawnFrame(id, item.kind, path, *words, *ends, frame))

    def connect(self, flow: FlowData, prefix: str) -> None:
        if flow.entry is not None:
            state = flow.state if self.types else ""
            self.add("start", self.ids[prefix + _START], self.ids[f"{prefix}{flow.entry}"], state)
        if flow.finish is not None:
            out, finish = self.ids[prefix + _OUT], self.ids[f"{prefix}{flow.finish}"]
            self.add("finish", out, finish, "out of budget")
        self.connect_nodes(flow, prefix, lambda item: "end" if item.completes else None)

    def connect_branches(self, inner: BranchesData, prefix: str) -> None:
        for branch in inner.starts:
            self.add("start", self.ids[prefix + _START], self.ids[f"{prefix}{branch}"])
        self.connect_nodes(inner, prefix, lambda item: "join" if item.continues else None)

    def connect_nodes(
        self, graph: GraphData, prefix: str, last: Callable[[NodeData], Literal["end", "join"] | None]
    ) -> None:
        routes = graph.routes_of()
        backward = _backward(graph, routes)
        for item in graph.nodes:
            source = self.ids[f"{prefix}{item.id}"]
            for route in routes[item.id]:
                turns = (item.id, route.target) in backward
                target = self.ids[f"{prefix}{route.target}"]
                self.add(route.kind, source, target, edge_words(route, item), route.default, turns)
            if (kind := last(item)) is not None:
                results = " | ".join(item.completes) if self.types else ""
                self.add(kind, source, self.ids[prefix + _END], results)
        for item in graph.nodes:
            if item.branches is not None:
                self.connect_branches(item.branches, f"{prefix}{item.id}/")
            elif item.flow is not None:
                self.connect(item.flow, f"{prefix}{item.id}/")

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


def _backward(graph: GraphData, routes: Mapping[str, Sequence[RouteData]]) -> set[tuple[str, str]]:
    """Return the pairs of nodes whose routes close a cycle, seen from the entry: depth first, in row order."""
    found: set[tuple[str, str]] = set()
    seen: set[str] = set()
    open_nodes: set[str] = set()
    for root in graph.nodes:
        if root.id in seen:
            continue
        seen.add(root.id)
        open_nodes.add(root.id)
        stack = [(root.id, iter(routes[root.id]))]
        while stack:
            id, ways = stack[-1]
            route = next(ways, None)
            if route is None:
                stack.pop()
                open_nodes.discard(id)
            elif route.target in open_nodes:
                found.add((id, route.target))
            elif route.target not in seen:
                seen.add(route.target)
                open_nodes.add(route.target)
                stack.append((route.target, iter(routes[route.target])))
    return found
