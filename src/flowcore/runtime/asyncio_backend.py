"""asyncio: what its event loop does for a run. The one file that knows asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from ..clock import Timer

__all__ = ["AsyncioLoop"]


class AsyncioLoop:
    """The running asyncio loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def soon(self, call: Callable[[], object], /) -> None:
        """Call in the loop's next pass."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call)

    def later(self, seconds: float, call: Callable[[], object], /) -> Timer:
        """Call when `seconds` have passed."""
        return self._loop.call_later(seconds, call)

    def spawn(self, work: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        """Run `work` in a task of its own."""
        task = self._loop.create_task(work(), name=name)
        _tasks.add(task)
        task.add_done_callback(_tasks.discard)

    def is_cancelling(self) -> bool:
        """Return whether somebody cancelled the current task, and not only what it awaits."""
        task = asyncio.current_task(self._loop)
        return task is not None and task.cancelling() > 0

    def cancellation(self) -> BaseException:
        """Return asyncio's cancellation."""
        return asyncio.CancelledError("the run has ended")


_tasks: set[asyncio.Task[None]] = set()
"""The loop itself holds tasks only weakly."""
