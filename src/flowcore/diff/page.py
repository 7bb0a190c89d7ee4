"""The page: a flow diff as one HTML file, with the picture of both flows and the changes. It runs no script."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from ..errors import RenderError
from ..render import visible
from ..render.colours import DARK, LIGHT, Palette
from ..render.drawing import Drawing
from ..render.layout import lay_out
from ..render.style import svg_style
from ..render.svg import svg_of
from .change import FlowChange, FlowDiff
from .flow_text import SIGNS, change_place, count_words, flow_summary, verdict_words
from .merged import merged_drawing

__all__ = ["flow_page"]


def flow_page(diff: FlowDiff, direction: str) -> str:
    """Return a flow diff as one HTML page that needs no other file and no network.

    Without a layout engine the page says so in place of the picture.
    """
    drawing = merged_drawing(diff)
    style = _style(drawing)
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_file("page.html.j2")).render(
        **_picture(drawing, direction),
        policy=_policy(style),
        style=Markup(style),
        summary=flow_summary(diff),
        name=visible(diff.new.name),
        count=count_words(diff),
        verdict=verdict_words(diff),
        breaking=bool(diff.breaking),
        changes=[_row(change) for change in diff.changes],
    )


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


def _style(drawing: Drawing) -> str:
    dark = f"@media (prefers-color-scheme: dark) {{ {_variables(DARK, '#11161d')} }}"
    svg = svg_style(mark.kind for mark in drawing.marks.values())
    return "\n".join([_variables(LIGHT, "#f3f5f8"), dark, svg, _file("page.css")])


def _variables(palette: Palette, ground: str) -> str:
    colours = {"ground": ground, **palette._asdict()}
    lines = " ".join(f"--{name.replace('_', '-')}: {colour};" for name, colour in colours.items())
    scheme = "light" if palette is LIGHT else "dark"
    return f":root {{ color-scheme: {scheme}; {lines} }}"


def _policy(style: str) -> str:
    """Return what the browser may do with the page: use this style, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"


def _file(name: str) -> str:
    return files("flowcore.diff").joinpath(name).read_text("utf-8")
