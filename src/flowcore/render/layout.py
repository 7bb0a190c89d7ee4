"""The layout: where everything of a drawing stands, in points from the upper left corner."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from .dot import dot_text
from .drawing import Drawing
from .effort import engine_options
from .engine import find_engine, run_engine

__all__ = ["Box", "Curve", "Layout", "Point", "lay_out"]

_POINTS_PER_INCH = 72
_LIFT = 3.0
"""How far a label is lifted off its way where ways run from left to right: engines leave no room there."""


class Point(NamedTuple):
    """A place in the picture."""

    x: float
    y: float


class Box(NamedTuple):
    """A rectangle by its middle and its size."""

    middle: Point
    width: float
    height: float


class Curve(NamedTuple):
    """A way as Bézier points, the tip of its arrow, and the middle of its label."""

    points: tuple[Point, ...]
    tip: Point
    label: Point | None


@dataclass(frozen=True, slots=True)
class Layout:
    """The size of a picture, the boxes of its nodes and frames and the curves of its edges by id."""

    width: float
    height: float
    boxes: dict[str, Box]
    curves: dict[str, Curve]


def lay_out(drawing: Drawing, direction: str) -> Layout:
    """Lay a drawing out. Raises `RenderError` when there is no layout engine."""
    return _laid_out(find_engine(), dot_text(drawing, direction, badges=True), engine_options(drawing))


@lru_cache(maxsize=8)  # many runs of one flow are shown one after the other
def _laid_out(engine: Path, dot: str, options: tuple[str, ...]) -> Layout:
    found = json.loads(run_engine(dot, "-Tjson0", *options, engine=engine))
    left, low, right, high = map(float, found["bb"].split(","))
    sheet = _Sheet(left, high, _LIFT if found.get("rankdir") == "LR" else 0.0)
    boxes = dict(sheet.box(item) for item in found["objects"])
    curves = {item["id"]: sheet.curve(item) for item in found["edges"]}
    return Layout(right - left, high - low, boxes, curves)


class _Sheet:
    """Turns what the engine says, which counts from the lower left corner."""

    def __init__(self, left: float, high: float, lift: float) -> None:
        self.left = left
        self.high = high
        self.lift = lift

    def point(self, text: str) -> Point:
        x, y = map(float, text.split(","))
        return Point(x - self.left, self.high - y)

    def box(self, item: dict[str, Any]) -> tuple[str, Box]:
        if "bb" not in item:
            size = (float(item[side]) * _POINTS_PER_INCH for side in ("width", "height"))
            return item["name"], Box(self.point(item["pos"]), *size)
        left, low, right, high = map(float, item["bb"].split(","))
        middle = self.point(f"{(left + right) / 2},{(low + high) / 2}")
        return item["id"], Box(middle, right - left, high - low)

    def curve(self, item: dict[str, Any]) -> Curve:
        ends = {word[0]: self.point(word[2:]) for word in item["pos"].split() if word[0] in "se"}
        points = tuple(self.point(word) for word in item["pos"].split() if word[0] not in "se")
        label = None
        if "lp" in item:
            middle = self.point(item["lp"])
            label = Point(middle.x, middle.y - self.lift)
        if item.get("dir") == "back":
            return Curve(points[::-1], ends.get("s", points[0]), label)
        return Curve(points, ends.get("e", points[-1]), label)
