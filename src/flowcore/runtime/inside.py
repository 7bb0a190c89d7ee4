"""The inside: what the in-process host does for code inside its visits."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from ..clock import Clock, Loop
from ..events import Event, RequestAnswered, RequestOpened
from ..requests import Answer, OpenRequest
from ..scope import Scope, hold, let_pass
from ..visit import Where
from .board import Board
from .record import Recorder
from .threads import RunThreads

__all__ = ["HostInside"]


class HostInside:
    """Keeps and tells what happens in a visit, lends threads, and waits for people: a `VisitHost`."""

    __slots__ = (
        "_record",
        "_thread",
        "board",
        "call",
        "calls",
        "clock",
        "grace",
        "leave_behind",
        "loop",
        "run_id",
    )

    def __init__(
        self,
        record: Recorder,
        threads: RunThreads,
        clock: Clock,
        loop: Loop,
        grace: float,
        left_behind: Callable[[str], None],
    ) -> None:
        self.run_id = record.run_id
        self.clock = clock
        self.loop = loop
        self.grace = grace
        self.call = threads.call
        self.leave_behind = left_behind
        self.calls: dict[Where, set[str]] = {}
        self.board = Board(clock, loop)
        self._record = record
        self._thread = threading.get_ident()

    def note(self, where: Where, event: type[Event], **values: Any) -> None:
        """Keep what happened in a visit that is under way, and tell it."""
        self._here(lambda: self._record.heard(where, event, values))

    def tell(self, where: Where, event: type[Event], **values: Any) -> None:
        """Tell those who listen, and keep nothing."""
        self._here(lambda: self._record.passing(where, event, values))

    async def wait(
        self, scope: Scope, where: Where, request: OpenRequest, read: Callable[[object], Any]
    ) -> Answer:
        """Return the answer of a person, or that there was none in time. No time passes meanwhile."""
        told = {"call": request.call_id, "tool": request.tool, "arguments": request.arguments}
        told |= {"question": request.question, "shown": request.shown}
        self.note(where, RequestOpened, request=request.id, asks=request.kind, **told, expires=request.expires)
        hold(scope, self.clock.monotonic())
        try:
            told_how = partial(self._answered, where, request.id)
            return await self.board.wait(request, read, told_how)
        finally:
            let_pass(scope, self.clock.monotonic())

    def _answered(self, where: Where, request: str, answer: str, by: str) -> None:
        self.note(where, RequestAnswered, request=request, answer=answer, by=by)

    def _here(self, call: Callable[[], None]) -> None:
        """Call in the thread of the event loop."""
        if threading.get_ident() == self._thread:
            call()
        else:
            self.loop.soon(call)
