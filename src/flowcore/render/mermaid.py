"""Mermaid: the drawing as text that GitHub and many editors show as a picture."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .colours import DARK, LIGHT
from .drawing import Drawing, DrawnEdge, DrawnFrame, DrawnNode
from .words import shown

__all__ = ["mermaid_text"]

_ARROWS = {"error": "-.->", "over_limit": "==>", "finish": "==>"}
_SPECIAL = re.compile(r"(?<![^\W_])[_-]|[_-](?![^\W_])|^ | $|(?<= ) | (?= )|[^\w ,|-]")
"""What may mean something to Mermaid, or to the Markdown and HTML inside it: all but words in a row."""
_CLASSES = {
    "start_dot": f"fill:{LIGHT.line},stroke:{LIGHT.line}",
    "end_dot": f"fill:{LIGHT.line},stroke:{DARK.line},stroke-width:2px",
    "out_dot": f"fill:none,stroke:{LIGHT.limit},stroke-dasharray:2 3",
    "join": f"fill:{LIGHT.line},stroke:{LIGHT.line},color:{LIGHT.panel}",
    "frame": f"fill:none,stroke:{LIGHT.frame},stroke-dasharray:2 4",
}
_LIMIT = f"stroke:{LIGHT.limit},stroke-width:2px,stroke-dasharray:2 5"
_LINKS = {"error": f"stroke:{LIGHT.error}", "over_limit": _LIMIT, "finish": _LIMIT}


def mermaid_text(drawing: Drawing, direction: str) -> str:
    """Return the drawing as a Mermaid flowchart."""
    lines = [
        *_level(drawing.levels(), None, direction),
        *(_edge(drawing, edge) for edge in drawing.edges),
        *_styles(drawing),
    ]
    return "\n".join([f"flowchart {direction}", *(f"  {line}" for line in lines)]) + "\n"


def _level(
    levels: dict[str | None, list[DrawnNode | DrawnFrame]], frame: str | None, direction: str
) -> Iterator[str]:
    for item in levels[frame]:
        if isinstance(item, DrawnFrame):
            note = f" ({item.note})" if item.note else ""
            yield f'subgraph {item.id}["{_label(item.label)}{note}"]'
            yield f"  direction {direction}"
            yield from (f"  {line}" for line in _level(levels, item.id, direction))
            yield "end"
        else:
            yield f"{item.id}{_shape(item)}"


def _shape(node: DrawnNode) -> str:
    label = _label(node.label)
    if node.kind == "join":
        return f'(["{label}"])'
    if node.kind != "node":
        return '(((" ")))' if node.kind == "end" else '((" "))'
    return f'[["{label}<br>starts round"]]' if node.starts_round else f'("{label}")'


def _edge(drawing: Drawing, edge: DrawnEdge) -> str:
    source, target = drawing.anchors(edge)
    arrow = _ARROWS.get(edge.kind, "-->")
    words = f'|"{_label(edge.label)}"|' if edge.label else ""
    return f"{source} {arrow}{words} {target}"


def _styles(drawing: Drawing) -> Iterator[str]:
    dots = [(f"{node.kind}_dot", node.id) for node in drawing.nodes if node.kind not in ("node", "join")]
    joins = [("join", node.id) for node in drawing.nodes if node.kind == "join"]
    classed = [*dots, *joins, *(("frame", frame.id) for frame in drawing.frames)]
    for name, style in _CLASSES.items():
        if ids := [id for found, id in classed if found == name]:
            yield f"classDef {name} {style}"
            yield f"class {','.join(ids)} {name}"
    for kind, style in _LINKS.items():
        numbers = [str(number) for number, edge in enumerate(drawing.edges) if edge.kind == kind]
        if numbers:
            yield f"linkStyle {','.join(numbers)} {style}"


def _label(text: str) -> str:
    return _SPECIAL.sub(lambda match: f"#{ord(match[0])};", shown(text))
