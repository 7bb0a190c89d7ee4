"""`flowcore export`: a run that was written down, in the form of another tool."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import TargetError
from ..export import chrome_trace
from .codes import OK
from .files import write_file, write_out
from .recorded import RUNS, is_trace_file, recorded_run
from .words import not_empty

__all__ = ["EPILOG", "NAMED", "add_arguments", "execute"]

NAMED = "run"
EPILOG = f"""\
TARGET names a run:
{RUNS}
exit codes: 0 it worked, 2 something given cannot be used, 130 interrupted (143 and 129: ended by SIGTERM, SIGHUP)
"""

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
    target: str = arguments.target
    if not is_trace_file(target):
        remedy = "run the flow with `flowcore run TARGET TEXT --out DIR`, and name DIR/trace.json"
        raise TargetError(f"{target}: this is no trace file, and only a run is exported: {remedy}")
    content = chrome_trace(recorded_run(target))
    if arguments.output == _STDOUT:
        write_out(content)
    else:
        write_file(Path(arguments.output), content)
    return OK
