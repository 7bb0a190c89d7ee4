"""The board: the requests of a run that wait for a person, in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable

import anyio

from ..clock import Clock, Loop
from ..errors import ContractError
from ..requests import Answer, Approval, OpenRequest
from ..types import is_a

__all__ = ["Board"]


class _Entry:
    """A request, and the answer once there is one."""

    __slots__ = ("answer", "answered", "request")

    def __init__(self, request: OpenRequest) -> None:
        self.request = request
        self.answered = anyio.Event()
        self.answer = Answer(Approval(False), expired=True)


class Board:
    """Where requests are pinned until somebody answers, from whatever thread, or their time is over."""

    __slots__ = ("_clock", "_closed", "_entries", "_lock", "_loop", "_thread")

    def __init__(self, clock: Clock, loop: Loop) -> None:
        self._clock = clock
        self._loop = loop
        self._entries: dict[str, _Entry] = {}
        self._closed: dict[str, str] = {}
        self._lock = threading.Lock()
        self._thread = threading.get_ident()

    @property
    def pending(self) -> tuple[OpenRequest, ...]:
        """The requests without an answer, in the order in which they were opened."""
        with self._lock:
            return tuple(entry.request for entry in self._entries.values())

    async def wait(self, request: OpenRequest, closed: Callable[[str, str], None]) -> Answer:
        """Return the answer, or that there was none in time; `closed` is told which, and by whom."""
        entry = _Entry(request)
        with self._lock:
            self._entries[request.id] = entry
        seconds = (request.expires - request.opened).total_seconds()
        timer = self._clock.later(seconds, lambda: self._expire(entry), self._loop)
        try:
            await entry.answered.wait()
        finally:
            timer.cancel()
            if self._close(entry, "was withdrawn", entry.answer):
                closed("withdrawn", "")
            else:  # it was answered, even if the wait was cut off before it went on
                closed(_word(entry.answer), entry.answer.by)
        return entry.answer

    def answer(self, request_id: str | None, value: object, by: str) -> None:
        """Answer a request: the one with this id, or with None the only one. Raises `ContractError`."""
        by = str(by).encode("utf-8", "backslashreplace").decode("utf-8")
        entry = self._found(request_id)
        approval = Approval(value) if isinstance(value, bool) else value
        if not isinstance(approval, Approval) or not is_a(approval.approved, bool):
            raise ContractError(
                f"request {entry.request.id!r} is answered by True, False or Approval, not {value!r}"
            )
        if not self._close(entry, f"was answered by {by!r}", Answer(approval, by)):
            self._found(entry.request.id)  # somebody else was faster: says who

    def _found(self, request_id: str | None) -> _Entry:
        with self._lock:
            waiting = list(self._entries.values())
            entry = None if request_id is None else self._entries.get(request_id)
            how = self._closed.get(request_id or "", "is none of this run")
        if request_id is None:
            if len(waiting) == 1:
                return waiting[0]
            if waiting:
                pending = ", ".join(each.request.id for each in waiting)
                raise ContractError(f"{len(waiting)} requests wait: say which one is answered: {pending}")
            raise ContractError("no request waits for an answer")
        if entry is None:
            raise ContractError(f"request {request_id!r} waits for no answer: it {how}")
        return entry

    def _expire(self, entry: _Entry) -> None:
        self._close(entry, "has expired", entry.answer)

    def _close(self, entry: _Entry, how: str, answer: Answer) -> bool:
        """Close a request, once. Return whether it was open."""
        with self._lock:
            if self._entries.pop(entry.request.id, None) is None:
                return False
            self._closed[entry.request.id] = how
            entry.answer = answer
        if threading.get_ident() == self._thread:
            entry.answered.set()
        else:
            self._loop.soon(entry.answered.set)
        return True


def _word(answer: Answer) -> str:
    return "expired" if answer.expired else "approved" if answer.approval.approved else "denied"
