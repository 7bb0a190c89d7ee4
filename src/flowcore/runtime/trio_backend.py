"""trio: what its event loop does for a run. The one file that knows trio."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any

import trio

from ..clock import Timer

__all__ = ["TrioLoop"]


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

    def spawn(self, work: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        """Run `work` in a task of its own."""
        trio.lowlevel.spawn_system_task(work, name=name, context=copy_context())

    def is_cancelling(self) -> bool:
        """Return True: trio raises its cancellation only in a task that it cancels."""
        return True

    def cancellation(self) -> BaseException:
        """Return trio's cancellation. trio offers no public way to make one outside of an await."""
        return trio.Cancelled._create(source="explicit", reason="the run has ended")
