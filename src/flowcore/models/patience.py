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

    __slots__ = ("_begun", "_clock", "_late", "_left", "_piece", "_until", "_whole")

    def __init__(self, clock: Clock, whole: float | None, piece: float | None) -> None:
        self._clock = clock
        self._whole = self._left = math.inf if whole is None else whole
        self._piece = math.inf if piece is None else piece
        self._late = ("", 0.0)
        self._until = math.inf
        self._begun: anyio.Event | None = None

    async def answer(self, work: Callable[[], Awaitable[T]]) -> T:
        """Return what `work` returns. Raises `ModelTimeout` if that takes longer than an answer may."""
        if not isinstance(self._clock, SystemClock):
            return await self.watched(lambda: self.first(work))
        self._late = ("no answer", self._whole)
        with anyio.move_on_after(None if self._whole == math.inf else self._whole):
            return await work()
        raise self._timeout()

    async def watched(self, work: Callable[[], Awaitable[T]]) -> T:
        """Return what `work` returns, all of whose waits are for the `first` piece or for another `piece`.

        A task watches over them, so that a wait costs next to nothing. Raises `ModelTimeout` when one is too long.
        """
        if min(self._left, self._piece) == math.inf:
            return await work()
        raised: BaseException | None = None
        cut_off: BaseException | None = None
        got: list[T] = []
        region = anyio.CancelScope()
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch, region)
            with region:
                try:
                    got.append(await work())
                except (anyio.get_cancelled_exc_class(), GeneratorExit) as error:
                    cut_off = error
                    raise
                except BaseException as error:  # raised outside of the group, which would wrap it
                    raised = error
            group.cancel_scope.cancel()
        if raised is not None:
            raise raised
        if cut_off is not None and not region.cancel_called:  # the group may take it for a cancellation of its own
            raise cut_off
        if not got:
            raise self._timeout()
        return got[0]

    async def first(self, work: Callable[[], Awaitable[T]]) -> T:
        """Wait for the first piece, which may take as long as a whole answer."""
        self._late = ("no answer", self._whole)
        return await self._wait(work, self._left)

    async def piece(self, work: Callable[[], Awaitable[T]]) -> T:
        """Wait for a further piece."""
        if self._piece < self._left:
            self._late = ("no further piece of the answer", self._piece)
            return await self._wait(work, self._piece)
        self._late = ("no whole answer", self._whole)
        return await self._wait(work, self._left)

    async def _wait(self, work: Callable[[], Awaitable[T]], seconds: float) -> T:
        began = self._clock.monotonic()
        self._until = began + seconds
        if self._begun is not None:
            self._begun.set()
        result = await work()
        self._until = math.inf
        self._left = max(0.0, self._left - (self._clock.monotonic() - began))
        return result

    async def _watch(self, region: anyio.CancelScope) -> None:
        """Cancel the region when a wait is too long. Never sleeps beyond the end of a wait that begins later."""
        while (now := self._clock.monotonic()) < self._until:
            if self._until == math.inf:  # a sink is at work, and may take as long as it likes
                self._begun = anyio.Event()
                await self._begun.wait()
                self._begun = None
            else:
                await self._clock.sleep(min(self._until - now, self._piece, self._left))
        region.cancel()

    def _timeout(self) -> ModelTimeout:
        what, seconds = self._late
        return ModelTimeout(f"{what} within {seconds:g} s", seconds)
