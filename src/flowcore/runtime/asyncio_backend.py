"""asyncio: what its event loop does for a run. The one file that knows asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any

import anyio

from ..clock import Door, Timer

__all__ = ["AsyncioLoop"]


class _TaskDoor:
    """Two scopes around a task: the outer one is cancelled, the inner one lets that through or not.

    They are anyio's, since a cancellation of the task itself would break through the shields of the code inside.
    """

    __slots__ = ("_inner", "_outer", "_work", "task")
    task: asyncio.Task[None]

    def __init__(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._work = work
        self._outer = anyio.CancelScope()
        self._inner = anyio.CancelScope()

    async def run(self) -> None:
        try:
            with self._outer, self._inner:
                await self._work()
        finally:
            _tasks.discard(self)

    def open(self) -> None:
        self._outer.cancel()
        self._inner.shield = False

    def close(self) -> None:
        self._inner.shield = True


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

    def spawn(
        self, work: Callable[[], Coroutine[Any, Any, None]], name: str, context: Context | None = None
    ) -> Door:
        """Run `work` in a task of its own."""
        door = _TaskDoor(work)
        door.task = self._loop.create_task(door.run(), name=name, context=context)
        _tasks.add(door)
        return door

    def is_cancelling(self) -> bool:
        """Return whether somebody cancelled the current task, and not only what it awaits."""
        task = asyncio.current_task(self._loop)
        return task is not None and task.cancelling() > 0

    def cancellation(self) -> BaseException:
        """Return asyncio's cancellation."""
        return asyncio.CancelledError("the run has ended")


_tasks: set[_TaskDoor] = set()
"""The loop itself holds tasks only weakly."""
