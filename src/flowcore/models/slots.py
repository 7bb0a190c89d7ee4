"""Slots: how many requests may be under way at once."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from contextvars import ContextVar

import anyio
from anyio.lowlevel import RunVar

from ..errors import ContractError

__all__ = ["Slots"]

_numbers = itertools.count()
_holds: ContextVar[tuple[_Hold, ...]] = ContextVar("flowcore_slots", default=())
"""The slots around the work that goes on: those that it would wait for while it keeps them."""


class _Hold:
    """A slot that is held."""

    __slots__ = ("is_over", "slots")

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.is_over = False


class Slots:
    """So many slots in each event loop; None is no limit."""

    __slots__ = ("_count", "_limiter")

    def __init__(self, count: int | None) -> None:
        self._count = count
        # A limiter belongs to the event loop that it is first used in.
        self._limiter: RunVar[anyio.CapacityLimiter] = RunVar(f"flowcore slots {next(_numbers)}")

    @asynccontextmanager
    async def one(self) -> AsyncGenerator[None]:
        """Hold one of the slots. Raises `ContractError` for work that would wait for the slot that it keeps."""
        if self._count is None:
            yield
            return
        held = _holds.get()
        if any(hold.slots is self and not hold.is_over for hold in held):
            raise ContractError(
                f"a sink asks the runner whose answer it is given: with concurrency={self._count} the two could"
                " wait for each other for ever. Give the sink a runner of its own, or one without `concurrency`"
            )
        limiter = self._limiter.get(None)
        if limiter is None:
            limiter = anyio.CapacityLimiter(self._count)
            self._limiter.set(limiter)
        hold = _Hold(self)
        await limiter.acquire_on_behalf_of(hold)
        token = _holds.set((*held, hold))
        try:
            yield
        finally:
            hold.is_over = True
            _holds.reset(token)
            limiter.release_on_behalf_of(hold)
