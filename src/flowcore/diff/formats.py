"""Formats: what a diff can be written as, by name."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import RenderError
from ..render import Direction, Drawing
from .change import FlowDiff
from .flow_text import flow_text
from .merged import merged_drawing
from .run_change import RunDiff
from .run_drawing import run_drawing
from .run_text import run_text

__all__ = ["DIFF_FORMATS", "render_diff"]

DIFF_FORMATS: Mapping[str, tuple[str, ...]] = {
    "text": (".txt", ".text"),
    "svg": (".svg",),
    "mermaid": (".mmd", ".mermaid"),
    "html": (".html", ".htm"),
}
"""Every format by its name, with the endings of its files. `svg` needs a layout engine."""


def render_diff(diff: FlowDiff | RunDiff, format: str, direction: Direction = "TB") -> str:
    """Return a diff as text, SVG, Mermaid or HTML.

    Two runs are drawn as the ways that they took through the flow; where their flows differ, as these.

    Raises:
        RenderError: The format is unknown; or it needs a layout engine, and there is none.
    """
    if format == "text":
        return flow_text(diff) if isinstance(diff, FlowDiff) else run_text(diff)
    if format == "html":
        return _page(diff, direction)
    # What draws is loaded only where something is drawn: the text needs none of it.
    if format == "svg":
        from ..render.svg import svg_text  # noqa: PLC0415 - see above

        return svg_text(_drawing(diff), direction)
    if format == "mermaid":
        from ..render.mermaid import mermaid_text  # noqa: PLC0415 - see above

        return mermaid_text(_drawing(diff), direction)
    raise RenderError(f"unknown format {format!r}: choose one of {', '.join(DIFF_FORMATS)}")


def _page(diff: FlowDiff | RunDiff, direction: Direction) -> str:
    if isinstance(diff, FlowDiff):
        from .page import flow_page  # noqa: PLC0415 - loads jinja2

        return flow_page(diff, direction)
    from ..render.page import run_page  # noqa: PLC0415 - loads jinja2

    return run_page(diff.new, compare=diff.old)


def _drawing(diff: FlowDiff | RunDiff) -> Drawing:
    if isinstance(diff, FlowDiff):
        return merged_drawing(diff)
    if diff.flows is not None:
        return merged_drawing(diff.flows)
    return run_drawing(diff)
