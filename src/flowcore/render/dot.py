"""DOT: the drawing as text for Graphviz, and what pictures are laid out from.

A way to or from a composite is clipped at its frame; in the text it joins the dots inside, since DOT knows no
edge of a cluster.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

import graphviz  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]

from .colours import LIGHT, Palette
from .drawing import Drawing, DrawnEdge, DrawnFrame, DrawnNode, Mark
from .legend import entries_of
from .looks import LOOKS, edge_lines, note_lines, signed, small_lines
from .words import shown

__all__ = ["dot_text"]

_FRAME_STYLE = "rounded,dotted"


def dot_text(
    drawing: Drawing, direction: str, palette: Palette = LIGHT, badges: bool = False, legend: bool = False
) -> str:
    """Return the drawing in the DOT language.

    With `badges`, boxes leave the words ok, failed and retried to signs that are drawn on them later, and that
    they wait for a person to a bar.
    """
    return _Dot(drawing, palette, badges).text(direction, legend)


@dataclass(frozen=True, slots=True)
class _Dot:
    """Writes one drawing in the colours of one theme."""

    drawing: Drawing
    palette: Palette
    badges: bool

    def text(self, direction: str, legend: bool) -> str:
        colours = self.palette
        whole = {**_GRAPH, "bgcolor": colours.panel, "rankdir": direction, "tooltip": escaped(self.drawing.name)}
        if legend:
            words = [f"{entry.look}: {entry.meaning}" for entry in entries_of(self.drawing)]
            whole |= {"label": _lines(words, r"\l"), "labeljust": "l", "fontcolor": colours.soft_text}
        lines = {"color": colours.line, "fontcolor": colours.text}
        node_attr, edge_attr = {**_NODE, **lines}, {**_EDGE, **lines, "fontcolor": colours.soft_text}
        graph = graphviz.Digraph(graph_attr=whole, node_attr=node_attr, edge_attr=edge_attr)
        self.level(graph, self.drawing.levels(), None)
        frames = {frame.id: frame for frame in self.drawing.frames}
        for edge in self.drawing.edges:
            self.edge(graph, edge, frames)
        return str(graph.source)

    def level(
        self, graph: graphviz.Digraph, levels: dict[str | None, list[DrawnNode | DrawnFrame]], frame: str | None
    ) -> None:
        for item in levels.get(frame, []):
            if not isinstance(item, DrawnFrame):
                self.node(graph, item)
                continue
            inner = graphviz.Digraph(f"cluster_{item.id}", graph_attr=self.frame(item))
            self.level(inner, levels, item.id)
            graph.subgraph(inner)

    def frame(self, frame: DrawnFrame) -> dict[str, str]:
        mark, colours = self.drawing.marks.get(frame.id), self.palette
        lines = [signed(frame.label, mark)]
        lines += [frame.note] * bool(frame.note) + note_lines(mark, self.badges)
        own = {"id": frame.id, "label": _lines(lines, r"\l"), "tooltip": escaped(frame.path)}
        margin = {"margin": "14"} if frame.kind == "each" else {}  # for the stack behind it
        style = {"style": _FRAME_STYLE, "color": colours.frame, "fontcolor": colours.soft_text, "labeljust": "l"}
        if mark is not None:
            look = LOOKS[mark.kind]
            style |= {"style": f"rounded,{look.line or 'dotted'}", "color": getattr(colours, look.role)}
            style["penwidth"] = f"{look.width:g}"
        return {**style, **margin, **own}

    def node(self, graph: graphviz.Digraph, node: DrawnNode) -> None:
        mark = self.drawing.marks.get(node.id)
        if node.kind == "join":
            graph.node(node.id, _label(node.label), id=node.id, **(_JOIN | self.join(mark)))
        elif node.kind == "cut":
            graph.node(node.id, _label(node.label), id=node.id, shape="plaintext", fontsize="11", height="0.2")
        elif node.kind in ("node", "folded"):
            tooltip = escaped(f"{node.path}: {node.description}" if node.description else node.path)
            lines = [signed(node.label, mark)]
            lines += small_lines(node, mark, self.badges)
            style = {"peripheries": "2"} if node.starts_round else {}
            style |= {"style": _FRAME_STYLE} if node.kind == "folded" else {}
            style |= {"shape": "parallelogram"} if node.waits and not self.badges else {}
            style |= self.box(mark)
            graph.node(node.id, _lines(lines), id=node.id, tooltip=tooltip, **style)
        else:
            size = "0.1" if node.kind == "end" else "0.14"
            graph.node(node.id, "", id=node.id, width=size, height=size, **self.dot(node.kind, mark))

    def box(self, mark: Mark | None) -> dict[str, str]:
        if mark is None:
            return {}
        look, colours = LOOKS[mark.kind], self.palette
        return {
            "style": f"rounded,filled{',' * bool(look.line)}{look.line}",
            "color": getattr(colours, look.role),
            "fillcolor": getattr(colours, look.fill),
            "penwidth": f"{look.width:g}",
            **({"fontcolor": colours.soft_text} if mark.kind == "unused" else {}),
        }

    def join(self, mark: Mark | None) -> dict[str, str]:
        colours = self.palette
        if mark is None:
            return {"fillcolor": colours.line, "fontcolor": colours.panel}
        return {**self.box(mark), "style": "rounded,filled"}

    def dot(self, kind: str, mark: Mark | None) -> dict[str, str]:
        colours = self.palette
        line = colours.line if mark is None else getattr(colours, LOOKS[mark.kind].role)
        if kind == "out":
            return {"shape": "circle", "style": "dotted", "color": colours.limit if mark is None else line}
        shape = "circle" if kind == "start" else "doublecircle"
        return {"shape": shape, "style": "filled", "fillcolor": line} | ({} if mark is None else {"color": line})

    def edge(self, graph: graphviz.Digraph, edge: DrawnEdge, frames: dict[str, DrawnFrame]) -> None:
        source, target = self.drawing.anchors(edge)
        mark = self.drawing.marks.get(edge.id)
        style = self.line(edge, mark)
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
        label = _lines(edge_lines(edge.label, mark), pad="  ") or None
        graph.edge(source, target, label, id=edge.id, **{"class": edge.kind}, **style)

    def line(self, edge: DrawnEdge, mark: Mark | None) -> dict[str, str]:
        style: dict[str, str] = {}
        if edge.kind in _LINES:
            line, role, width = _LINES[edge.kind]
            colour = getattr(self.palette, role)
            style = {"style": line, "color": colour, "fontcolor": colour} | ({"penwidth": width} if width else {})
            style |= {"arrowhead": "none"} if edge.kind == "cut" else {}
        if mark is None:
            return style
        look = LOOKS[mark.kind]
        if mark.kind != "taken" or not style:
            style |= {"color": getattr(self.palette, look.role), "fontcolor": getattr(self.palette, look.text)}
        return style | {"penwidth": f"{look.width:g}"} | ({"style": look.line} if look.line else {})


_GRAPH = {
    "compound": "true",
    "newrank": "true",
    "fontname": "Arial",
    "fontsize": "12",
    "nodesep": "0.35",
    "ranksep": "0.45",
    "pad": "0.2",
}
_NODE = {
    "shape": "box",
    "style": "rounded",
    "fontname": "Arial",
    "fontsize": "13",
    "margin": "0.18,0.09",
    "height": "0.42",
    "penwidth": "1.3",
}
_EDGE = {"fontname": "Arial", "fontsize": "11", "penwidth": "1.2", "arrowsize": "0.75", "weight": "2"}
_JOIN = {
    "shape": "box",
    "style": "rounded,filled",
    "fontsize": "11",
    "margin": "0.1,0.02",
    "height": "0.24",
    "width": "0.4",
}
_LINES = {
    "error": ("dashed", "error", ""),
    "over_limit": ("dotted", "limit", "1.8"),
    "finish": ("dotted", "limit", "1.8"),
    "cut": ("dotted", "frame", ""),
}
"""The line of an edge by its kind, the role of its colour, and its width."""


def _lines(lines: Iterable[str], end: str = r"\n", pad: str = "") -> str:
    """Return lines as one label; `\\l` after each keeps them to the left."""
    texts = [f"{pad}{_label(line)}{pad}" for line in lines]
    left = end == r"\l" and len(texts) > 1
    return _literal(end.join(texts) + (end if left else ""))


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
