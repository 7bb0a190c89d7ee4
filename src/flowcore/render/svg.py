"""SVG: the drawing as a picture that follows the reader's light or dark theme and can be read aloud."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .drawing import Drawing, DrawnEdge, DrawnFrame, DrawnNode, Mark
from .key import Key, svg_key
from .layout import Box, Curve, Layout, Point, lay_out
from .looks import LOOKS, badge_words, edge_lines, mark_words, note_lines, signed, small_lines
from .shapes import CORNER, arrow_of, bar_of, rect_of, short, text_of
from .spoken import spoken
from .style import Theme, svg_style
from .words import shown

__all__ = ["svg_of", "svg_text"]

_MARGIN = 14
_RING = 3.5
_LINE = 13.0
_BADGE = 17.0
_SHEETS = (3.5, 7.0)
"""How far the sheets of a stack stand out from behind the frame of an each."""
_DOTS = {"start": {"dot": 0.0}, "end": {"ring": 0.0, "dot": 3.0}, "out": {"hollow": 0.5}}
"""The circles that a dot is made of, by how much they are smaller than its box."""
_DOT_WORDS = {"start": "start", "end": "end", "out": "out of budget"}


def svg_text(drawing: Drawing, direction: str, theme: Theme = "auto", legend: bool = False) -> str:
    """Return the drawing as SVG. Raises `RenderError` when there is no layout engine."""
    style = svg_style((mark.kind for mark in drawing.marks.values()), theme)
    return svg_of(drawing, lay_out(drawing, direction), f"<style>{style}</style>", legend)


def svg_of(drawing: Drawing, layout: Layout, style: str = "", legend: bool = False) -> str:
    """Return the drawing as SVG where its layout is known; without a style, for a page that has its own."""
    marks = drawing.marks
    key = svg_key(drawing, layout.width) if legend else Key("", 0, 0)
    width, height = max(layout.width, key.width) + 2 * _MARGIN, layout.height + key.height + 2 * _MARGIN
    size = f'width="{short(width)}" height="{short(height)}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {short(width)} {short(height)}" {size}'
        f' role="img" aria-labelledby="title desc">',
        f'<title id="title">{text_of(drawing.name)}</title>',
        f'<desc id="desc">{escape(spoken(drawing))}</desc>',
        style,
        f'<rect class="panel" {size} rx="{CORNER}"/>',
        f'<g transform="translate({_MARGIN} {_MARGIN})">',
        *(_frame(frame, layout.boxes[frame.id], marks.get(frame.id)) for frame in drawing.frames),
        *(_edge(edge, layout.curves[edge.id], marks.get(edge.id)) for edge in drawing.edges),
        *(_node(node, layout.boxes[node.id], marks.get(node.id)) for node in drawing.nodes),
        *([f'<g class="legend" transform="translate(0 {short(layout.height)})">{key.text}</g>'] * legend),
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _frame(frame: DrawnFrame, box: Box, mark: Mark | None) -> str:
    stack = ""
    if frame.kind == "each":
        front = _SHEETS[-1]
        middle = Point(box.middle.x - front / 2, box.middle.y - front / 2)
        box = Box(middle, box.width - front, box.height - front)
        stack = "".join(_sheet(box, out) for out in _SHEETS)
    left, top = box.middle.x - box.width / 2 + 10, box.middle.y - box.height / 2 + 17
    words = f'<text x="{short(left)}" y="{short(top)}">{text_of(signed(frame.label, mark))}</text>'
    for number, line in enumerate([*filter(None, [frame.note]), *note_lines(mark, badges=True)], 1):
        y = short(top + 14 * number)
        words += f'<text class="small" x="{short(left)}" y="{y}">{text_of(line)}</text>'
    name = f"frame {frame.kind}{_class(mark)}"
    shape = f"{stack}{rect_of(box)}{words}{_badge(box, mark)}"
    return f'<g id="{frame.id}" class="{name}">{_title(frame, mark)}{shape}</g>'


def _sheet(box: Box, out: float) -> str:
    """Return what can be seen of a sheet behind a box: its lower and its right edge."""
    left, top = box.middle.x - box.width / 2, box.middle.y - box.height / 2
    right, low = left + box.width + out, top + box.height + out
    x, y, before, above = map(short, (right, low, right - CORNER, low - CORNER))
    bend = f"H{before} Q{x} {y} {x} {above}"
    return f'<path class="sheet" d="M{short(left + out)} {y} {bend} V{short(top + out)}"/>'


def _node(node: DrawnNode, box: Box, mark: Mark | None) -> str:
    if node.kind in ("node", "folded"):
        return _box(node, box, mark)
    x, y = map(short, box.middle)
    name = f"{node.kind}{_class(mark)}"
    if node.kind == "cut":
        words = f'<text class="small" x="{x}" y="{short(box.middle.y + 3.5)}">{text_of(node.label)}</text>'
        return f'<g id="{node.id}" class="{name}"><title>routes that are not shown</title>{words}</g>'
    if node.kind == "join":
        words = f'<text x="{x}" y="{short(box.middle.y + 4)}">{text_of(node.label)}</text>'
        return f'<g id="{node.id}" class="{name}"><title>join</title>{rect_of(box, box.height / 2)}{words}</g>'
    radius = min(box.width, box.height) / 2
    rings = {name: radius - less for name, less in _DOTS[node.kind].items()}
    circles = "".join(
        f'<circle class="{name}" cx="{x}" cy="{y}" r="{short(ring)}"/>' for name, ring in rings.items()
    )
    return f'<g id="{node.id}" class="{name}"><title>{_DOT_WORDS[node.kind]}</title>{circles}</g>'


def _box(node: DrawnNode, box: Box, mark: Mark | None) -> str:
    rects = rect_of(box)
    lines = small_lines(node, mark, badges=True)
    if node.starts_round:
        rects += rect_of(Box(box.middle, box.width - 2 * _RING, box.height - 2 * _RING))
    if node.waits:
        rects += bar_of(box, 6 + _RING * node.starts_round)
    x, top = short(box.middle.x), box.middle.y - len(lines) * _LINE / 2 + 4.5
    words = f'<text x="{x}" y="{short(top)}">{text_of(signed(node.label, mark))}</text>'
    for number, line in enumerate(lines, 1):
        words += f'<text class="small" x="{x}" y="{short(top + _LINE * number)}">{text_of(line)}</text>'
    kind = " folded" if node.kind == "folded" else " round" if node.starts_round else ""
    name = f"node{kind}{_class(mark)}"
    return f'<g id="{node.id}" class="{name}">{_title(node, mark)}{rects}{words}{_badge(box, mark)}</g>'


def _badge(box: Box, mark: Mark | None) -> str:
    words = badge_words(mark)
    if not words:
        return ""
    width = max(_BADGE, 6.5 * len(words) + 8)
    middle = Point(box.middle.x + box.width / 2 + width / 2 - _BADGE * 0.75, box.middle.y - box.height / 2 + 1)
    text = f'<text x="{short(middle.x)}" y="{short(middle.y + 3.8)}">{text_of(words)}</text>'
    return f'<g class="badge">{rect_of(Box(middle, width, _BADGE), _BADGE / 2)}{text}</g>'


def _edge(edge: DrawnEdge, curve: Curve, mark: Mark | None) -> str:
    first, *rest = (f"{short(point.x)} {short(point.y)}" for point in curve.points)
    path = f'<path d="M{first} C{" ".join(rest)}"/>'
    words = "" if curve.label is None else _centred(edge_lines(edge.label, mark), curve.label)
    title = f"<title>{escape(mark_words(mark))}</title>" if mark is not None else ""
    wide = mark is not None and LOOKS[mark.kind].width > 2
    arrow = "" if edge.kind == "cut" else arrow_of(curve, 0.6 if wide else 0.4)
    name = f"edge {edge.kind}{_class(mark)}"
    return f'<g id="{edge.id}" class="{name}">{title}{path}{arrow}{words}</g>'


def _centred(lines: Sequence[str], middle: Point) -> str:
    x, top = short(middle.x), middle.y + 3 - (len(lines) - 1) * _LINE / 2
    texts = (
        f'<text x="{x}" y="{short(top + _LINE * number)}">{text_of(line)}</text>'
        for number, line in enumerate(lines)
    )
    return "".join(texts)


def _class(mark: Mark | None) -> str:
    return "" if mark is None else f" {mark.kind}"


def _title(item: DrawnNode | DrawnFrame, mark: Mark | None) -> str:
    words = f"{shown(item.path)}: {shown(item.description)}" if item.description else shown(item.path)
    return f"<title>{escape(words if mark is None else f'{words} - {mark_words(mark)}')}</title>"
