"""The opened toolset: held open in a task of its own, since what it holds must be left where it was entered."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from ..clock import Door, Loop
from ..errors import SignInNeeded, ToolError
from ..value_text import escaped
from .definition import Tool
from .toolset import Toolset

__all__ = ["OpenedToolset"]

_LONGEST = 500
_PATIENCE = 5.0
"""Seconds that a toolset may take to close."""


class OpenedToolset:
    """A toolset, and the task that holds it open until it is closed."""

    def __init__(self, toolset: Toolset, loop: Loop) -> None:
        self.name = toolset.name
        self.tools: Sequence[Tool] = ()
        self.failure: str | None = None
        self.sign_in: str | None = None
        self._toolset = toolset
        self._loop = loop
        self._door: Door | None = None
        self._ready = anyio.Event()
        self._closing = anyio.Event()
        self._closed = anyio.Event()

    @property
    def has_ended(self) -> bool:
        """Whether nobody holds it open any more: it was closed, it broke, or its event loop has ended."""
        return self._closed.is_set()

    async def open(self, seconds: float) -> None:
        """Return when the tools are known, or when it is known why they are not."""
        self._door = self._loop.spawn(self._hold, f"flowcore toolset {self.name}")
        with anyio.move_on_after(seconds):
            await self._ready.wait()
        if not self._ready.is_set():
            self.failure = f"it did not open within {seconds:g} s"
            await self.close()

    async def close(self) -> None:
        """Close it, and return when it is closed; after some seconds it is left to itself."""
        self._closing.set()
        if self._door is None:
            return
        if not self._ready.is_set():
            self._door.open()
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(_PATIENCE):
                await self._closed.wait()
            if not self._closed.is_set():
                self._door.open()

    async def _hold(self) -> None:
        try:
            async with self._toolset.open() as tools:
                self.tools = tuple(tools)
                self._ready.set()
                await self._closing.wait()
        except BaseException as error:  # a task that nobody waits for: all that it raises ends here
            if not self._ready.is_set() and self.failure is None:
                reason = _innermost(error)
                self.failure = _words(reason)
                self.sign_in = reason.server if isinstance(reason, SignInNeeded) else None
        finally:
            self._ready.set()
            self._closed.set()


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _words(error: BaseException) -> str:
    words = escaped(str(error))[:_LONGEST]
    if isinstance(error, ToolError):
        return words
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
