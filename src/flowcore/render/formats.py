"""Formats: what a flow can be drawn as, by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, overload

from ..errors import RenderError
from ..graph import plan_data
from .dot import dot_text
from .drawing import Drawable, draw
from .mermaid import mermaid_text
from .png import png_bytes
from .svg import svg_text

__all__ = ["FORMATS", "Direction", "Format", "render"]

Direction = Literal["TB", "LR"]
"""Which way a picture runs: from top to bottom, or from left to right."""


@dataclass(frozen=True, slots=True)
class Format:
    """One format: the endings of its files, and what makes it of a flow and a direction."""

    suffixes: tuple[str, ...]
    make: Callable[[Drawable, Direction], str | bytes]


def _json_text(flow: Drawable, direction: Direction) -> str:
    return json.dumps(plan_data(flow.plan), indent=2, ensure_ascii=False) + "\n"


FORMATS: Mapping[str, Format] = {
    "mermaid": Format((".mmd", ".mermaid"), lambda flow, direction: mermaid_text(draw(flow), direction)),
    "dot": Format((".dot", ".gv"), lambda flow, direction: dot_text(draw(flow), direction)),
    "json": Format((".json",), _json_text),
    "svg": Format((".svg",), lambda flow, direction: svg_text(draw(flow), direction)),
    "png": Format((".png",), lambda flow, direction: png_bytes(draw(flow), direction)),
}
"""Every format by its name. `svg` and `png` need a layout engine."""


@overload
def render(
    flow: Drawable, format: Literal["mermaid", "dot", "json", "svg"], direction: Direction = "TB"
) -> str: ...
@overload
def render(flow: Drawable, format: Literal["png"], direction: Direction = "TB") -> bytes: ...
@overload
def render(flow: Drawable, format: str, direction: Direction = "TB") -> str | bytes: ...
def render(flow: Drawable, format: str, direction: Direction = "TB") -> str | bytes:
    """Draw a flow: exactly the nodes and routes that it declares.

    Args:
        flow: The flow.
        format: `mermaid`, `dot`, `json`, `svg` or `png`.
        direction: Which way the picture runs: `TB` from top to bottom, `LR` from left to right. JSON is the
            declared flow as data, and has no direction.

    Raises:
        RenderError: The format is unknown; or SVG or PNG is wanted and there is no layout engine.
    """
    if format not in FORMATS:
        raise RenderError(f"unknown format {format!r}: choose one of {', '.join(FORMATS)}")
    return FORMATS[format].make(flow, direction)
