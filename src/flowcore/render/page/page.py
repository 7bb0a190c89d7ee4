"""The page: a run as one HTML file with all that it needs, which loads nothing and sends nothing."""

from __future__ import annotations

from typing import Any, Literal

from markupsafe import Markup

from ...errors import RenderError
from ...recording import Recording
from ..drawing import Drawing, draw
from ..shell import page_text, read_text, themed
from .comparing import Comparison, compare_runs
from .data import page_json
from .header import chips, outcome
from .picture import picture
from .table import MOST_ROWS, table_rows

__all__ = ["Theme", "run_page"]

Theme = Literal["auto", "light", "dark"]
_HERE = "flowcore.render.page"
_SCRIPTS = ("model.js", "graph.js", "timeline.js", "details.js", "page.js")


def run_page(
    run: Recording, compare: Recording | None = None, *, theme: Theme = "auto", live: str | None = None
) -> str:
    """Return a run as one HTML page that needs no other file and no network.

    Args:
        run: The run.
        compare: Another run to show beside it.
        theme: The colours to begin with; `auto` are those of the reader's system.
        live: The path of a stream of events, relative to the page, that a run which goes on is followed by.
            What is sent there: `flowcore.render.page.data`.
    """
    drawing = draw(run.flow)
    comparison = None if compare is None else compare_runs(run, compare, drawing)
    words = {
        **_words(run, comparison),
        **_graph(run, drawing),
        "data": Markup(page_json(run, drawing, comparison, live)),
        "theme": theme,
        "live": live is not None,
    }
    style = themed(read_text(_HERE, "page.css"))
    script = "\n".join(read_text(_HERE, name) for name in _SCRIPTS)
    return page_text(read_text(_HERE, "page.html.j2"), style, words, script=script, connects=live is not None)


def _words(run: Recording, comparison: Comparison | None) -> dict[str, Any]:
    name = run.name or run.run_id[:8]
    return {
        "flow": run.flow,
        "run": run,
        "name": name,
        "outcome": outcome(run),
        "chips": list(chips(run)),
        "version": run.signature[:6],
        "began": "" if run.began is None else f"{run.began:%Y-%m-%d %H:%M:%S} UTC",
        "other": None if comparison is None else comparison.name,
        "rows": table_rows(run),
        "shown_rows": MOST_ROWS,
        "left_out": max(0, len(run.visits) - MOST_ROWS),
    }


def _graph(run: Recording, drawing: Drawing) -> dict[str, Any]:
    """Return the picture, or why there is none."""
    try:
        return {"picture": Markup(picture(run, drawing)), "no_picture": ""}
    except RenderError as error:
        return {"picture": "", "no_picture": str(error)}
