"""Progress: what a person sees on stderr while a run works."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO

from ..events import Event, NodeStarted, RoundStarted
from ..render import visible
from ..runtime import Observer
from .streams import tell

__all__ = ["Progress"]

_CLEAR = "\r\x1b[K"
_USUAL_WIDTH = 80


class Progress:
    """One line that changes, on a terminal; elsewhere nothing but what `note` is told."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lively = stream.isatty()
        self._title = ""
        self._round = 0

    @contextmanager
    def of(self, title: str) -> Generator[tuple[Observer, ...]]:
        """Give what a run is to tell: nothing if nobody sees it. The line is gone at the end."""
        self._title, self._round = title, 0
        try:
            yield (self._see,) if self._lively else ()
        finally:
            self._clear()

    def note(self, line: str) -> None:
        """Print a line that stays."""
        self._clear()
        tell(f"{visible(line)}\n", self._stream)

    def _clear(self) -> None:
        if self._lively:
            tell(_CLEAR, self._stream)

    def _see(self, event: Event) -> None:
        if isinstance(event, RoundStarted):
            self._round = event.round
        elif isinstance(event, NodeStarted):
            words = [self._title, f"round {self._round}" if self._round else "", event.path]
            line = visible("  ".join(word for word in words if word))
            tell(_CLEAR + line[: _width(self._stream)], self._stream)


def _width(stream: TextIO) -> int:
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return (columns or _USUAL_WIDTH) - 1
