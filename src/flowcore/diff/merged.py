"""The merged drawing: two flows as one picture, with marks on what was added, removed and changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from ..recording import FlowData, NodeData
from ..render import Drawing, DrawnEdge, DrawnFrame, DrawnNode, Mark, draw
from .change import FlowDiff
from .matching import match

__all__ = ["merged_drawing"]

Item = DrawnNode | DrawnFrame
Place = tuple[str, str]
"""Where something stands: the path of a node or a frame; or that of a graph, and which of its dots it is."""


def merged_drawing(diff: FlowDiff) -> Drawing:
    """Return the drawing of the new flow, and in it all that only the old one has; what differs is marked."""
    old, new = draw(diff.old), draw(diff.new)
    merger = _Merger(new, {_place(item): item.id for item in _items(new)})
    merger.take_items(old, _Paths(diff.old, diff.new))
    merger.take_edges(old)
    notes: dict[str, list[str]] = {}
    for change in diff.changes:
        if change.kind == "changed" and change.what != "route":
            notes.setdefault(change.path, []).append(change.words)
    merger.mark_changed(notes)
    return replace(
        new,
        nodes=(*new.nodes, *merger.nodes),
        frames=(*new.frames, *merger.frames),
        edges=(*new.edges, *merger.edges),
        marks=merger.marks,
    )


def _items(drawing: Drawing) -> list[Item]:
    return [*drawing.nodes, *drawing.frames]


def _place(item: Item) -> Place:
    kind = "" if isinstance(item, DrawnFrame) or item.kind == "node" else item.kind
    return item.path, kind


class _Paths:
    """Today's paths of what stood in the old flow.

    What stood in a composite that is of another kind today has none: that composite is drawn as it is.
    """

    def __init__(self, old: FlowData, new: FlowData) -> None:
        self._today: dict[str, str] = {"": ""}
        for level in match(old, new).walk():
            for pair in level.nodes:
                if pair.old is None:
                    continue
                path, today = f"{level.prefix[0]}{pair.old.id}", f"{level.prefix[1]}{pair.id}"
                self._today[path] = today
                if pair.inside is not None:
                    self._today[f"{path}/"] = f"{today}/"
                elif pair.new is None:
                    self._today |= {below: f"{today}{below[len(path) :]}" for below in _inside(path, pair.old)}

    def of(self, item: Item) -> str | None:
        """Return today's path of something, or where it would stand."""
        return self._today.get(item.path)


def _inside(path: str, node: NodeData) -> Iterator[str]:
    """Yield every path inside a composite, with those of the graphs in it."""
    if node.inside is not None:
        yield f"{path}/"
        for below, inner in node.inside.walk(f"{path}/"):
            yield below
            if inner.inside is not None:
                yield f"{below}/"


@dataclass
class _Merger:
    """Adds the parts of the old drawing that the new one has not, under ids that are free."""

    new: Drawing
    places: Mapping[Place, str]
    ids: dict[str, str] = field(default_factory=dict)
    nodes: list[DrawnNode] = field(default_factory=list)
    frames: list[DrawnFrame] = field(default_factory=list)
    edges: list[DrawnEdge] = field(default_factory=list)
    marks: dict[str, Mark] = field(default_factory=dict)

    def take_items(self, old: Drawing, paths: _Paths) -> None:
        """Find what is in both; add what was removed, mark what was added."""
        gone: list[Item] = []
        free = len(self.places)
        for item in sorted(_items(old), key=lambda item: int(item.id[1:])):
            today = paths.of(item)
            if today is None:
                continue
            found = self.places.get((today, _place(item)[1]))
            if found is None:
                found = f"n{free}"
                free += 1
                gone.append(item)
                self.marks[found] = Mark("removed")
            self.ids[item.id] = found
        for item in gone:
            self._add(item)
        known = set(self.ids.values())
        added = [item.id for item in _items(self.new) if item.id not in known]
        self.marks |= {id: Mark("added") for id in added}

    def _add(self, item: Item) -> None:
        frame = None if item.frame is None else self.ids[item.frame]
        if isinstance(item, DrawnNode):
            self.nodes.append(replace(item, id=self.ids[item.id], frame=frame))
        else:
            ends = {"start": self.ids[item.start], "end": self.ids[item.end]}
            self.frames.append(replace(item, id=self.ids[item.id], frame=frame, **ends))

    def take_edges(self, old: Drawing) -> None:
        """Pair the edges that join the same: wholly alike first, then those whose words alone differ."""
        left = [
            replace(edge, source=self.ids[edge.source], target=self.ids[edge.target])
            for edge in old.edges
            if edge.source in self.ids and edge.target in self.ids
        ]
        fresh, left = _without(self.new.edges, left), _without(left, self.new.edges)
        reworded: dict[tuple[object, ...], list[DrawnEdge]] = {}
        for edge in left:
            reworded.setdefault(_ways(edge), []).append(edge)
        for edge in fresh:
            before = reworded.get(_ways(edge))
            self.marks[edge.id] = Mark("changed", f"was {before.pop(0).label}") if before else Mark("added")
        gone = chain.from_iterable(reworded.values())
        for number, edge in enumerate(gone, len(self.new.edges)):
            self.edges.append(replace(edge, id=f"e{number}"))
            self.marks[f"e{number}"] = Mark("removed")

    def mark_changed(self, notes: Mapping[str, list[str]]) -> None:
        """Mark the nodes and frames whose settings changed, with the changes in words."""
        for item in _items(self.new):
            if item.path in notes and not _place(item)[1]:
                self.marks[item.id] = Mark("changed", "; ".join(notes[item.path]))


def _alike(edge: DrawnEdge) -> tuple[object, ...]:
    return edge.kind, edge.source, edge.target, edge.label, edge.default


def _ways(edge: DrawnEdge) -> tuple[object, ...]:
    """Return what stays when an error route exempts another type, or a limit is another one."""
    label = edge.label.partition(" but ")[0] if edge.kind == "error" else ""
    return edge.kind, edge.source, edge.target, label if edge.kind != "label" else edge.label


def _without(edges: Iterable[DrawnEdge], others: Iterable[DrawnEdge]) -> list[DrawnEdge]:
    """Return the edges that have no like among the others, each of which stands for one."""
    counts = Counter(map(_alike, others))
    found: list[DrawnEdge] = []
    for edge in edges:
        counts[_alike(edge)] -= 1
        if counts[_alike(edge)] < 0:
            found.append(edge)
    return found
