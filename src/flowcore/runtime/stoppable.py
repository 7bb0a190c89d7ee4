"""The stoppable: a stretch of code inside a task that can be asked to stop."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

import anyio

from ..clock import Clock, Loop
from .knock import Knock

__all__ = ["Stoppable"]


class Stoppable:
    """Two scopes around a stretch of code: the outer one is cancelled, the inner one lets that through or not."""

    __slots__ = ("_asked", "_inner", "_knock", "_outer")

    def __init__(
        self,
        loop: Loop,
        clock: Clock,
        given_up: Callable[[], object],
        grace: float,
        asked: Callable[[], object] | None = None,
    ) -> None:
        self._asked = asked
        self._outer = anyio.CancelScope()
        self._inner = anyio.CancelScope()
        self._knock = Knock(self, loop, clock, given_up, grace)

    @property
    def asked(self) -> bool:
        """Whether the code was asked to stop."""
        return self._knock.asked

    def ask_in(self, seconds: float) -> None:
        """Ask the code inside to stop when `seconds` have passed."""
        self._knock.ask_in(seconds)

    def open(self) -> None:
        """Let the cancellation in."""
        if self._asked is not None:
            self._asked()
        self._outer.cancel()
        self._inner.shield = False

    def close(self) -> None:
        """Keep it out."""
        self._inner.shield = True

    def __enter__(self) -> Self:
        self._outer.__enter__()
        self._inner.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self._knock.end()
        if self._inner.__exit__(kind, error, trace):
            kind = error = trace = None
        return bool(self._outer.__exit__(kind, error, trace))
