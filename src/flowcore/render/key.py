"""The legend of an SVG picture: a small box of samples below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .drawing import Drawing
from .layout import Box, Curve, Point
from .legend import Entry, entries_of
from .looks import LOOKS
from .shapes import arrow_of, bar_of, rect_of, short

__all__ = ["Key", "svg_key"]

_SIGNS: Mapping[str, str] = {kind: look.sign for kind, look in LOOKS.items()}
_ROW = 22.0
_SAMPLE = 34.0
_LETTER = 5.0
_GAP = 14.0
_NARROWEST = 180.0


class Key(NamedTuple):
    """A legend as SVG, and the room that it takes."""

    text: str
    width: float
    height: float


def svg_key(drawing: Drawing, width: float) -> Key:
    """Return the legend of a drawing, in as many columns as fit below a picture of this width."""
    entries = entries_of(drawing)
    rows = _rows(entries, max(width, _NARROWEST))
    columns = [entries[first : first + rows] for first in range(0, len(entries), rows)]
    parts: list[str] = []
    left = _GAP
    for column in columns:
        for place, entry in enumerate(column):
            middle = _GAP + _ROW * place + _ROW / 2
            words = f'<text class="small" x="{short(left + _SAMPLE + 8)}" y="{short(middle + 3.5)}">'
            parts.append(f"{_sample(entry, left, middle)}{words}{entry.meaning}</text>")
        left += _width(column)
    height = min(rows, len(entries)) * _ROW + _GAP
    box = rect_of(Box(Point(left / 2, _GAP / 2 + height / 2), left, height))
    return Key(f'<g class="key">{box}</g>{"".join(parts)}', left, height + _GAP / 2)


def _rows(entries: Sequence[Entry], width: float) -> int:
    """Return in how many rows the entries fit into a width; one column where they do not."""
    for rows in range(1, len(entries)):
        columns = [entries[first : first + rows] for first in range(0, len(entries), rows)]
        if sum(map(_width, columns)) + _GAP <= width:
            return rows
    return max(len(entries), 1)


def _width(column: Sequence[Entry]) -> float:
    return _SAMPLE + 2 * _GAP + max(len(entry.meaning) for entry in column) * _LETTER


def _sample(entry: Entry, left: float, y: float) -> str:
    if entry.edge:
        right = left + _SAMPLE
        points = tuple(Point(x, y) for x in (left, left, right - 7, right - 7))
        head = "" if entry.kind == "cut" else arrow_of(Curve(points, Point(right, y), None))
        kind = f"next {entry.kind}" if entry.kind in _SIGNS else entry.kind
        path = f'<path d="M{short(left)} {short(y)} H{short(right - 7)}"/>'
        return f'<g class="edge {kind}">{path}{head}</g>'
    middle = Point(left + _SAMPLE / 2, y)
    if entry.kind in ("start", "end", "out"):
        rings = {"start": {"dot": 5.0}, "end": {"ring": 6.0, "dot": 3.5}, "out": {"hollow": 5.0}}[entry.kind]
        circles = (
            f'<circle class="{name}" cx="{short(middle.x)}" cy="{short(y)}" r="{radius:g}"/>'
            for name, radius in rings.items()
        )
        return f'<g class="{entry.kind}">{"".join(circles)}</g>'
    box = Box(middle, _SAMPLE, 15)
    if entry.kind == "join":
        return f'<g class="join">{rect_of(box, 7.5)}</g>'
    if entry.kind == "frame":
        return f'<g class="frame">{rect_of(box, 5)}</g>'
    inner = rect_of(Box(middle, _SAMPLE - 5, 10), 3) if entry.kind == "round" else ""
    inner += bar_of(box, 3) if entry.kind == "waits" else ""
    sign = _SIGNS.get(entry.kind, "")
    words = f'<text x="{short(middle.x)}" y="{short(y + 4.5)}">{sign}</text>' if sign else ""
    return f'<g class="node {entry.kind}">{rect_of(box, 5)}{inner}{words}</g>'
