"""Mermaid: the drawing as text that GitHub and many editors show as a picture."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .colours import LIGHT
from .drawing import Drawing, DrawnEdge, DrawnFrame, DrawnNode
from .words import shown

__all__ = ["mermaid_text"]

_ARROWS = {"error": "-.->", "over_limit": "==>"}
_SPECIAL = re.compile(r"(?<![^\W_])[_ -]|[_ -](?![^\W_])|[^\w -]")
"""What may mean something to Mermaid, or to the Markdown and HTML inside it: all but words."""
_STYLES = (
    f"classDef dot fill:{LIGHT.line},stroke:{LIGHT.line}",
    f"classDef frame fill:none,stroke:{LIGHT.frame},stroke-dasharray:2 4",
)


def mermaid_text(drawing: Drawing, direction: str) -> str:
    """Return the drawing as a Mermaid flowchart."""
    levels = drawing.levels()
    lines = [f"flowchart {direction}", *_level(levels, None, "  ")]
    lines += [f"  {_edge(drawing, edge)}" for edge in drawing.edges]
    dots = ",".join(node.id for node in drawing.nodes if node.kind != "node")
    lines += [f"  {style}" for style in _STYLES]
    lines.append(f"  class {dots} dot")
    if drawing.frames:
        lines.append(f"  class {','.join(frame.id for frame in drawing.frames)} frame")
    lines += [f"  {style}" for style in _link_styles(drawing)]
    return "\n".join(lines) + "\n"


def _level(
    levels: dict[str | None, list[DrawnNode | DrawnFrame]], frame: str | None, indent: str
) -> Iterator[str]:
    for item in levels[frame]:
        if isinstance(item, DrawnFrame):
            yield f'{indent}subgraph {item.id}["{_label(item.label)}"]'
            yield from _level(levels, item.id, f"{indent}  ")
            yield f"{indent}end"
        else:
            yield f"{indent}{item.id}{_shape(item)}"


def _shape(node: DrawnNode) -> str:
    if node.kind == "start":
        return '((" "))'
    if node.kind == "end":
        return '(((" ")))'
    label = _label(node.label)
    return f'[["{label}<br>starts round"]]' if node.starts_round else f'("{label}")'


def _edge(drawing: Drawing, edge: DrawnEdge) -> str:
    source, target = drawing.anchors(edge)
    arrow = _ARROWS.get(edge.kind, "-->")
    words = f'|"{_label(edge.label)}"|' if edge.label else ""
    return f"{source} {arrow}{words} {target}"


def _link_styles(drawing: Drawing) -> Iterator[str]:
    for kind, colour in (("error", LIGHT.error), ("over_limit", LIGHT.limit)):
        numbers = [str(number) for number, edge in enumerate(drawing.edges) if edge.kind == kind]
        if numbers:
            yield f"linkStyle {','.join(numbers)} stroke:{colour}"


def _label(text: str) -> str:
    return _SPECIAL.sub(lambda match: f"#{ord(match[0])};", shown(text))
