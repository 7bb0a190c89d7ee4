"""SVG: the drawing as a picture that follows the reader's light or dark theme and can be read aloud."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .drawing import Drawing, DrawnEdge, DrawnFrame, DrawnNode, Mark
from .layout import Box, Curve, Layout, Point, lay_out
from .looks import LOOKS, badge_words, edge_lines, mark_words, note_lines, signed
from .style import Theme, svg_style
from .words import shown

__all__ = ["svg_of", "svg_text"]

_MARGIN = 14
_CORNER = 9
_RING = 3.5
_ARROW = 7.0
_LINE = 13.0
_BADGE = 17.0
_SHEETS = (3.5, 7.0)
"""How far the sheets of a stack stand out from behind the frame of an each."""
_DOTS = {"start": {"dot": 0.0}, "end": {"ring": 0.0, "dot": 3.0}, "out": {"hollow": 0.5}}
"""The circles that a dot is made of, by how much they are smaller than its box."""
_DOT_WORDS = {"start": "start", "end": "end", "out": "out of budget"}


def svg_text(drawing: Drawing, direction: str, theme: Theme = "auto") -> str:
    """Return the drawing as SVG. Raises `RenderError` when there is no layout engine."""
    style = svg_style((mark.kind for mark in drawing.marks.values()), theme)
    return svg_of(drawing, lay_out(drawing, direction), f"<style>{style}</style>")


def svg_of(drawing: Drawing, layout: Layout, style: str = "") -> str:
    """Return the drawing as SVG where its layout is known; without a style, for a page that has its own."""
    width, height = (_number(side + 2 * _MARGIN) for side in (layout.width, layout.height))
    marks = drawing.marks
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" role="img" aria-labelledby="title desc">',
        f'<title id="title">{_text(drawing.name)}</title>',
        f'<desc id="desc">{_spoken(drawing)}</desc>',
        style,
        f'<rect class="panel" width="{width}" height="{height}" rx="{_CORNER}"/>',
        f'<g transform="translate({_MARGIN} {_MARGIN})">',
        *(_frame(frame, layout.boxes[frame.id], marks.get(frame.id)) for frame in drawing.frames),
        *(_edge(edge, layout.curves[edge.id], marks.get(edge.id)) for edge in drawing.edges),
        *(_node(node, layout.boxes[node.id], marks.get(node.id)) for node in drawing.nodes),
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
    words = f'<text x="{_number(left)}" y="{_number(top)}">{_text(signed(frame.label, mark))}</text>'
    for number, line in enumerate([*filter(None, [frame.note]), *note_lines(mark, badges=True)], 1):
        y = _number(top + 14 * number)
        words += f'<text class="small" x="{_number(left)}" y="{y}">{_text(line)}</text>'
    name = f"frame {frame.kind}{_class(mark)}"
    return (
        f'<g id="{frame.id}" class="{name}">{_title(frame, mark)}{stack}{_rect(box)}{words}{_badge(box, mark)}</g>'
    )


def _sheet(box: Box, out: float) -> str:
    """Return what can be seen of a sheet behind a box: its lower and its right edge."""
    left, top = box.middle.x - box.width / 2, box.middle.y - box.height / 2
    right, low = left + box.width + out, top + box.height + out
    x, y, before, above = map(_number, (right, low, right - _CORNER, low - _CORNER))
    bend = f"H{before} Q{x} {y} {x} {above}"
    return f'<path class="sheet" d="M{_number(left + out)} {y} {bend} V{_number(top + out)}"/>'


def _node(node: DrawnNode, box: Box, mark: Mark | None) -> str:
    if node.kind == "node":
        return _box(node, box, mark)
    x, y = map(_number, box.middle)
    name = f"{node.kind}{_class(mark)}"
    if node.kind == "join":
        words = f'<text x="{x}" y="{_number(box.middle.y + 4)}">{_text(node.label)}</text>'
        return f'<g id="{node.id}" class="{name}"><title>join</title>{_rect(box, box.height / 2)}{words}</g>'
    radius = min(box.width, box.height) / 2
    rings = {name: radius - less for name, less in _DOTS[node.kind].items()}
    circles = "".join(
        f'<circle class="{name}" cx="{x}" cy="{y}" r="{_number(ring)}"/>' for name, ring in rings.items()
    )
    return f'<g id="{node.id}" class="{name}"><title>{_DOT_WORDS[node.kind]}</title>{circles}</g>'


def _box(node: DrawnNode, box: Box, mark: Mark | None) -> str:
    rects = _rect(box)
    lines = ["starts round"] * node.starts_round + note_lines(mark, badges=True)
    if node.starts_round:
        rects += _rect(Box(box.middle, box.width - 2 * _RING, box.height - 2 * _RING))
    x, top = _number(box.middle.x), box.middle.y - len(lines) * _LINE / 2 + 4.5
    words = f'<text x="{x}" y="{_number(top)}">{_text(signed(node.label, mark))}</text>'
    for number, line in enumerate(lines, 1):
        words += f'<text class="small" x="{x}" y="{_number(top + _LINE * number)}">{_text(line)}</text>'
    name = f"node{' round' if node.starts_round else ''}{_class(mark)}"
    return f'<g id="{node.id}" class="{name}">{_title(node, mark)}{rects}{words}{_badge(box, mark)}</g>'


def _badge(box: Box, mark: Mark | None) -> str:
    words = badge_words(mark)
    if not words:
        return ""
    width = max(_BADGE, 6.5 * len(words) + 8)
    middle = Point(box.middle.x + box.width / 2 + width / 2 - _BADGE * 0.75, box.middle.y - box.height / 2 + 1)
    text = f'<text x="{_number(middle.x)}" y="{_number(middle.y + 3.8)}">{_text(words)}</text>'
    return f'<g class="badge">{_rect(Box(middle, width, _BADGE), _BADGE / 2)}{text}</g>'


def _edge(edge: DrawnEdge, curve: Curve, mark: Mark | None) -> str:
    first, *rest = (f"{_number(point.x)} {_number(point.y)}" for point in curve.points)
    path = f'<path d="M{first} C{" ".join(rest)}"/>'
    words = "" if curve.label is None else _centred(edge_lines(edge.label, mark), curve.label)
    title = f"<title>{escape(mark_words(mark))}</title>" if mark is not None else ""
    wide = mark is not None and LOOKS[mark.kind].width > 2
    name = f"edge {edge.kind}{_class(mark)}"
    return f'<g id="{edge.id}" class="{name}">{title}{path}{_arrow(curve, 0.6 if wide else 0.4)}{words}</g>'


def _centred(lines: Sequence[str], middle: Point) -> str:
    x, top = _number(middle.x), middle.y + 4 - (len(lines) - 1) * _LINE / 2
    texts = (
        f'<text x="{x}" y="{_number(top + _LINE * number)}">{_text(line)}</text>'
        for number, line in enumerate(lines)
    )
    return "".join(texts)


def _arrow(curve: Curve, slope: float) -> str:
    end, tip = curve.points[-1], curve.tip
    along = Point(tip.x - end.x, tip.y - end.y)
    length = (along.x**2 + along.y**2) ** 0.5 or 1
    across = Point(-along.y / length * _ARROW * slope, along.x / length * _ARROW * slope)
    corners = [tip, Point(end.x + across.x, end.y + across.y), Point(end.x - across.x, end.y - across.y)]
    return f'<polygon points="{" ".join(f"{_number(corner.x)},{_number(corner.y)}" for corner in corners)}"/>'


def _rect(box: Box, corner: float = _CORNER) -> str:
    left, top = box.middle.x - box.width / 2, box.middle.y - box.height / 2
    sides = zip(("x", "y", "width", "height"), (left, top, box.width, box.height), strict=True)
    return f'<rect {" ".join(f"{name}={_quoted(value)}" for name, value in sides)} rx="{_number(corner)}"/>'


def _class(mark: Mark | None) -> str:
    return "" if mark is None else f" {mark.kind}"


def _title(item: DrawnNode | DrawnFrame, mark: Mark | None) -> str:
    words = f"{shown(item.path)}: {shown(item.description)}" if item.description else shown(item.path)
    return f"<title>{escape(words if mark is None else f'{words} - {mark_words(mark)}')}</title>"


def _spoken(drawing: Drawing) -> str:
    """Return every route as a sentence, for who cannot see the picture."""
    names = {node.id: shown(node.path) for node in drawing.nodes}
    names |= {frame.id: shown(frame.path) for frame in drawing.frames}
    badges = {node.id: node.label for node in drawing.nodes if node.kind == "join"}
    frames = [f"{names[frame.id]} runs {frame.note}" for frame in drawing.frames if frame.note]
    marks = {id: mark_words(mark) for id, mark in drawing.marks.items()}
    ways = [f"{_sentence(edge, names, badges)}{_aside(marks.get(edge.id))}" for edge in drawing.edges]
    marked = [f"{names[item.id]}: {marks[item.id]}" for item in _boxes(drawing) if item.id in marks]
    sentences = [*ways, *frames, *marked]
    return escape(" ".join(f"{sentence}." for sentence in sentences))


def _boxes(drawing: Drawing) -> list[DrawnNode | DrawnFrame]:
    return [*(node for node in drawing.nodes if node.kind == "node"), *drawing.frames]


def _aside(words: str | None) -> str:
    return "" if words is None else f" - {words}"


def _sentence(edge: DrawnEdge, names: dict[str, str], badges: dict[str, str]) -> str:
    source, target = names[edge.source], names[edge.target]
    if edge.kind == "start":
        flow = source.rstrip("/")
        return f"{flow} starts with {target}" if flow else f"It starts with {target}"
    if edge.kind == "finish":
        return f"Out of budget, {source.rstrip('/') or 'it'} goes on with {target}"
    if edge.kind == "end":
        return f"{source} may complete"
    if edge.kind == "join":
        return f"{source} joins {target.rstrip('/')} ({badges[edge.target]})"
    words = {"label": f" on {shown(edge.label)}", "error": f" on error ({shown(edge.label)})"}
    reason = words.get(edge.kind, f" {shown(edge.label)}" if edge.label else "")
    return f"{source} leads to {target}{reason}"


def _text(text: str) -> str:
    return escape(shown(text))


def _quoted(value: float) -> str:
    return f'"{_number(value)}"'


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
