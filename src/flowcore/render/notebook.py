"""Notebook displays: a flow and a run as what a notebook may show, the richest form that it trusts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from html import escape

from ..recording import FlowData, GraphData, NodeData, flow_data, recording_of
from ..trace import Trace
from .drawing import Drawable, draw
from .formats import render
from .marks import run_marks
from .svg import svg_text
from .words import edge_words, join_words, note_words, shown, visible

__all__ = ["flow_display", "run_display"]

Bundle = dict[str, str | bytes]
"""What is displayed, by media type."""

_LARGEST = 2_000_000
"""Bytes of one form, above which a notebook gets too heavy: it is left out."""
_HEIGHT = 720
_outputs = itertools.count(1)


def flow_display(flow: Drawable) -> Bundle:
    """Return the picture of a flow, as SVG, as PNG for notebooks that are not trusted, and its routes as text.

    Nothing is raised: what cannot be drawn is left out, and the text says why.
    """
    forms: dict[str, Callable[[], str | bytes]] = {
        "image/svg+xml": lambda: _apart(svg_text(draw(flow), "TB")),
        "image/png": lambda: render(flow, "png"),
    }
    return _bundle(forms, lambda: _flow_text(flow_data(flow.plan)))


def run_display(trace: Trace) -> Bundle:
    """Return a run: its page in a frame of its own, the flow with the path taken as SVG, and its text.

    Nothing is raised: what cannot be drawn is left out, and the text says why.
    """
    from .page import run_page  # noqa: PLC0415 - jinja2 is loaded only where a page is made

    run = recording_of(trace)

    def page() -> str:
        words = f"Run of {shown(run.flow.name)}"
        return (
            f'<iframe title="{escape(words)}" sandbox="allow-scripts" srcdoc="{escape(run_page(run))}"'
            f' style="width: 100%; height: {_HEIGHT}px; border: 1px solid #8a94a6; border-radius: 6px"></iframe>'
        )

    def picture() -> str:
        drawing = draw(run.flow)
        return _apart(svg_text(replace(drawing, marks=run_marks(run, drawing)), "TB"))

    return _bundle({"text/html": page, "image/svg+xml": picture}, trace.to_text)


def _bundle(forms: Mapping[str, Callable[[], str | bytes]], text: Callable[[], str]) -> Bundle:
    """Return the forms that could be made; the text, which always can, says which could not."""
    made: Bundle = {}
    notes: list[str] = []
    for kind, make in forms.items():
        try:
            form = make()
        except Exception as error:  # a display that raises would hide the value
            notes.append(f"({kind} was left out: {visible(str(error) or type(error).__name__)})")
            continue
        if len(form) > _LARGEST:
            notes.append(f"({kind} was left out: {len(form):,} characters are too many for a notebook)")
        else:
            made[kind] = form
    try:
        words = text()
    except Exception as error:  # the same
        words = f"(no text: {visible(str(error) or type(error).__name__)})"
    made["text/plain"] = "\n".join([words.rstrip("\n"), *dict.fromkeys(notes)])
    return made


def _apart(svg: str) -> str:
    """Return SVG whose ids and style touch nothing else: the outputs of a notebook stand in one document."""
    prefix = f"flowcore{next(_outputs)}"
    svg = re.sub(r' id="', f' id="{prefix}-', svg)
    svg = svg.replace('aria-labelledby="title desc"', f'aria-labelledby="{prefix}-title {prefix}-desc"', 1)
    svg = re.sub(r"<style>(.*?)</style>", rf"<style>#{prefix} {{\1}}</style>", svg, count=1, flags=re.DOTALL)
    return svg.replace("<svg ", f'<svg id="{prefix}" ', 1)


def _flow_text(flow: FlowData) -> str:
    return "\n".join([f"flow {shown(flow.name)}", *_routes(flow, "  ")])


def _composite_words(node: NodeData) -> str:
    join = f", join {join_words(node)}" if node.branches is not None else ""
    return f"{note_words(node)}{join}"


def _routes(graph: GraphData, indent: str) -> Iterator[str]:
    """Yield each node and each of its routes on a line of its own; before the routes, what stands inside."""
    routes = graph.routes_of()
    for node in graph.nodes:
        words = "starts round" if node.starts_round else _composite_words(node)
        yield f"{indent}{shown(node.id)}{f'  ({words})' if words else ''}"
        if node.inside is not None:
            yield from _routes(node.inside, f"{indent}    ")
        for route in routes[node.id]:
            words = edge_words(route, node)
            kind = "error " if route.kind == "error" and route.label else ""
            yield f"{indent}  -> {shown(route.target)}{f'  ({kind}{shown(words)})' if words else ''}"
        if node.completes:
            yield f"{indent}  -> end"
