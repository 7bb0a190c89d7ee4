"""The page: a run as one HTML file with all that it needs, which loads nothing and sends nothing."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from jinja2 import Environment
from markupsafe import Markup

from ...errors import RenderError
from ...recording import Recording
from ..colours import DARK, LIGHT, Palette
from ..drawing import Drawing, draw
from ..words import shown, visible
from .comparing import Comparison, compare_runs
from .data import page_json
from .header import chips, outcome
from .picture import picture
from .table import MOST_ROWS, table_rows

__all__ = ["Theme", "run_page"]

Theme = Literal["auto", "light", "dark"]
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
    style, script = _style(), _script()
    return (
        _environment()
        .from_string(_file("page.html.j2"))
        .render(
            **_words(run, comparison),
            **_graph(run, drawing),
            csp=_policy(style, script, live),
            style=Markup(style),
            script=Markup(script),
            data=Markup(page_json(run, drawing, comparison, live)),
            theme=theme,
            live=live is not None,
        )
    )


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


def _policy(style: str, script: str, live: str | None) -> str:
    """Return what the browser may do with the page: run this style and this script, and nothing else."""
    rules = [
        "default-src 'none'",
        f"style-src '{_hash(style)}'",
        f"script-src '{_hash(script)}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        *(["connect-src 'self'"] if live is not None else []),
    ]
    return "; ".join(rules)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _environment() -> Environment:
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(visible=visible, shown=shown)
    return environment


@cache
def _style() -> str:
    light, dark = _variables(LIGHT), _variables(DARK)
    themes = [
        f":root {{ color-scheme: light; {light} }}",
        f"@media (prefers-color-scheme: dark) {{ :root[data-theme=auto] {{ color-scheme: dark; {dark} }} }}",
        f":root[data-theme=dark] {{ color-scheme: dark; {dark} }}",
        f"@media print {{ :root:root:root {{ color-scheme: light; {light} }} }}",
    ]
    return "\n".join([*themes, _file("page.css")])


@cache
def _script() -> str:
    return "\n".join(map(_file, _SCRIPTS))


def _variables(palette: Palette) -> str:
    return " ".join(f"--{name.replace('_', '-')}: {colour};" for name, colour in palette._asdict().items())


def _file(name: str) -> str:
    return files("flowcore.render.page").joinpath(name).read_text("utf-8")
