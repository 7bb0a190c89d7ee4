"""Patience: how long a model is waited for."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from ..clock import Clock, SystemClock
from ..errors import ModelTimeout

__all__ = ["Patience"]

T = TypeVar("T")


class Patience:
    """The time that one request may take: in all, and until its next piece.

    Only waiting for the model counts. What a sink does with a piece may take as long as it likes.
    """

    __slots__ = ("_clock", "_left", "_piece", "_whole")

    def __init__(self, clock: Clock, whole: float | None, piece: float | None) -> None:
        self._clock = clock
        self._whole = self._left = math.inf if whole is None else whole
        self._piece = math.inf if piece is None else piece

    async def answer(self, work: Callable[[], Awaitable[T]]) -> T:
        """Return what `work` returns. Raises `ModelTimeout` if that takes longer than what is left in all."""
        return await self._wait(work, self._left, f"no answer within {self._whole:g} s")

    async def piece(self, work: Callable[[], Awaitable[T]]) -> T:
        """Return what `work` returns. Raises `ModelTimeout` if that takes longer than a piece may, too."""
        if self._piece < self._left:
            return await self._wait(work, self._piece, f"no further piece of the answer within {self._piece:g} s")
        return await self._wait(work, self._left, f"no whole answer within {self._whole:g} s")

    async def _wait(self, work: Callable[[], Awaitable[T]], seconds: float, late: str) -> T:
        if seconds == math.inf:
            return await work()
        began = self._clock.monotonic()
        got: list[T] = []
        if isinstance(self._clock, SystemClock):
            with anyio.move_on_after(seconds):
                got.append(await work())
        else:
            await _within(self._clock, seconds, work, got)
        self._left = max(0.0, self._left - (self._clock.monotonic() - began))
        if not got:
            raise ModelTimeout(late, self._piece if seconds == self._piece else self._whole)
        return got[0]


async def _within(clock: Clock, seconds: float, work: Callable[[], Awaitable[T]], got: list[T]) -> None:
    """Run `work` for so many seconds of a clock that is not the event loop's; put what it returns into `got`."""
    raised: Exception | None = None
    scope = anyio.CancelScope()

    async def ring() -> None:
        await clock.sleep(seconds)
        scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(ring)
        with scope:
            try:
                got.append(await work())
            except Exception as error:  # raised outside of the group, which would wrap it
                raised = error
        group.cancel_scope.cancel()
    if raised is not None:
        raise raised
