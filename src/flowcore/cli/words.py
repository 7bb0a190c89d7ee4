"""Words: lines for a person on the terminal, and where in a user's code an error was raised."""

from __future__ import annotations

import os
import sys
import sysconfig
import traceback
from pathlib import Path

from pydantic import ValidationError

from ..errors import FlowcoreError
from ..render import shown, visible

__all__ = ["complain", "counted", "error_words", "place_of"]

_LIBRARIES = (
    *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")),
    str(Path(__file__).parents[1]),
    "<frozen ",
)


def complain(*lines: str) -> None:
    """Print each line on stderr, as one line whatever stands in it."""
    for line in lines:
        print(f"flowcore: {visible(line)}", file=sys.stderr)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def error_words(error: BaseException) -> str:
    """Return what an error says, as one line: those of flowcore as they are, others with type and place."""
    if isinstance(error, ValidationError):
        return "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'it'}: {fault['msg']} (given: {shown(repr(fault['input']))})"
            for fault in error.errors()
        )
    message = " ".join(str(error).split())
    if isinstance(error, FlowcoreError):
        return message
    words = f"{type(error).__name__}: {message}" if message else type(error).__name__
    place = place_of(error)
    return f"{words}, raised at {place}" if place else words


def place_of(error: BaseException) -> str:
    """Return the file and line at which a user's own code raised `error`; '' where none did."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{_short(error.filename)}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(_LIBRARIES)]
    return f"{_short(own[-1].filename)}:{own[-1].lineno}" if own else ""


def _short(filename: str) -> str:
    path = os.path.relpath(filename) if os.path.isabs(filename) else filename
    return filename if path.startswith(os.pardir) else path
