"""Formats: what a flow can be drawn as, by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, overload

from ..errors import RenderError
from ..graph import plan_data
from ..recording import FlowData
from .dot import dot_text
from .drawing import Drawable, Drawing, draw
from .mermaid import mermaid_text
from .png import png_bytes
from .style import THEMES, Theme
from .svg import svg_text
from .view import collapsed, focused

__all__ = ["FORMATS", "Direction", "Format", "Source", "View", "render"]

Direction = Literal["TB", "LR"]
"""Which way a picture runs: from top to bottom, or from left to right."""

Source = Drawable | FlowData | Drawing
"""What can be drawn: a flow, a flow as data, or a drawing that is made already, with marks perhaps."""


@dataclass(frozen=True, slots=True)
class View:
    """How a flow is looked at: which way, how much of it, and what is said besides."""

    direction: Direction = "TB"
    depth: int | None = None
    focus: str | None = None
    hops: int = 1
    types: bool = False
    theme: Theme = "auto"
    legend: bool = False

    def of(self, source: Source) -> Drawing:
        """Return what is seen. Raises `RenderError` where that is nothing."""
        if isinstance(source, Drawing):
            if self.types:
                raise RenderError("this is drawn already: the types are a matter of `draw(flow, types=True)`")
            drawing = source
        else:
            drawing = draw(source, self.types)
        if self.depth is not None:
            drawing = collapsed(drawing, self.depth)
        return drawing if self.focus is None else focused(drawing, self.focus, self.hops)


@dataclass(frozen=True, slots=True)
class Format:
    """One format: the endings of its files, and what makes it of a source and a view."""

    suffixes: tuple[str, ...]
    make: Callable[[Source, View], str | bytes]


def _json_text(source: Source, view: View) -> str:
    if view != replace(View(), direction=view.direction, theme=view.theme) or isinstance(source, Drawing):
        raise RenderError("JSON is the whole declared flow: parts, types, marks and legends are for pictures")
    if isinstance(source, FlowData):
        data = source.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    else:
        data = plan_data(source.plan)
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _mermaid(source: Source, view: View) -> str:
    if view.legend:
        raise RenderError("Mermaid text has no place for a legend: draw it as SVG, PNG or DOT")
    return mermaid_text(view.of(source), view.direction, THEMES[view.theme])


def _dot(source: Source, view: View) -> str:
    return dot_text(view.of(source), view.direction, THEMES[view.theme], legend=view.legend)


def _svg(source: Source, view: View) -> str:
    return svg_text(view.of(source), view.direction, view.theme, view.legend)


def _png(source: Source, view: View) -> bytes:
    return png_bytes(view.of(source), view.direction, THEMES[view.theme], view.legend)


FORMATS: Mapping[str, Format] = {
    "mermaid": Format((".mmd", ".mermaid"), _mermaid),
    "dot": Format((".dot", ".gv"), _dot),
    "json": Format((".json",), _json_text),
    "svg": Format((".svg",), _svg),
    "png": Format((".png",), _png),
}
"""Every format by its name. `svg` and `png` need a layout engine."""

Text = Literal["mermaid", "dot", "json", "svg"]


@overload
def render(
    flow: Source,
    format: Text,
    direction: Direction = "TB",
    *,
    depth: int | None = None,
    focus: str | None = None,
    hops: int = 1,
    types: bool = False,
    theme: Theme = "auto",
    legend: bool = False,
) -> str: ...
@overload
def render(
    flow: Source,
    format: Literal["png"],
    direction: Direction = "TB",
    *,
    depth: int | None = None,
    focus: str | None = None,
    hops: int = 1,
    types: bool = False,
    theme: Theme = "auto",
    legend: bool = False,
) -> bytes: ...
@overload
def render(
    flow: Source,
    format: str,
    direction: Direction = "TB",
    *,
    depth: int | None = None,
    focus: str | None = None,
    hops: int = 1,
    types: bool = False,
    theme: Theme = "auto",
    legend: bool = False,
) -> str | bytes: ...
def render(
    flow: Source,
    format: str,
    direction: Direction = "TB",
    *,
    depth: int | None = None,
    focus: str | None = None,
    hops: int = 1,
    types: bool = False,
    theme: Theme = "auto",
    legend: bool = False,
) -> str | bytes:
    """Draw a flow: exactly the nodes and routes that it declares.

    Args:
        flow: The flow; or a drawing of it, with marks of your own.
        format: `mermaid`, `dot`, `json`, `svg` or `png`.
        direction: Which way the picture runs: `TB` from top to bottom, `LR` from left to right. JSON is the
            declared flow as data, and has no direction.
        depth: How many levels of composites stay open; 1 is the flow with all of them closed.
        focus: The path of a node: draw what is near it, and say how many routes are cut off.
        hops: How many routes to follow from the focus, in each direction.
        types: Name the types of states and results, and the fields that nodes declare to write.
        theme: `light`, `dark`, or `auto`: as the reader likes where a format can tell (SVG), else light.
        legend: Say below the picture what its lines and boxes mean.

    Raises:
        RenderError: The format is unknown, or has no place for what is asked; there is no such node or depth; or
            SVG or PNG is wanted and there is no layout engine, or the flow is too large for one.
    """
    if format not in FORMATS:
        raise RenderError(f"unknown format {format!r}: choose one of {', '.join(FORMATS)}")
    return FORMATS[format].make(flow, View(direction, depth, focus, hops, types, theme, legend))
