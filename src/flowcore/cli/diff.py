"""`flowcore diff`: what differs between two flows, or between two runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..diff import DIFF_FORMATS, FlowDiff, RunDiff, diff_flows, diff_runs, render_diff
from ..errors import RenderError, TargetError
from ..recording import FlowData, Recording
from .codes import DIFFERS, OK
from .files import write_file, write_out
from .recorded import RUNS
from .side import load_side
from .words import not_empty

__all__ = ["EPILOG", "TAKES_TARGET", "add_arguments", "execute"]

TAKES_TARGET = False  # but two

EPILOG = f"""\
OLD and NEW are two flows, or two runs:
  package.module:name, path/to/file.py[:name], path/to/folder   a flow or app, as for the other commands
  flow.json              a flow, written by `flowcore render -o flow.json`
{RUNS}  REF:path/to/file.py[:name], REF:module:name, REF:flow.json    what stood there at a git ref

exit codes: 0 no difference, 1 they differ, 2 something given cannot be used, 130 interrupted
(143 and 129: ended by SIGTERM, SIGHUP)
"""
_STDOUT = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    parser.add_argument("old", metavar="OLD", help="the flow or run as it was, see below")
    parser.add_argument("new", metavar="NEW", help="the flow or run as it is")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default=_STDOUT,
        type=not_empty,
        help="where to write; the ending says the format (.txt .svg .mmd .html); - is the terminal (default)",
    )
    parser.add_argument(
        "--format", choices=list(DIFF_FORMATS), help="the format, whatever the file is called (default: text)"
    )
    parser.add_argument(
        "--direction",
        choices=["TB", "LR"],
        default="TB",
        help="pictures run from top to bottom (default) or from left to right",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Compare the two and write what differs. 1 if anything does."""
    output: str = arguments.output
    format = arguments.format or _format_of(output)
    diff = _diff(arguments.old, arguments.new)
    content = render_diff(diff, format, arguments.direction)
    if output == _STDOUT:
        write_out(content)
    else:
        write_file(Path(output), content)
    differs = bool(diff.changes) if isinstance(diff, FlowDiff) else diff.differs
    return DIFFERS if differs else OK


def _diff(old_text: str, new_text: str) -> FlowDiff | RunDiff:
    old, new = load_side(old_text, apart=True), load_side(new_text, apart=False)
    if isinstance(old, Recording) and isinstance(new, Recording):
        return diff_runs(old, new)
    if isinstance(old, FlowData) and isinstance(new, FlowData):
        return diff_flows(old, new)
    kinds = ["a run" if isinstance(side, Recording) else "a flow" for side in (old, new)]
    raise TargetError(f"{old_text} is {kinds[0]} and {new_text} is {kinds[1]}; name two flows, or two runs")


def _format_of(output: str) -> str:
    if output == _STDOUT:
        return "text"
    suffix = Path(output).suffix.lower()
    for name, suffixes in DIFF_FORMATS.items():
        if suffix in suffixes:
            return name
    known = " ".join(suffix for suffixes in DIFF_FORMATS.values() for suffix in suffixes)
    raise RenderError(f"{output}: {suffix or 'no ending'} says no format; use one of {known}, or --format")
