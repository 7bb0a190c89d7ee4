"""`flowcore render`: a flow, or a run of one, as a picture, as text that draws one, or as a page."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from ..errors import RenderError, TargetError
from ..recording import Recording
from ..render import FORMATS, Drawing, Mark, Source, draw, render
from .codes import OK
from .files import write_file, write_out
from .flow_file import is_flow_file, read_flow_file
from .recorded import RUNS, is_trace_file, recorded_run
from .renewal import check_file
from .target import load_target
from .words import not_empty

__all__ = ["EPILOG", "NAMED", "add_arguments", "execute"]

NAMED = "flow, app or run"
EPILOG = f"""\
TARGET names a flow, an app that runs one, or a run:
  package.module:name    a name in a module that can be imported
  path/to/file.py:name   a name in a file; without the name, the only app or flow in it
  path/to/folder         the app.py in a folder
  flow.json              a flow, written by `flowcore render -o flow.json`
{RUNS}
exit codes: 0 it worked, 1 the file of --check is stale or missing, 2 something given cannot be used,
130 interrupted (143 and 129: ended by SIGTERM, SIGHUP)
"""
_STDOUT = "-"
_SUFFIXES = {name: format.suffixes for name, format in FORMATS.items()} | {"html": (".html", ".htm")}
_CHECKED = ("mermaid", "dot", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default=_STDOUT,
        type=not_empty,
        help="where to write; the format follows from its ending (.svg .png .mmd .dot .json, .html for a run);"
        " - is the terminal (default)",
    )
    parser.add_argument(
        "--check",
        metavar="FILE",
        type=not_empty,
        help="write nothing; exit 1 and show the difference if this file (.mmd .dot .json) is not what would be"
        " written",
    )
    parser.add_argument(
        "--format", choices=list(_SUFFIXES), help="the format, whatever the file is called (default: mermaid)"
    )
    parser.add_argument(
        "--direction",
        choices=["TB", "LR"],
        default="TB",
        help="from top to bottom (default) or from left to right",
    )
    _add_view(parser)
    parser.add_argument(
        "--compare", metavar="RUN", type=not_empty, help="show another run beside the one that TARGET names"
    )


def _add_view(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--depth", metavar="N", type=int, help="close composites below this level; 1 is the flow alone"
    )
    parser.add_argument(
        "--focus", metavar="NODE", type=not_empty, help="draw what is near the node of this path (answer/repair)"
    )
    parser.add_argument(
        "--hops", metavar="N", type=int, help="how many routes away from the focus is near (default: 1)"
    )
    parser.add_argument(
        "--types", action="store_true", help="name the types of states and results, and what nodes write"
    )
    parser.add_argument(
        "--theme",
        choices=["auto", "light", "dark"],
        default="auto",
        help="the colours (default: as the reader likes)",
    )
    parser.add_argument(
        "--legend", action="store_true", help="say below the picture what its lines and boxes mean"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Draw the flow or run that was named; of an app, the flow that it runs. Or hold a file against it."""
    if arguments.hops is not None and arguments.focus is None:
        raise TargetError("--hops says how much is near a node: name the node with --focus")
    if arguments.check is not None:
        return _check(arguments)
    output: str = arguments.output
    format = arguments.format or ("mermaid" if output == _STDOUT else _format_of(output))
    content = _content(arguments, format)
    if output != _STDOUT:
        write_file(Path(output), content)
    elif isinstance(content, bytes) and sys.stdout.isatty():
        raise TargetError(f"{format} is not for a terminal: name a file, as in -o flow.{format}")
    else:
        write_out(content)
    return OK


def _check(arguments: argparse.Namespace) -> int:
    place: str = arguments.check
    if arguments.output != _STDOUT:
        raise TargetError("--check writes nothing: leave -o out")
    format = arguments.format or _format_of(place)
    if format not in _CHECKED:
        raise TargetError(
            f"{place}: {format} is not the same on every machine, since the layout engine is not: check a file of"
            " the same flow as Mermaid, DOT or JSON"
        )
    content = _content(arguments, format)
    assert isinstance(content, str)
    return check_file(place, content, arguments)


def _content(arguments: argparse.Namespace, format: str) -> str | bytes:
    text: str = arguments.target
    from_file = text.endswith(".json") and is_flow_file(Path(text))
    if is_trace_file(text) and not from_file:
        run = recorded_run(text)
        other = None if arguments.compare is None else recorded_run(arguments.compare)
        if format == "html":
            return _page(run, other, arguments)
        return _picture(_path_taken(run, other, arguments), format, arguments)
    remedy = "run it with `flowcore run TARGET TEXT --out DIR`, and name DIR/trace.json"
    if arguments.compare is not None:
        raise TargetError(f"{text}: this is a flow, and only runs are compared here: {remedy}")
    if format == "html":
        raise RenderError(f"{text}: this is a flow, and a page shows a run: {remedy}; or draw it as .svg")
    flow = read_flow_file(Path(text), text) if from_file else load_target(text).flows[0]
    return _picture(flow, format, arguments)


def _picture(source: Source, format: str, arguments: argparse.Namespace) -> str | bytes:
    if isinstance(source, Drawing) and format == "json":
        raise RenderError(
            "JSON is for flows, and a run has its trace file: draw it as .html .svg .png .mmd or .dot"
        )
    return render(
        source,
        format,
        arguments.direction,
        depth=arguments.depth,
        focus=arguments.focus,
        hops=1 if arguments.hops is None else arguments.hops,
        types=arguments.types and not isinstance(source, Drawing),
        theme=arguments.theme,
        legend=arguments.legend,
    )


def _path_taken(run: Recording, other: Recording | None, arguments: argparse.Namespace) -> Drawing:
    """Return the flow of a run with what the run did. The flow is in the file; its code may be gone."""
    from ..render.marks import run_marks  # noqa: PLC0415 - needed for runs alone

    if other is not None and other.signature != run.signature:
        raise RenderError(
            f"{arguments.compare}: a run of another flow, or of another version: compare them on a page, with"
            " -o run.html, or with `flowcore diff`"
        )
    drawing = draw(run.flow, arguments.types)
    marks = run_marks(run, drawing, other)
    unused = {edge.id: Mark("unused") for edge in drawing.edges if edge.id not in marks}
    return replace(drawing, marks={**marks, **unused})


def _page(run: Recording, other: Recording | None, arguments: argparse.Namespace) -> str:
    for_pictures = ("depth", "focus", "types", "legend")
    if given := [f"--{name}" for name in for_pictures if getattr(arguments, name)]:
        raise RenderError(f"a page shows a run whole: {', '.join(given)} is for pictures, as in -o run.svg")
    from ..render.page import run_page  # noqa: PLC0415 - jinja2 is loaded only where a page is made

    return run_page(run, other, theme=arguments.theme)


def _format_of(place: str) -> str:
    suffix = Path(place).suffix.lower()
    for name, suffixes in _SUFFIXES.items():
        if suffix in suffixes:
            return name
    known = " ".join(suffix for suffixes in _SUFFIXES.values() for suffix in suffixes)
    raise RenderError(f"{place}: {suffix or 'no ending'} says no format; use one of {known}, or --format")
