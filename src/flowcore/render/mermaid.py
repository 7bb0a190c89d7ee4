"""Mermaid: the drawing as text that GitHub and many editors show as a picture."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from .colours import DARK, LIGHT, Palette
from .drawing import Drawing, DrawnEdge, DrawnFrame, DrawnNode, Mark, MarkKind
from .looks import LOOKS, edge_lines, note_lines, signed, small_lines
from .words import shown

__all__ = ["mermaid_text"]

_ARROWS = {"error": "-.->", "over_limit": "==>", "finish": "==>", "cut": "-.-"}
_SPECIAL = re.compile(r"(?<![^\W_])[_-]|[_-](?![^\W_])|^ | $|(?<= ) | (?= )|[^\w ,|-]")
"""What may mean something to Mermaid, or to the Markdown and HTML inside it: all but words in a row."""
_DASHES = {"dashed": "6 4", "dotted": "2 5", "": "0"}


def mermaid_text(drawing: Drawing, direction: str, palette: Palette = LIGHT) -> str:
    """Return the drawing as a Mermaid flowchart."""
    lines = [
        *_level(drawing, drawing.levels(), None, direction),
        *(_edge(drawing, edge) for edge in drawing.edges),
        *_classes(drawing, palette),
        *_links(drawing, palette),
    ]
    return "\n".join([f"flowchart {direction}", *(f"  {line}" for line in lines)]) + "\n"


def _level(
    drawing: Drawing, levels: dict[str | None, list[DrawnNode | DrawnFrame]], frame: str | None, direction: str
) -> Iterator[str]:
    for item in levels.get(frame, []):
        mark = drawing.marks.get(item.id)
        if isinstance(item, DrawnFrame):
            aside = "; ".join(filter(None, (item.note, _label(" ".join(note_lines(mark))))))
            label = _label(signed(item.label, mark, badges=False))
            yield f'subgraph {item.id}["{label}{f" ({aside})" if aside else ""}"]'
            yield f"  direction {direction}"
            yield from (f"  {line}" for line in _level(drawing, levels, item.id, direction))
            yield "end"
        else:
            yield f"{item.id}{_shape(item, mark)}"


def _shape(node: DrawnNode, mark: Mark | None) -> str:
    if node.kind == "join":
        return f'(["{_label(node.label)}"])'
    if node.kind == "cut":
        return f'["{_label(node.label)}"]'
    if node.kind not in ("node", "folded"):
        return '(((" ")))' if node.kind == "end" else '((" "))'
    label = _label(signed(node.label, mark, badges=False))
    words = f"{label}{_under(small_lines(node, mark))}"
    if node.waits:
        return f'[/"{words}"/]'
    return f'[["{words}"]]' if node.starts_round else f'("{words}")'


def _edge(drawing: Drawing, edge: DrawnEdge) -> str:
    source, target = drawing.anchors(edge)
    mark = drawing.marks.get(edge.id)
    arrow = _ARROWS.get(edge.kind, "-->")
    lines = edge_lines(edge.label, mark)
    words = f'|"{"<br>".join(map(_label, lines))}"|' if lines else ""
    return f"{source} {arrow}{words} {target}"


def _classes(drawing: Drawing, palette: Palette) -> Iterator[str]:
    dots = [(f"{node.kind}_dot", node.id) for node in drawing.nodes if node.kind in ("start", "end", "out")]
    joins = [(node.kind, node.id) for node in drawing.nodes if node.kind in ("join", "folded", "cut")]
    frames = [("frame", frame.id) for frame in drawing.frames]
    yield from _grouped([*dots, *joins, *frames], _styles(palette))
    boxes = {node.id for node in drawing.nodes if node.kind in ("node", "folded", "join")}
    around = {frame.id for frame in drawing.frames}
    marked = [(mark.kind, id) for id, mark in drawing.marks.items() if id in boxes]
    framed = [(f"{mark.kind}_frame", id) for id, mark in drawing.marks.items() if id in around]
    yield from _grouped(marked, {kind: _box_style(kind, palette) for kind in LOOKS})
    yield from _grouped(framed, {f"{kind}_frame": _frame_style(kind, palette) for kind in LOOKS})


def _grouped(classed: Iterable[tuple[str, str]], styles: Mapping[str, str]) -> Iterator[str]:
    for name, style in styles.items():
        if ids := [id for found, id in classed if found == name]:
            yield f"classDef {name} {style}"
            yield f"class {','.join(ids)} {name}"


def _styles(palette: Palette) -> dict[str, str]:
    line, ring = palette.line, (DARK if palette is LIGHT else LIGHT).line
    return {
        "start_dot": f"fill:{line},stroke:{line}",
        "end_dot": f"fill:{line},stroke:{ring},stroke-width:2px",
        "out_dot": f"fill:none,stroke:{palette.limit},stroke-dasharray:2 3",
        "join": f"fill:{line},stroke:{line},color:{palette.panel}",
        "folded": f"stroke:{palette.frame},stroke-dasharray:2 4",
        "cut": "fill:none,stroke:none",
        "frame": f"fill:none,stroke:{palette.frame},stroke-dasharray:2 4",
    }


def _box_style(kind: MarkKind, palette: Palette) -> str:
    look = LOOKS[kind]
    text = palette.soft_text if kind == "unused" else palette.text
    line = f"stroke:{getattr(palette, look.role)},stroke-width:{look.width:g}px"
    dashes = f",stroke-dasharray:{_DASHES[look.line]}" if look.line else ""
    return f"fill:{getattr(palette, look.fill)},{line},color:{text}{dashes}"


def _frame_style(kind: MarkKind, palette: Palette) -> str:
    look = LOOKS[kind]
    dashes = _DASHES[look.line or "dotted"]
    stroke = f"stroke:{getattr(palette, look.role)},stroke-width:{look.width:g}px"
    return f"fill:none,{stroke},stroke-dasharray:{dashes}"


def _links(drawing: Drawing, palette: Palette) -> Iterator[str]:
    """Yield the styles of edges. Of several for one edge Mermaid heeds the last: each has one."""
    numbers: dict[str, list[str]] = {}
    for number, edge in enumerate(drawing.edges):
        if style := _link_style(edge, drawing.marks.get(edge.id), palette):
            numbers.setdefault(style, []).append(str(number))
    for style, found in sorted(numbers.items(), key=lambda item: int(item[1][0])):
        yield f"linkStyle {','.join(found)} {style}"


def _link_style(edge: DrawnEdge, mark: Mark | None, palette: Palette) -> str:
    style: dict[str, str] = {}
    if edge.kind == "error":
        style = {"stroke": palette.error}
    elif edge.kind == "cut":
        style = {"stroke": palette.frame}
    elif edge.kind in _ARROWS:
        style = {"stroke": palette.limit, "stroke-width": "2px", "stroke-dasharray": _DASHES["dotted"]}
    if mark is not None:
        look = LOOKS[mark.kind]
        if mark.kind != "taken" or not style:
            style["stroke"] = getattr(palette, look.role)
        style["stroke-width"] = f"{look.width:g}px"
        if look.line:
            style["stroke-dasharray"] = _DASHES[look.line]
    return ",".join(f"{name}:{value}" for name, value in style.items())


def _under(lines: Iterable[str]) -> str:
    return "".join(f"<br>{_label(line)}" for line in lines)


def _label(text: str) -> str:
    return _SPECIAL.sub(lambda match: f"#{ord(match[0])};", shown(text))
