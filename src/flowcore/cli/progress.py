"""Progress: what a person sees on stderr while a run works."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO

from ..events import Event, NodeStarted, RequestOpened, RoundStarted, RunPaused
from ..render import visible
from ..runtime import Observer
from .streams import tell
from .words import complain

__all__ = ["Progress", "say_who_waits"]

_CLEAR = "\r\x1b[K"
_USUAL_WIDTH = 80


class Progress:
    """One line that changes, on a terminal; elsewhere only what `note` is told, and that somebody waits."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lively = stream.isatty()
        self._title = ""
        self._round = 0
        self._waits: Observer = say_who_waits

    @contextmanager
    def of(self, title: str, waits: Observer | None = None) -> Generator[tuple[Observer, ...]]:
        """Give whom a run is to tell. The line is gone at the end. `waits` says that somebody is waited for."""
        self._title, self._round = title, 0
        self._waits = waits or say_who_waits
        try:
            yield (self._see,) if self._lively else (self._waits,)
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
        if isinstance(event, RequestOpened | RunPaused):
            self._clear()
            self._waits(event)
        elif isinstance(event, RoundStarted):
            self._round = event.round
        elif isinstance(event, NodeStarted):
            words = [self._title, f"round {self._round}" if self._round else "", event.path]
            line = visible("  ".join(word for word in words if word))
            tell(_CLEAR + line[: _width(self._stream)], self._stream)


def say_who_waits(event: Event) -> None:
    """Say that a call or a node waits for a person: a command takes no answers, and would just stand still."""
    if isinstance(event, RequestOpened):
        left = (event.expires - event.at).total_seconds()
        end = "has expired" if event.asks == "ask" else "is a no"
        complain(
            f"{event.path}: {event.tool or event.question} waits for a person;"
            f" nobody can answer here, so in {left:.0f} s it {end}"
        )


def _width(stream: TextIO) -> int:
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return (columns or _USUAL_WIDTH) - 1
