"""`flowcore export`: a run that was written down, in the form of another tool."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..export import chrome_trace
from .codes import OK
from .files import write_file, write_out
from .recorded import recorded_run
from .words import not_empty

__all__ = ["add_arguments", "execute"]

_STDOUT = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default=_STDOUT,
        type=not_empty,
        help="where to write, such as run.perfetto.json; - is the terminal (default)",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Write the run for Perfetto and chrome://tracing."""
    content = chrome_trace(recorded_run(arguments.target))
    if arguments.output == _STDOUT:
        write_out(content)
    else:
        write_file(Path(arguments.output), content)
    return OK
