"""Views: a part of a drawing, or less of it. What is left has the ids that it had; routes are as declared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from itertools import count

from ..errors import RenderError
from .drawing import Drawing, DrawnEdge, DrawnFrame, DrawnNode
from .words import shown

__all__ = ["collapsed", "focused"]

_MOST_NAMES = 5


def collapsed(drawing: Drawing, depth: int) -> Drawing:
    """Return a drawing whose composites below a depth are closed: boxes that say what is inside.

    Args:
        drawing: The drawing.
        depth: How many levels stay open. 1 is the flow alone, 2 also what stands in its composites.

    Raises:
        RenderError: The depth is less than 1.
    """
    if depth < 1:
        raise RenderError(f"a depth of {depth} shows nothing: 1 is the flow with its composites closed")
    frames = {frame.id: frame for frame in drawing.frames}
    closed = {frame.id for frame in drawing.frames if len(_around(frame, frames)) >= depth - 1}
    return _closed(drawing, closed)


def focused(drawing: Drawing, path: str, hops: int) -> Drawing:
    """Return a node or composite with what leads to it and what it leads to, inside its composites.

    Other composites are closed. Routes that are cut off end at a stub that says how many they are.

    Args:
        drawing: The drawing.
        path: The path of the node: `answer`, or `answer/repair` inside a sub-flow.
        hops: How many routes to follow in each direction.

    Raises:
        RenderError: There is no such node, or `hops` is negative.
    """
    if hops < 0:
        raise RenderError(f"{hops} hops show nothing: 0 is the node alone")
    item = _named(drawing, path)
    frames = {frame.id: frame for frame in drawing.frames}
    around = _around(item, frames)
    inside = {id for id in frames if item.id in _around(frames[id], frames)} | {item.id} & set(frames)
    drawing = _closed(drawing, set(frames) - set(around) - inside)
    reached = _reached(drawing, item, hops)
    own = {node.id for node in drawing.nodes if node.frame in inside}
    edges = [edge for edge in drawing.edges if {edge.source, edge.target} <= reached | own | inside]
    anchors = {dot for id in reached & set(frames) for dot in (frames[id].start, frames[id].end)}
    nodes = [node for node in drawing.nodes if node.id in reached | own | anchors]
    kept = [frame for frame in drawing.frames if frame.id in {*around, *inside}]
    stubs, ways = _stubs(drawing, reached - own, edges)
    return _only(drawing, [*nodes, *stubs], kept, [*edges, *ways])


def _around(item: DrawnNode | DrawnFrame, frames: Mapping[str, DrawnFrame]) -> list[str]:
    """Return the ids of the frames around something, the innermost first."""
    found: list[str] = []
    while item.frame is not None:
        found.append(item.frame)
        item = frames[item.frame]
    return found


def _closed(drawing: Drawing, closed: Collection[str]) -> Drawing:
    """Return a drawing in which these frames are boxes, and what stands inside them is not drawn."""
    frames = {frame.id: frame for frame in drawing.frames}
    hidden = {item.id for item in drawing.items() if set(_around(item, frames)) & set(closed)}
    boxes = [_box(drawing, frames[id], frames) for id in closed if id not in hidden]
    return _only(
        drawing,
        [*(node for node in drawing.nodes if node.id not in hidden), *boxes],
        [frame for frame in drawing.frames if frame.id not in hidden and frame.id not in closed],
        [edge for edge in drawing.edges if not {edge.source, edge.target} & hidden],
    )


def _box(drawing: Drawing, frame: DrawnFrame, frames: Mapping[str, DrawnFrame]) -> DrawnNode:
    inside = [node for node in drawing.nodes if node.kind in ("node", "folded")]
    number = sum(frame.id in _around(node, frames) for node in inside)
    joins = [node.label for node in drawing.nodes if node.id == frame.end and node.kind == "join"]
    how = " ".join([frame.note or "sub-flow", *(f"({join})" for join in joins)])
    words = (how, f"{number} node{'' if number == 1 else 's'} inside")
    return DrawnNode(frame.id, "folded", frame.path, frame.label, frame.description, False, frame.frame, words)


def _only(
    drawing: Drawing,
    nodes: Collection[DrawnNode],
    frames: Collection[DrawnFrame],
    edges: Collection[DrawnEdge],
) -> Drawing:
    ids = {node.id for node in nodes} | {frame.id for frame in frames} | {edge.id for edge in edges}
    marks = {id: mark for id, mark in drawing.marks.items() if id in ids}
    ordered = sorted(nodes, key=lambda node: int(node.id[1:]))
    return replace(drawing, nodes=tuple(ordered), frames=tuple(frames), edges=tuple(edges), marks=marks)


def _named(drawing: Drawing, path: str) -> DrawnNode | DrawnFrame:
    items = {item.path: item for item in drawing.nodes if item.kind in ("node", "folded")}
    found: dict[str, DrawnNode | DrawnFrame] = {**items, **{frame.path: frame for frame in drawing.frames}}
    if path in found:
        return found[path]
    for item in items.values():
        if item.kind == "folded" and path.startswith(f"{item.path}/"):
            raise RenderError(
                f"{shown(path)} stands inside {shown(item.path)}, which the depth closes: allow more"
            )
    near = get_close_matches(path, found, _MOST_NAMES, 0.4) or sorted(found)[:_MOST_NAMES]
    names = ", ".join(map(shown, near))
    raise RenderError(f"there is no node {shown(path)!r} in {shown(drawing.name)}: name one by its path ({names})")


def _reached(drawing: Drawing, item: DrawnNode | DrawnFrame, hops: int) -> set[str]:
    """Return the ids of all within so many routes of something, forward or backward."""
    forward: dict[str, set[str]] = {}
    backward: dict[str, set[str]] = {}
    for edge in drawing.edges:
        forward.setdefault(edge.source, set()).add(edge.target)
        backward.setdefault(edge.target, set()).add(edge.source)
    out = {node.id: node.frame for node in drawing.nodes if node.kind in ("end", "join")}
    into = {node.id: node.frame for node in drawing.nodes if node.kind in ("start", "out")}
    return _within(item.id, hops, forward, out) | _within(item.id, hops, backward, into)


def _within(id: str, hops: int, ways: Mapping[str, Collection[str]], doors: Mapping[str, str | None]) -> set[str]:
    """Return what is within so many ways. At a dot where a frame begins or ends, the frame is there, too."""
    found, edge = {id}, {id}
    for _ in range(hops):
        edge = {target for source in edge for target in ways.get(source, ())} - found
        for target in list(edge):
            while (frame := doors.get(target)) is not None:
                edge.add(frame)
                target = frame
        if edge <= found:
            break
        found |= edge
    return found


def _stubs(
    drawing: Drawing, reached: Collection[str], edges: Collection[DrawnEdge]
) -> tuple[list[DrawnNode], list[DrawnEdge]]:
    """Return what stands for the ways that are cut off, by the node that they leave or lead to."""
    kept = {edge.id for edge in edges}
    cut = [edge for edge in drawing.edges if edge.id not in kept]
    into, out = Counter(edge.target for edge in cut), Counter(edge.source for edge in cut)
    items = {item.id: item for item in drawing.items()}
    numbers, ways = _free(items), _free(edge.id for edge in drawing.edges)
    nodes: list[DrawnNode] = []
    drawn: list[DrawnEdge] = []
    for id in sorted(reached, key=lambda id: int(id[1:])):
        for leaves, number in ((False, into[id]), (True, out[id])):
            if number:
                item, stub = items[id], f"n{next(numbers)}"
                nodes.append(DrawnNode(stub, "cut", f"{item.path}#more", f"{number} more", frame=item.frame))
                ends = (id, stub) if leaves else (stub, id)
                drawn.append(DrawnEdge(f"e{next(ways)}", "cut", *ends))
    return nodes, drawn


def _free(ids: Collection[str] | Iterator[str]) -> Iterator[int]:
    return count(max((int(id[1:]) for id in ids), default=-1) + 1)
