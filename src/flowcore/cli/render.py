"""`flowcore render`: a flow as a picture or as text that draws one."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..errors import RenderError, TargetError
from ..render import FORMATS, render
from .codes import OK
from .files import write_file, write_out
from .target import load_target
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
        help="where to write; the format follows from its ending (.svg .png .mmd .dot .json);"
        " - is the terminal (default)",
    )
    parser.add_argument(
        "--format", choices=list(FORMATS), help="the format, whatever the file is called (default: mermaid)"
    )
    parser.add_argument(
        "--direction",
        choices=["TB", "LR"],
        default="TB",
        help="from top to bottom (default) or from left to right",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Draw the flow that was named; of an app, the one that runs."""
    output: str = arguments.output
    format = arguments.format or _format_of(output)
    content = render(load_target(arguments.target).flows[0], format, arguments.direction)
    if output != _STDOUT:
        write_file(Path(output), content)
    elif isinstance(content, bytes) and sys.stdout.isatty():
        raise TargetError(f"{format} is not for a terminal: name a file, as in -o flow.{format}")
    else:
        write_out(content)
    return OK


def _format_of(output: str) -> str:
    if output == _STDOUT:
        return "mermaid"
    suffix = Path(output).suffix.lower()
    for name, format in FORMATS.items():
        if suffix in format.suffixes:
            return name
    known = " ".join(suffix for format in FORMATS.values() for suffix in format.suffixes)
    raise RenderError(f"{output}: {suffix or 'no ending'} says no format; use one of {known}, or --format")
