"""The style of SVG: line, shape and colour of each class, in one theme or in the one that the reader likes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from .colours import DARK, LIGHT, Palette
from .drawing import MarkKind
from .looks import LOOKS

__all__ = ["THEMES", "Theme", "svg_style"]

Theme = Literal["auto", "light", "dark"]
"""The colours of a picture: those that the reader likes, where a format can tell, or always the same."""

THEMES: dict[Theme, Palette] = {"auto": LIGHT, "light": LIGHT, "dark": DARK}
"""The colours by theme, for formats that cannot tell what the reader likes."""

_COLOURED = {"error": "error", "over_limit": "limit", "finish": "limit"}
_PLAIN = "".join(f":not(.{kind})" for kind in _COLOURED)
_DASHES = {"dashed": "6 4", "dotted": "1.5 3.5"}
_SHAPES = """
text { font: 13px Arial, Helvetica, "Liberation Sans", sans-serif; text-anchor: middle; }
.small { font-size: 10px; }
.edge text { font-size: 11px; paint-order: stroke; stroke-width: 3px; stroke-linejoin: round; }
.frame text { font-size: 12px; font-style: italic; text-anchor: start; }
.edge path, .node rect, .ring, .hollow { fill: none; }
.node rect { stroke-width: 1.4; } .edge path { stroke-width: 1.3; }
.frame rect, .sheet { fill: none; stroke-width: 1.2; } .frame rect { stroke-dasharray: 1.5 3; }
.frame .small { font-size: 10.5px; font-style: normal; } .join text { font-size: 11px; }
.folded > rect, .cut path { stroke-dasharray: 1.5 3; } .folded > text, .cut text { font-style: italic; }
.folded > .small { font-style: normal; }
.key rect { fill: none; } .legend > text { text-anchor: start; }
.error path { stroke-dasharray: 6 4; }
.over_limit path, .finish path { stroke-dasharray: 1.5 3.5; stroke-width: 2; stroke-linecap: round; }
"""
_BADGE = (
    ".badge rect { stroke-width: 1.4; stroke-dasharray: none; } .badge text { font-size: 10.5px; }\n"
    ".frame .badge text { text-anchor: middle; font-style: normal; }\n"
)


def svg_style(marks: Iterable[MarkKind] = (), theme: Theme = "auto") -> str:
    """Return the style sheet of a picture with these kinds of marks."""
    found = set(marks)
    kinds: list[MarkKind] = [kind for kind in LOOKS if kind in found]
    colours = _colours(THEMES[theme], kinds)
    if theme == "auto":
        colours += f"\n@media (prefers-color-scheme: dark) {{\n{_colours(DARK, kinds)}\n}}"
    badge = _BADGE if any(LOOKS[kind].badge for kind in kinds) else ""
    return f"{_SHAPES}{badge}{''.join(map(_mark_shape, kinds))}{colours}\n"


def _colours(palette: Palette, kinds: Iterable[MarkKind]) -> str:
    lines = [
        f".panel {{ fill: {palette.panel}; }} .edge text {{ stroke: {palette.panel}; }}"
        f" text {{ fill: {palette.text}; }}",
        f".node rect {{ fill: {palette.panel}; }} .node rect, .edge path, .ring {{ stroke: {palette.line}; }}",
        f".frame rect, .sheet, .key rect {{ stroke: {palette.frame}; }} .frame text, .edge text, .small"
        f" {{ fill: {palette.soft_text}; }}",
        f".join rect {{ fill: {palette.line}; }} .join text {{ fill: {palette.panel}; }}",
        f".edge polygon, .dot {{ fill: {palette.line}; }} .hollow {{ stroke: {palette.limit}; }}",
    ]
    for kind, name in _COLOURED.items():
        colour = getattr(palette, name)
        lines.append(f".{kind} path {{ stroke: {colour}; }} .{kind} polygon, .{kind} text {{ fill: {colour}; }}")
    return "\n".join([*lines, *(_mark_colours(kind, palette) for kind in kinds)])


def _mark_shape(kind: MarkKind) -> str:
    look = LOOKS[kind]
    dashes = f" stroke-dasharray: {_DASHES[look.line]};" if look.line else ""
    parts = ", ".join(f".{part}.{kind} > {shape}" for part, shape in _LINES)
    return f"{parts} {{ stroke-width: {look.width:g};{dashes} }}\n"


_LINES = (("node", "rect"), ("join", "rect"), ("frame", "rect"), ("edge", "path"))


def _mark_colours(kind: MarkKind, palette: Palette) -> str:
    look = LOOKS[kind]
    line, fill, text = (getattr(palette, role) for role in (look.role, look.fill, look.text))
    inside = palette.soft_text if kind == "unused" else palette.text
    edge = f".edge.{kind}{_PLAIN if kind == 'taken' else ''}"
    boxes, dots = f".node.{kind} > rect, .join.{kind} > rect", f".{kind} > .ring, .{kind} > .hollow"
    return "\n".join(
        [
            f"{boxes} {{ stroke: {line}; fill: {fill}; }} .node.{kind} > rect + rect {{ fill: none; }}",
            f".frame.{kind} > rect, .frame.{kind} > .sheet, {dots} {{ stroke: {line}; }}",
            f".node.{kind} > text, .join.{kind} > text {{ fill: {inside}; }} .{kind} > .dot {{ fill: {line}; }}",
            f"{edge} path {{ stroke: {line}; }} {edge} polygon {{ fill: {line}; }}",
            f"{edge} text {{ fill: {text}; }}",
            f".{kind} .badge rect {{ stroke: {line}; fill: {palette.panel}; }}"
            f" .{kind} .badge text {{ fill: {line}; }}"
            if look.badge
            else "",
        ]
    ).rstrip()
