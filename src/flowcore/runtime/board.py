"""The board: the requests of a run that wait for a person, in memory."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from ..clock import Clock, Loop
from ..errors import ContractError
from ..requests import Answer, Approval, OpenRequest

__all__ = ["Board"]


class _Entry:
    """A request, and the answer once there is one."""

    __slots__ = ("answer", "answered", "request")

    def __init__(self, request: OpenRequest) -> None:
        self.request = request
        self.answered = anyio.Event()
        self.answer = Answer(Approval(False), expired=True)


class Board:
    """Where requests are pinned until somebody answers, or their time is over."""

    __slots__ = ("_clock", "_closed", "_entries", "_loop")

    def __init__(self, clock: Clock, loop: Loop) -> None:
        self._clock = clock
        self._loop = loop
        self._entries: dict[str, _Entry] = {}
        self._closed: dict[str, str] = {}

    @property
    def pending(self) -> tuple[OpenRequest, ...]:
        """The requests without an answer, in the order in which they were opened."""
        return tuple(entry.request for entry in self._entries.values())

    async def wait(self, request: OpenRequest, closed: Callable[[str, str], None]) -> Answer:
        """Return the answer, or that there was none in time; `closed` is told which, and by whom."""
        entry = self._entries[request.id] = _Entry(request)
        seconds = (request.expires - request.opened).total_seconds()
        timer = self._clock.later(seconds, lambda: self._expire(entry), self._loop)
        try:
            await entry.answered.wait()
        finally:
            timer.cancel()
            if self._entries.pop(request.id, None) is not None:
                self._closed[request.id] = "was withdrawn"
                closed("withdrawn", "")
        answer = entry.answer
        closed("expired" if answer.expired else "approved" if answer.approval.approved else "denied", answer.by)
        return answer

    def answer(self, request_id: str | None, value: object, by: str) -> None:
        """Answer a request: the one with this id, or with None the only one. Raises `ContractError`."""
        entry = self._found(request_id)
        approval = Approval(value) if isinstance(value, bool) else value
        if not isinstance(approval, Approval):
            raise ContractError(
                f"request {entry.request.id!r} is answered by True, False or Approval, not {value!r}"
            )
        self._close(entry, f"was answered by {by!r}", Answer(approval, by))

    def _found(self, request_id: str | None) -> _Entry:
        if request_id is None:
            if len(self._entries) == 1:
                return next(iter(self._entries.values()))
            if self._entries:
                pending = ", ".join(self._entries)
                raise ContractError(f"{len(self._entries)} requests wait: say which one is answered: {pending}")
            raise ContractError("no request waits for an answer")
        if (entry := self._entries.get(request_id)) is None:
            how = self._closed.get(request_id, "is none of this run")
            raise ContractError(f"request {request_id!r} waits for no answer: it {how}")
        return entry

    def _expire(self, entry: _Entry) -> None:
        if entry.request.id in self._entries:
            self._close(entry, "has expired", entry.answer)

    def _close(self, entry: _Entry, how: str, answer: Answer) -> None:
        del self._entries[entry.request.id]
        self._closed[entry.request.id] = how
        entry.answer = answer
        entry.answered.set()
