"""DOT: the drawing as text for Graphviz, and what pictures are laid out from.

A way to or from a composite is clipped at its frame; in the text it joins the dots inside, since DOT knows no
edge of a cluster.
"""

from __future__ import annotations

import unicodedata

import graphviz  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]

from .colours import LIGHT
from .drawing import Drawing, DrawnEdge, DrawnFrame, DrawnNode
from .words import shown

__all__ = ["dot_text"]

_GRAPH = {
    "compound": "true",
    "newrank": "true",
    "fontname": "Arial",
    "fontsize": "12",
    "nodesep": "0.35",
    "ranksep": "0.45",
    "pad": "0.2",
    "bgcolor": LIGHT.panel,
}
_NODE = {
    "shape": "box",
    "style": "rounded",
    "fontname": "Arial",
    "fontsize": "13",
    "margin": "0.18,0.09",
    "height": "0.42",
    "color": LIGHT.line,
    "fontcolor": LIGHT.text,
    "penwidth": "1.3",
}
_EDGE = {
    "fontname": "Arial",
    "fontsize": "11",
    "color": LIGHT.line,
    "fontcolor": LIGHT.soft_text,
    "penwidth": "1.2",
    "arrowsize": "0.75",
    "weight": "2",
}
_FRAME = {"style": "rounded,dotted", "color": LIGHT.frame, "fontcolor": LIGHT.soft_text, "labeljust": "l"}
_DOTS = {
    "start": {"shape": "circle", "style": "filled", "fillcolor": LIGHT.line},
    "end": {"shape": "doublecircle", "style": "filled", "fillcolor": LIGHT.line},
    "out": {"shape": "circle", "style": "dotted", "color": LIGHT.limit},
}
_JOIN = {
    "shape": "box",
    "style": "rounded,filled",
    "fontsize": "11",
    "fontcolor": LIGHT.panel,
    "fillcolor": LIGHT.line,
    "margin": "0.1,0.02",
    "height": "0.24",
    "width": "0.4",
}
_LIMIT = {"style": "dotted", "penwidth": "1.8", "color": LIGHT.limit, "fontcolor": LIGHT.limit}
_LINES = {
    "error": {"style": "dashed", "color": LIGHT.error, "fontcolor": LIGHT.error},
    "over_limit": _LIMIT,
    "finish": _LIMIT,
}


def dot_text(drawing: Drawing, direction: str) -> str:
    """Return the drawing in the DOT language."""
    whole = {**_GRAPH, "rankdir": direction, "tooltip": escaped(drawing.name)}
    graph = graphviz.Digraph(graph_attr=whole, node_attr=_NODE, edge_attr=_EDGE)
    _level(graph, drawing.levels(), None)
    frames = {frame.id: frame for frame in drawing.frames}
    for edge in drawing.edges:
        _edge(graph, drawing, edge, frames)
    return str(graph.source)


def _level(
    graph: graphviz.Digraph, levels: dict[str | None, list[DrawnNode | DrawnFrame]], frame: str | None
) -> None:
    for item in levels[frame]:
        if isinstance(item, DrawnFrame):
            own = {"id": item.id, "label": _frame_label(item), "tooltip": escaped(item.path)}
            margin = {"margin": "14"} if item.kind == "each" else {}  # for the stack behind it
            inner = graphviz.Digraph(f"cluster_{item.id}", graph_attr={**_FRAME, **margin, **own})
            _level(inner, levels, item.id)
            graph.subgraph(inner)
        elif item.kind == "node":
            _node(graph, item)
        elif item.kind == "join":
            graph.node(item.id, _label(item.label), id=item.id, **_JOIN)
        else:
            size = "0.1" if item.kind == "end" else "0.14"
            graph.node(item.id, "", id=item.id, width=size, height=size, **_DOTS[item.kind])


def _node(graph: graphviz.Digraph, node: DrawnNode) -> None:
    tooltip = escaped(f"{node.path}: {node.description}" if node.description else node.path)
    if node.starts_round:
        label, style = _literal(rf"{_label(node.label)}\nstarts round"), {"peripheries": "2"}
    else:
        label, style = _label(node.label), {}
    graph.node(node.id, label, id=node.id, tooltip=tooltip, **style)


def _edge(graph: graphviz.Digraph, drawing: Drawing, edge: DrawnEdge, frames: dict[str, DrawnFrame]) -> None:
    source, target = drawing.anchors(edge)
    style = dict(_LINES.get(edge.kind, {}))
    if edge.backward and source != target:
        source, target = target, source  # engines keep both ways of a loop apart if both lead down
        style["dir"], style["weight"] = "back", "1"
    if source in frames:
        style["ltail"] = f"cluster_{source}"
        source = frames[source].end
    if target in frames:
        style["lhead"] = f"cluster_{target}"
        style["minlen"] = "2"  # room for the arrow above the label of the frame
        target = frames[target].start
    if edge.kind == "start":
        style["weight"] = "6"  # branches begin side by side
    label = _literal(f"  {_label(edge.label)}  ") if edge.label else None
    graph.edge(source, target, label, id=edge.id, **{"class": edge.kind}, **style)


def _frame_label(frame: DrawnFrame) -> str:
    label = _label(frame.label)
    return _literal(rf"{label}\l{frame.note}\l") if frame.note else label


def _label(text: str) -> str:
    """Return a label as text that is as wide as it looks: engines take wide characters for narrow ones."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in shown(text))
    return _literal(escaped(text) + " " * wide)


def escaped(text: str) -> str:
    """Return text that means itself in DOT: no HTML, no escapes, no entities."""
    return _literal(graphviz.escape(shown(text).replace("&", "&amp;")))


def _literal(text: str) -> str:
    marked: str = graphviz.nohtml(text)
    return marked
