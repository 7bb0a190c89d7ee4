"""The legend: what stands in a picture, each kind once, and what it means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .drawing import Drawing, MarkKind
from .looks import LOOKS

__all__ = ["Entry", "entries_of"]


class Entry(NamedTuple):
    """One kind of thing in a picture: a box or a way (`edge`), how it looks in words, and what it means."""

    edge: bool
    kind: str
    look: str
    meaning: str


_BOXES = (
    Entry(False, "start", "dot", "start"),
    Entry(False, "end", "ringed dot", "may complete"),
    Entry(False, "out", "hollow dot", "out of budget"),
    Entry(False, "round", "double border", "starts a round"),
    Entry(False, "waits", "bar at left, or slanted", "waits for a person"),
    Entry(False, "folded", "dotted box", "composite, closed"),
    Entry(False, "frame", "dotted frame", "composite, open"),
    Entry(False, "join", "filled badge", "branches waited for"),
)
_WAYS = (
    Entry(True, "next", "solid line", "route"),
    Entry(True, "error", "dashed line", "error route"),
    Entry(True, "over_limit", "dotted line", "route at a limit"),
    Entry(True, "cut", "short line", "routes not shown"),
)
_SAME = {"label": "next", "start": "next", "end": "next", "join": "next", "finish": "over_limit"}
"""Kinds of edges that look like another one."""
_LOOKS: Mapping[MarkKind, str] = {
    "added": "thick, with +",
    "removed": "thick and dashed, with -",
    "changed": "thick, with ~",
    "ok": "coloured box",
    "failed": "box with a dashed border",
    "retried": "coloured box",
    "unused": "thin, pale",
    "taken": "thick line",
    "other": "thick dotted line",
}


def entries_of(drawing: Drawing) -> list[Entry]:
    """Return the kinds of things that occur in a drawing, in a fixed order."""
    return list(_entries(drawing))


def _entries(drawing: Drawing) -> Iterator[Entry]:
    boxes = {node.kind for node in drawing.nodes} | {"frame" for _ in drawing.frames}
    boxes |= {"round" for node in drawing.nodes if node.starts_round}
    boxes |= {"waits" for node in drawing.nodes if node.waits}
    ways = {_SAME.get(edge.kind, edge.kind) for edge in drawing.edges}
    yield from (entry for entry in _BOXES if entry.kind in boxes)
    yield from (entry for entry in _WAYS if entry.kind in ways)
    edges = {edge.id for edge in drawing.edges}
    marked = {(mark.kind, id in edges) for id, mark in drawing.marks.items()}
    for kind, look in LOOKS.items():
        if (kind, False) in marked or (kind, True) in marked:
            yield Entry((kind, False) not in marked, kind, _LOOKS[kind], look.word)
