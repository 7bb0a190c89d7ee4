"""Shapes and texts of SVG, from which pictures and their legends are made."""

from __future__ import annotations

from html import escape
from math import dist

from .layout import Box, Curve, Point
from .words import shown

__all__ = ["CORNER", "arrow_of", "bar_of", "rect_of", "short", "text_of"]

CORNER = 9
"""The radius of the corners of a box."""
_ARROW = 7.0


def rect_of(box: Box, corner: float = CORNER) -> str:
    """Return a box with round corners."""
    left, top = box.middle.x - box.width / 2, box.middle.y - box.height / 2
    sides = zip(("x", "y", "width", "height"), (left, top, box.width, box.height), strict=True)
    places = " ".join(f'{name}="{short(value)}"' for name, value in sides)
    return f'<rect {places} rx="{short(corner)}"/>'


def bar_of(box: Box, inset: float = 6) -> str:
    """Return the bar at the left inside a box: a person is waited for."""
    left, top = box.middle.x - box.width / 2 + inset, box.middle.y - box.height / 2 + inset
    return f'<path class="dot" d="M{short(left)} {short(top)}h4v{short(box.height - 2 * inset)}h-4z"/>'


def arrow_of(curve: Curve, slope: float = 0.4) -> str:
    """Return the arrow at the end of a curve; its slope says how wide it is."""
    end, tip = curve.points[-1], curve.tip
    if dist(end, tip) < _ARROW / 2:  # an engine may leave no room at the border of a frame
        before = next((point for point in reversed(curve.points) if dist(point, tip) >= _ARROW), end)
        far = dist(before, tip) or 1
        end = Point(tip.x - (tip.x - before.x) * _ARROW / far, tip.y - (tip.y - before.y) * _ARROW / far)
    length = dist(end, tip) or 1
    across = Point((end.y - tip.y) / length * _ARROW * slope, (tip.x - end.x) / length * _ARROW * slope)
    corners = [tip, Point(end.x + across.x, end.y + across.y), Point(end.x - across.x, end.y - across.y)]
    return f'<polygon points="{" ".join(f"{short(corner.x)},{short(corner.y)}" for corner in corners)}"/>'


def text_of(words: str) -> str:
    """Return words as they stand in SVG."""
    return escape(shown(words))


def short(value: float) -> str:
    """Return a number as short as it can be."""
    return f"{value:.1f}".removesuffix(".0")
