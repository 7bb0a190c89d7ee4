"""The page: a flow diff as one HTML file, with the picture of both flows and the changes. It runs no script."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from ..errors import RenderError
from ..render import visible
from ..render.drawing import Drawing
from ..render.layout import lay_out
from ..render.shell import page_text, read_text, themed
from ..render.style import svg_style
from ..render.svg import svg_of
from .change import FlowChange, FlowDiff
from .flow_text import SIGNS, change_place, count_words, flow_summary, verdict_words
from .merged import merged_drawing

__all__ = ["flow_page"]

_HERE = "flowcore.diff"


def flow_page(diff: FlowDiff, direction: str) -> str:
    """Return a flow diff as one HTML page that needs no other file and no network.

    Without a layout engine the page says so in place of the picture.
    """
    drawing = merged_drawing(diff)
    svg = svg_style(mark.kind for mark in drawing.marks.values())
    words = {
        **_picture(drawing, direction),
        "summary": flow_summary(diff),
        "name": diff.new.name,
        "count": count_words(diff),
        "verdict": verdict_words(diff),
        "breaking": bool(diff.breaking),
        "changes": [_row(change) for change in diff.changes],
    }
    style = themed("\n".join([svg, read_text(_HERE, "page.css")]))
    return page_text(read_text(_HERE, "page.html.j2"), style, words)


def _row(change: FlowChange) -> dict[str, str]:
    return {
        "kind": change.kind,
        "sign": SIGNS[change.kind],
        "place": change_place(change),
        "words": visible(change.words),
        "breaks": change.breaks,
    }


def _picture(drawing: Drawing, direction: str) -> dict[str, Any]:
    """Return the picture, or why there is none."""
    try:
        return {"picture": Markup(svg_of(drawing, lay_out(drawing, direction))), "no_picture": ""}
    except RenderError as error:
        return {"picture": "", "no_picture": str(error)}
