"""The turn: what a store asks of the running event loop. Stands below the runtime, so it has no more than that."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

__all__ = ["Turn", "in_thread"]

T = TypeVar("T")

_limiters: anyio.lowlevel.RunVar[anyio.CapacityLimiter] = anyio.lowlevel.RunVar("flowcore_store_limiter")
_THREADS = 4


class Turn:
    """The running event loop. Two of them are equal for one loop."""

    __slots__ = ("_here", "_there", "loop")

    def __init__(self) -> None:
        # ruff: noqa: PLC0415 - a program on asyncio does not load trio, nor the other way round
        self.loop: Any
        self._here: Callable[[Callable[[], object]], object]
        if anyio.get_cancelled_exc_class().__module__.partition(".")[0] == "trio":
            import trio.lowlevel

            self.loop = trio.lowlevel.current_trio_token()
            self._here = self._there = self.loop.run_sync_soon
        else:
            import asyncio  # noqa: TID251 - what a loop's next pass is called

            self.loop = asyncio.get_running_loop()
            self._here = self.loop.call_soon
            self._there = self.loop.call_soon_threadsafe

    def here(self, call: Callable[[], object]) -> None:
        """Call in the loop's next pass. For the loop's own thread."""
        self._here(call)

    def there(self, call: Callable[[], object]) -> None:
        """Call in the loop's next pass, from any thread. A loop that has ended is told nothing."""
        with suppress(RuntimeError):  # trio's `RunFinishedError` is one
            self._there(call)


async def in_thread(work: Callable[[], T]) -> T:
    """Work in a thread: of a few that are the stores' own, so that nobody else's work keeps them waiting."""
    try:
        limiter = _limiters.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(_THREADS)
        _limiters.set(limiter)
    return await anyio.to_thread.run_sync(work, limiter=limiter)
