"""Words: lines for a person on the terminal, and where in a user's code an error was raised."""

from __future__ import annotations

import argparse
import os
import sys
import sysconfig
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..errors import FlowcoreError
from ..render import shown, visible
from .streams import tell

__all__ = ["a", "complain", "counted", "error_words", "not_empty", "place_of"]

_LIBRARIES = (
    *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")),
    str(Path(__file__).parents[1]),
    "<frozen ",
)


def complain(*lines: str) -> None:
    """Print each line on stderr, as one line whatever stands in it."""
    for line in lines:
        tell(f"flowcore: {visible(line)}\n", sys.stderr)


def a(noun: str) -> str:
    """Return a noun with its article."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def not_empty(text: str) -> str:
    """Return what was given to an option that wants a place. Raises what argparse tells of if it is empty."""
    if not text.strip():
        raise argparse.ArgumentTypeError("this is empty; name a place")
    return text


def error_words(error: BaseException) -> str:
    """Return what an error says, as one line: those of flowcore as they are, others with type and place."""
    if isinstance(error, ValidationError):
        return "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'it'}: {fault['msg']}"
            f" (given: {shown(_said(repr, fault['input']))})"
            for fault in error.errors()
        )
    message = " ".join(_said(str, error).split())
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


def _said(words: Callable[[Any], str], value: object) -> str:
    """Return what a user's object says of itself; '' if it raises."""
    try:
        return words(value)
    except Exception:  # the object at hand is what there is to tell of
        return ""


def _short(filename: str) -> str:
    path = os.path.relpath(filename) if os.path.isabs(filename) else filename
    return filename if path.startswith(os.pardir) else path
