"""The toolset: tools that are found when it is opened, such as those of a server."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from .definition import Tool

__all__ = ["Toolset"]


class Toolset(Protocol):
    """Something outside that offers tools. A catalogue opens it when somebody first asks for its tools.

    `open` is entered and left in one task of its own, so it may hold sessions, task groups and processes. What it
    raises on the way in is the reason that the catalogue lists; a tool whose call raises has failed, and the rest
    goes on. The tools need not name the toolset: the catalogue adds its name and its timeout.
    """

    @property
    def name(self) -> str:
        """What the toolset is known by: unique in a catalogue."""
        ...

    @property
    def timeout(self) -> float | None:
        """Seconds that a call of a tool may take which says nothing itself; None leaves it to the executor."""
        ...

    def open(self) -> AbstractAsyncContextManager[Sequence[Tool]]:
        """Return a context in which its tools can be called. Entering it yields them."""
        ...
