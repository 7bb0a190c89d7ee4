"""Streams: standard output must be there, standard error may be gone. What cannot be told stops no work."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

from ..errors import TargetError
from ..render import visible

__all__ = ["check_output", "prepare", "silence", "tell", "visible_text"]


def prepare() -> None:
    """Make the streams fit for every text; where stderr is closed, put one in its place that says nothing."""
    if sys.stderr is None:  # started with 2>&-
        nowhere = os.open(os.devnull, os.O_WRONLY)
        while nowhere < 2:  # no file that is opened later may get the number of a stream
            nowhere = os.open(os.devnull, os.O_WRONLY)
        sys.stderr = os.fdopen(nowhere, "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def check_output() -> None:
    """Raise `TargetError` if there is no standard output."""
    if sys.stdout is None:  # started with >&-
        raise TargetError("standard output is closed; open it, or send it away with > /dev/null")


def tell(text: str, stream: TextIO) -> None:
    """Write on stderr. If it cannot be written, nobody can be told so: from then on it says nothing."""
    try:
        stream.write(text)
        stream.flush()
    except OSError:
        silence(stream)


def silence(stream: TextIO) -> None:
    """Send away what a stream still holds and all that comes: Python would complain of it at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def visible_text(text: str) -> str:
    """Return a text of many lines in which everything can be seen: no terminal obeys what stands in it."""
    return "\n".join("\t".join(map(visible, line.split("\t"))) for line in text.split("\n"))
