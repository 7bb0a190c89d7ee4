"""trio: what its event loop does for a run. The one file that knows trio."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextvars import Context, copy_context
from typing import Any

import trio

from ..clock import Door, Timer

__all__ = ["TrioLoop"]


class _TaskDoor:
    """Two scopes around a task: the outer one is cancelled, the inner one lets that through or not."""

    __slots__ = ("_inner", "_outer")

    def __init__(self) -> None:
        self._outer = trio.CancelScope()
        self._inner = trio.CancelScope()

    async def run(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        with self._outer, self._inner:
            await work()

    def open(self) -> None:
        self._outer.cancel()
        self._inner.shield = False

    def close(self) -> None:
        self._inner.shield = True


class TrioLoop:
    """The running trio loop. Its system tasks belong to no nursery, so a run can be abandoned."""

    def __init__(self) -> None:
        self._token = trio.lowlevel.current_trio_token()

    def soon(self, call: Callable[[], object], /) -> None:
        """Call in the loop's next pass."""
        try:
            self._token.run_sync_soon(call)
        except trio.RunFinishedError:  # a thread that outlived the loop has nobody to tell
            return

    def later(self, seconds: float, call: Callable[[], object], /) -> Timer:
        """Call when `seconds` have passed."""
        scope = trio.CancelScope()

        async def wait() -> None:
            with scope:
                await trio.sleep(seconds)
                call()

        trio.lowlevel.spawn_system_task(wait, name="flowcore timer")
        return scope

    def spawn(
        self, work: Callable[[], Coroutine[Any, Any, None]], name: str, context: Context | None = None
    ) -> Door:
        """Run `work` in a task of its own."""
        door = _TaskDoor()
        trio.lowlevel.spawn_system_task(door.run, work, name=name, context=context or copy_context())
        return door

    def is_cancelling(self) -> bool:
        """Return True: trio raises its cancellation only in a task that it cancels."""
        return True

    def cancellation(self) -> BaseException:
        """Return trio's cancellation. trio offers no public way to make one outside of an await."""
        return trio.Cancelled._create(source="explicit", reason="the run has ended")
