"""The board: the requests of a run that wait for a person, in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import anyio
from pydantic_core import to_jsonable_python

from ..clock import Clock, Loop
from ..errors import ContractError
from ..requests import Answer, OpenRequest, answer_word

__all__ = ["Board", "Misfit"]


class Misfit(Exception):
    """What came in as the answer does not fit: the request is closed, and has to be asked again."""


class _Entry:
    """A request, and the answer once there is one."""

    __slots__ = ("answer", "answered", "left", "read", "refusal", "request")

    def __init__(self, request: OpenRequest, read: Callable[[object], Any]) -> None:
        self.request = request
        self.read = read
        self.answered = anyio.Event()
        self.answer = Answer(None, expired=True)
        self.refusal: BaseException | None = None
        self.left: Callable[[str, Answer], None] | None = None
        """Who is told of the answer, if nobody waits for it at this moment: the run is paused."""


class Board:
    """Where requests are pinned until somebody answers, from whatever thread, or their time is over.

    Those that a pause has cut off stay pinned: `pausing` says whether there is one.
    """

    __slots__ = ("_clock", "_closed", "_entries", "_lock", "_loop", "_pausing", "_thread")

    def __init__(self, clock: Clock, loop: Loop, pausing: Callable[[], bool]) -> None:
        self._clock = clock
        self._pausing = pausing
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

    async def wait(
        self,
        request: OpenRequest,
        read: Callable[[object], Any],
        closed: Callable[[str, Answer], None],
        left: Callable[[str, Answer], None],
    ) -> Answer:
        """Return the answer, or that there was none in time; `closed` is told it, with the word for it.

        If a pause cuts the wait off, the request stays open, and `left` is told of an answer that comes meanwhile.

        `read` makes the value of what the request is answered with, an object or plain data of JSON. It raises
        `ContractError` for what does not fit: "is answered by ...". Then the request goes on waiting.
        """
        entry = _Entry(request, read)
        with self._lock:
            self._entries[request.id] = entry
        seconds = max(0.0, (request.expires - self._clock.utcnow()).total_seconds())
        timer = self._clock.later(seconds, lambda: self._expire(entry), self._loop)
        try:
            await entry.answered.wait()
        finally:
            if not self._leave(entry, left):
                timer.cancel()
                if self._close(entry, "was withdrawn", entry.answer) or entry.refusal is not None:
                    closed("misfit" if isinstance(entry.refusal, Misfit) else "withdrawn", entry.answer)
                else:  # it was answered, even if the wait was cut off before it went on
                    closed(answer_word(entry.answer), entry.answer)
        if entry.refusal is not None:
            raise entry.refusal
        return entry.answer

    def withdraw(self, refusal: Callable[[], BaseException]) -> None:
        """Wait for nobody any more: who waits is told so by what `refusal` returns."""
        with self._lock:
            entries = list(self._entries.values())
        for entry in entries:
            entry.refusal = refusal()
            self._close(entry, "was withdrawn", entry.answer)

    def checked(self, request_id: str | None, value: object) -> tuple[str, Any]:
        """Return which request is meant, and a fitting answer as plain data. Raises as `answer` does."""
        entry = self._found(request_id)
        return entry.request.id, to_jsonable_python(_read(entry, value))

    def answer(self, request_id: str | None, value: object, by: str) -> None:
        """Answer a request: the one with this id, or with None the only one. Raises `ContractError`."""
        by = str(by).encode("utf-8", "backslashreplace").decode("utf-8")
        entry = self._found(request_id)
        if not self._close(entry, f"was answered by {by!r}", Answer(_read(entry, value), by)):
            self._found(entry.request.id)  # somebody else was faster: says who

    def deliver(self, request_id: str, raw: object, by: str) -> str:
        """Answer a request with what came from elsewhere. Return '' or, if it was not taken, why.

        Elsewhere it counts as answered. If the answer does not fit, who waits for it gets `Misfit`.
        """
        try:
            self.answer(request_id, raw, by)
        except ContractError as error:
            with self._lock:
                entry = self._entries.get(request_id)
            if entry is not None:
                entry.refusal = Misfit(str(error))
                self._close(entry, "was answered by what does not fit", entry.answer)
            return str(error)
        return ""

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

    def _leave(self, entry: _Entry, left: Callable[[str, Answer], None]) -> bool:
        """Leave a request open that a pause cuts off. Return whether it is."""
        with self._lock:
            is_open = self._pausing() and self._entries.get(entry.request.id) is entry
            entry.left = left if is_open else None
        return is_open

    def _expire(self, entry: _Entry) -> None:
        self._close(entry, "has expired", entry.answer)

    def _close(self, entry: _Entry, how: str, answer: Answer) -> bool:
        """Close a request, once. Return whether it was open."""
        with self._lock:
            if self._entries.get(entry.request.id) is not entry:
                return False
            del self._entries[entry.request.id]
            self._closed[entry.request.id] = how
            entry.answer = answer
            left = entry.left
        if left is not None and how != "was withdrawn" and entry.refusal is None:
            left(answer_word(answer), answer)
        if threading.get_ident() == self._thread:
            entry.answered.set()
        else:
            self._loop.soon(entry.answered.set)
        return True


def _read(entry: _Entry, raw: object) -> Any:
    try:
        return entry.read(raw)
    except ContractError as error:
        raise ContractError(f"request {entry.request.id!r} {error}") from error.__cause__
    except Exception as error:  # of a form's own code: whoever answers is told, and the request goes on waiting
        raise ContractError(f"request {entry.request.id!r} cannot be answered so: {error!r}") from error
