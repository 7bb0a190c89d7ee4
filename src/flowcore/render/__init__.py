"""Drawing: a declared flow as Mermaid, DOT, JSON, SVG or PNG. Nothing here opens a socket or runs a flow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from .drawing import Drawable, Drawing, DrawnEdge, DrawnFrame, DrawnNode, Mark, MarkKind, draw
from .formats import FORMATS, Direction, Format, Source, render
from .looks import LOOKS, Look, mark_words
from .marks import run_marks
from .style import Theme
from .view import collapsed, focused
from .words import shown, visible

if TYPE_CHECKING:
    from ..recording import Recording

__all__ = [
    "FORMATS",
    "LOOKS",
    "Direction",
    "Drawable",
    "Drawing",
    "DrawnEdge",
    "DrawnFrame",
    "DrawnNode",
    "Format",
    "Look",
    "Mark",
    "MarkKind",
    "Source",
    "Theme",
    "collapsed",
    "draw",
    "focused",
    "mark_words",
    "render",
    "run_marks",
    "run_page",
    "shown",
    "visible",
]


def run_page(
    run: Recording,
    compare: Recording | None = None,
    *,
    theme: Literal["auto", "light", "dark"] = "auto",
    live: str | None = None,
) -> str:
    """Return a run as one HTML page that needs no other file and no network.

    Without a layout engine the page has no graph, and says how to install one.

    Args:
        run: The run, as `recording_of` makes it and `read_runs` reads it.
        compare: Another run to show beside it.
        theme: The colours to begin with; `auto` are those of the reader's system.
        live: The path, relative to the page, of a stream of events by which it follows a run that goes on.
    """
    from .page import run_page as made  # noqa: PLC0415 - jinja2 is loaded only for a page

    return made(run, compare, theme=theme, live=live)
