"""Slots: how many requests may be under way at once."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from anyio.lowlevel import RunVar

__all__ = ["Slots"]

_numbers = itertools.count()


class Slots:
    """So many slots in each event loop; None is no limit."""

    __slots__ = ("_count", "_limiter")

    def __init__(self, count: int | None) -> None:
        self._count = count
        # A limiter belongs to the event loop that it is first used in.
        self._limiter: RunVar[anyio.CapacityLimiter] = RunVar(f"flowcore slots {next(_numbers)}")

    @asynccontextmanager
    async def one(self) -> AsyncGenerator[None]:
        """Hold one of the slots, whichever task asks, and however many it holds already."""
        if self._count is None:
            yield
            return
        limiter = self._limiter.get(None)
        if limiter is None:
            limiter = anyio.CapacityLimiter(self._count)
            self._limiter.set(limiter)
        borrower = object()
        await limiter.acquire_on_behalf_of(borrower)
        try:
            yield
        finally:
            limiter.release_on_behalf_of(borrower)
