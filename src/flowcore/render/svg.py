"""SVG: the drawing as a picture that follows the reader's light or dark theme and can be read aloud."""

from __future__ import annotations

from html import escape

from .colours import DARK, LIGHT, Palette
from .drawing import Drawing, DrawnEdge, DrawnFrame, DrawnNode
from .layout import Box, Curve, Layout, Point, lay_out
from .words import shown

__all__ = ["svg_of", "svg_text"]

_MARGIN = 14
_CORNER = 9
_RING = 3.5
_ARROW = 7.0
_COLOURED = {"error": "error", "over_limit": "limit", "finish": "limit"}
_SHEETS = (3.5, 7.0)
"""How far the sheets of a stack stand out from behind the frame of an each."""
_DOTS = {"start": {"dot": 0.0}, "end": {"ring": 0.0, "dot": 3.0}, "out": {"hollow": 0.5}}
"""The circles that a dot is made of, by how much they are smaller than its box."""
_DOT_WORDS = {"start": "start", "end": "end", "out": "out of budget"}


def svg_text(drawing: Drawing, direction: str) -> str:
    """Return the drawing as SVG. Raises `RenderError` when there is no layout engine."""
    return svg_of(drawing, lay_out(drawing, direction), f"<style>{_css()}</style>")


def svg_of(drawing: Drawing, layout: Layout, style: str = "") -> str:
    """Return the drawing as SVG where its layout is known; without a style, for a page that has its own."""
    width, height = (_number(side + 2 * _MARGIN) for side in (layout.width, layout.height))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" role="img" aria-labelledby="title desc">',
        f'<title id="title">{_text(drawing.name)}</title>',
        f'<desc id="desc">{_spoken(drawing)}</desc>',
        style,
        f'<rect class="panel" width="{width}" height="{height}" rx="{_CORNER}"/>',
        f'<g transform="translate({_MARGIN} {_MARGIN})">',
        *(_frame(frame, layout.boxes[frame.id]) for frame in drawing.frames),
        *(_edge(edge, layout.curves[edge.id]) for edge in drawing.edges),
        *(_node(node, layout.boxes[node.id]) for node in drawing.nodes),
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _css() -> str:
    return f"""
text {{ font: 13px Arial, Helvetica, "Liberation Sans", sans-serif; text-anchor: middle; }}
.small {{ font-size: 10px; }} .edge text {{ font-size: 11px; }}
.frame text {{ font-size: 12px; font-style: italic; text-anchor: start; }}
.edge path, .node rect, .ring, .hollow {{ fill: none; }}
.node rect {{ stroke-width: 1.4; }} .edge path {{ stroke-width: 1.3; }}
.frame rect, .sheet {{ fill: none; stroke-width: 1.2; }} .frame rect {{ stroke-dasharray: 1.5 3; }}
.frame .small {{ font-size: 10.5px; font-style: normal; }} .join text {{ font-size: 11px; }}
.error path {{ stroke-dasharray: 6 4; }}
.over_limit path, .finish path {{ stroke-dasharray: 1.5 3.5; stroke-width: 2; stroke-linecap: round; }}
{_theme(LIGHT)}
@media (prefers-color-scheme: dark) {{
{_theme(DARK)}
}}
"""


def _theme(palette: Palette) -> str:
    lines = [
        f".panel {{ fill: {palette.panel}; }} text {{ fill: {palette.text}; }}",
        f".node rect {{ fill: {palette.panel}; }} .node rect, .edge path, .ring {{ stroke: {palette.line}; }}",
        f".frame rect, .sheet {{ stroke: {palette.frame}; }} .frame text, .edge text, .small"
        f" {{ fill: {palette.soft_text}; }}",
        f".join rect {{ fill: {palette.line}; }} .join text {{ fill: {palette.panel}; }}",
        f".edge polygon, .dot {{ fill: {palette.line}; }} .hollow {{ stroke: {palette.limit}; }}",
    ]
    for kind, name in _COLOURED.items():
        colour = getattr(palette, name)
        lines.append(f".{kind} path {{ stroke: {colour}; }} .{kind} polygon, .{kind} text {{ fill: {colour}; }}")
    return "\n".join(lines)


def _frame(frame: DrawnFrame, box: Box) -> str:
    stack = ""
    if frame.kind == "each":
        front = _SHEETS[-1]
        middle = Point(box.middle.x - front / 2, box.middle.y - front / 2)
        box = Box(middle, box.width - front, box.height - front)
        stack = "".join(_sheet(box, out) for out in _SHEETS)
    left, top = box.middle.x - box.width / 2 + 10, box.middle.y - box.height / 2 + 17
    words = f'<text x="{_number(left)}" y="{_number(top)}">{_text(frame.label)}</text>'
    if frame.note:
        words += f'<text class="small" x="{_number(left)}" y="{_number(top + 14)}">{frame.note}</text>'
    return f'<g id="{frame.id}" class="frame {frame.kind}">{_title(frame)}{stack}{_rect(box)}{words}</g>'


def _sheet(box: Box, out: float) -> str:
    """Return what can be seen of a sheet behind a box: its lower and its right edge."""
    left, top = box.middle.x - box.width / 2, box.middle.y - box.height / 2
    right, low = left + box.width + out, top + box.height + out
    x, y, before, above = map(_number, (right, low, right - _CORNER, low - _CORNER))
    bend = f"H{before} Q{x} {y} {x} {above}"
    return f'<path class="sheet" d="M{_number(left + out)} {y} {bend} V{_number(top + out)}"/>'


def _node(node: DrawnNode, box: Box) -> str:
    x, y = map(_number, box.middle)
    if node.kind == "join":
        words = f'<text x="{x}" y="{_number(box.middle.y + 4)}">{_text(node.label)}</text>'
        return f'<g id="{node.id}" class="join"><title>join</title>{_rect(box, box.height / 2)}{words}</g>'
    if node.kind != "node":
        radius = min(box.width, box.height) / 2
        rings = {name: radius - less for name, less in _DOTS[node.kind].items()}
        circles = "".join(
            f'<circle class="{name}" cx="{x}" cy="{y}" r="{_number(ring)}"/>' for name, ring in rings.items()
        )
        return f'<g id="{node.id}" class="{node.kind}"><title>{_DOT_WORDS[node.kind]}</title>{circles}</g>'
    if not node.starts_round:
        baseline = _number(box.middle.y + 4.5)
        inner = f'{_rect(box)}<text x="{x}" y="{baseline}">{_text(node.label)}</text>'
        return f'<g id="{node.id}" class="node">{_title(node)}{inner}</g>'
    inside = Box(box.middle, box.width - 2 * _RING, box.height - 2 * _RING)
    words = (
        f'<text x="{x}" y="{_number(box.middle.y - 1)}">{_text(node.label)}</text>'
        f'<text class="small" x="{x}" y="{_number(box.middle.y + 12)}">starts round</text>'
    )
    return f'<g id="{node.id}" class="node round">{_title(node)}{_rect(box)}{_rect(inside)}{words}</g>'


def _edge(edge: DrawnEdge, curve: Curve) -> str:
    first, *rest = (f"{_number(point.x)} {_number(point.y)}" for point in curve.points)
    path = f'<path d="M{first} C{" ".join(rest)}"/>'
    words = ""
    if edge.label and curve.label is not None:
        x, y = _number(curve.label.x), _number(curve.label.y + 4)
        words = f'<text x="{x}" y="{y}">{_text(edge.label)}</text>'
    return f'<g id="{edge.id}" class="edge {edge.kind}">{path}{_arrow(curve)}{words}</g>'


def _arrow(curve: Curve) -> str:
    end, tip = curve.points[-1], curve.tip
    along = Point(tip.x - end.x, tip.y - end.y)
    length = (along.x**2 + along.y**2) ** 0.5 or 1
    across = Point(-along.y / length * _ARROW * 0.4, along.x / length * _ARROW * 0.4)
    corners = [tip, Point(end.x + across.x, end.y + across.y), Point(end.x - across.x, end.y - across.y)]
    return f'<polygon points="{" ".join(f"{_number(corner.x)},{_number(corner.y)}" for corner in corners)}"/>'


def _rect(box: Box, corner: float = _CORNER) -> str:
    left, top = box.middle.x - box.width / 2, box.middle.y - box.height / 2
    sides = zip(("x", "y", "width", "height"), (left, top, box.width, box.height), strict=True)
    return f'<rect {" ".join(f"{name}={_quoted(value)}" for name, value in sides)} rx="{_number(corner)}"/>'


def _title(item: DrawnNode | DrawnFrame) -> str:
    words = f"{shown(item.path)}: {shown(item.description)}" if item.description else shown(item.path)
    return f"<title>{escape(words)}</title>"


def _spoken(drawing: Drawing) -> str:
    """Return every route as a sentence, for who cannot see the picture."""
    names = {node.id: shown(node.path) for node in drawing.nodes}
    names |= {frame.id: shown(frame.path) for frame in drawing.frames}
    badges = {node.id: node.label for node in drawing.nodes if node.kind == "join"}
    frames = [f"{names[frame.id]} runs {frame.note}" for frame in drawing.frames if frame.note]
    sentences = [*(_sentence(edge, names, badges) for edge in drawing.edges), *frames]
    return escape(" ".join(f"{sentence}." for sentence in sentences))


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
