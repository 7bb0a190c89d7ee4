"""PNG: the drawing as pixels, never more of them than a machine can bear."""

from __future__ import annotations

import math

from ..errors import RenderError
from .colours import LIGHT, Palette
from .dot import dot_text
from .drawing import Drawing
from .effort import engine_options
from .engine import run_engine
from .layout import lay_out

__all__ = ["png_bytes"]

_MOST_NODES = 300
_MOST_PIXELS = 12_000_000
_DPI = 144
_POINTS_PER_INCH = 72


def png_bytes(drawing: Drawing, direction: str, palette: Palette = LIGHT, legend: bool = False) -> bytes:
    """Return the drawing as PNG; a large one in fewer dots an inch.

    Raises `RenderError` above 300 nodes, and when there is no layout engine.
    """
    count = sum(node.kind in ("node", "folded") for node in drawing.nodes)
    if count > _MOST_NODES:
        raise RenderError(
            f"a PNG of {count} nodes cannot be read ({_MOST_NODES} at most): draw it as SVG, which can be zoomed,"
            " or less of it, with --depth 1 or --focus NODE"
        )
    layout = lay_out(drawing, direction)
    inches = layout.width * layout.height / _POINTS_PER_INCH**2
    dpi = min(_DPI, math.floor(math.sqrt(_MOST_PIXELS / inches)))
    options = ("-Tpng", f"-Gdpi={max(dpi, 1)}", *engine_options(drawing))
    return run_engine(dot_text(drawing, direction, palette, legend=legend), *options)
