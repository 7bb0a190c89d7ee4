"""The inside: what the in-process host does for code inside its visits."""

from __future__ import annotations

import hashlib
import json
import threading
import uuid
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic_core import to_jsonable_python

from ..clock import Clock, Loop
from ..errors import ContractError
from ..events import Event, RequestAnswered, RequestOpened
from ..requests import Answer, OpenRequest, answer_word
from ..scope import Scope, hold, let_pass
from ..visit import Where, written_path_of
from .board import Board, Misfit
from .record import Recorder
from .threads import RunThreads
from .waiting import written

if TYPE_CHECKING:
    from ..store import RequestRow

__all__ = ["HostInside"]


class HostInside:
    """Keeps and tells what happens in a visit, lends threads, and waits for people: a `VisitHost`."""

    __slots__ = (
        "_nth",
        "_record",
        "_requests",
        "_thread",
        "_untold",
        "board",
        "call",
        "calls",
        "clock",
        "grace",
        "keeps",
        "leave_behind",
        "log",
        "loop",
        "pausing",
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
        pausing: Callable[[], bool],
    ) -> None:
        self.run_id = record.run_id
        self.clock = clock
        self.loop = loop
        self.grace = grace
        self.call = threads.call
        self.leave_behind = left_behind
        self.calls: dict[Where, set[str]] = {}
        self.keeps = record.ledger is not None
        self.log = record.calls.begin
        self.board = Board(clock, loop, pausing)
        self.pausing = pausing
        self._nth: dict[str, int] = {}
        self._untold: set[str] = set()
        self._requests: dict[str, RequestRow] = {} if record.ledger is None else record.ledger.requests
        self._record = record
        self._thread = threading.get_ident()

    def note(self, where: Where, event: type[Event], **values: Any) -> None:
        """Keep what happened in a visit that is under way, and tell it."""
        self._here(lambda: self._record.heard(where, event, values))

    def tell(self, where: Where, event: type[Event], **values: Any) -> None:
        """Tell those who listen, and keep nothing."""
        self._here(lambda: self._record.passing(where, event, values))

    async def wait(
        self, scope: Scope, where: Where, request: OpenRequest, read: Callable[[object], Any], key: str = ""
    ) -> Answer:
        """Return the answer of a person, or that there was none in time. No time passes meanwhile.

        A visit that runs again finds the request that it opened before, and its answer if there is one.
        """
        key = key or self._key(where, request)
        row = self._requests.get(key)
        while True:
            try:
                if row is not None and (given := self._given(where, row, read)) is not None:
                    return given
                row = (
                    row if row is not None and row.status == "pending" else await self._opened(where, key, request)
                )
                return await self._waited(scope, where, row, read)
            except Misfit as misfit:
                request = replace(request, id=uuid.uuid4().hex, question=f"{request.question} ({misfit})".strip())
                row = None

    async def _opened(self, where: Where, key: str, request: OpenRequest) -> RequestRow:
        """Open a request: from now on it can be answered, whatever becomes of this process."""
        from ..store import RequestRow  # noqa: PLC0415 - loaded where somebody is asked

        times = (request.opened.timestamp(), request.expires.timestamp())
        row = RequestRow(request.id, key, request.path, request.kind, request.to_json(), *times)
        self._requests[key] = row
        told = {"call": request.call_id, "tool": request.tool, "arguments": request.arguments}
        told |= {"question": request.question, "shown": request.shown}
        self.note(where, RequestOpened, request=request.id, asks=request.kind, **told, expires=request.expires)
        await self._keep(row)
        return row

    async def _waited(self, scope: Scope, where: Where, row: RequestRow, read: Callable[[object], Any]) -> Answer:
        hold(scope, self.clock.monotonic())
        try:
            request = OpenRequest.from_json(row.data)
            return await self.board.wait(
                request, read, partial(self._closed, where, row), partial(self._left, row)
            )
        finally:
            let_pass(scope, self.clock.monotonic())
            await self._keep(None)

    def deliver(self, row: RequestRow) -> None:
        """Hand on an answer that came in through the store."""
        if self.board.deliver(row.id, json.loads(row.answer), row.by):
            self._requests[row.key] = row

    def interrupt(self) -> None:
        """Count equal requests and calls of a visit anew: those under way run again."""
        self._nth.clear()
        self._record.calls.interrupt()

    def _given(self, where: Where, row: RequestRow, read: Callable[[object], Any]) -> Answer | None:
        """Return what was answered before the visit ran again; None if nothing was, or nothing that fits."""
        answer = Answer(None, expired=True)
        if row.status == "answered":
            try:
                answer = Answer(read(json.loads(row.answer)), row.by)
            except ContractError as error:
                raise Misfit(str(error)) from error
        elif row.status != "expired":
            return None
        ledger = self._record.ledger
        if row.id in self._untold or (ledger is not None and row.id not in ledger.answered):
            self._untold.discard(row.id)
            if ledger is not None:
                ledger.later(row)
            self._told(where, row.id, answer_word(answer), row.by)
        return answer

    def _closed(self, where: Where, row: RequestRow, word: str, answer: Answer) -> None:
        """Note how a request was closed. What a pause has cut off stays open."""
        if word == "misfit" or (word == "withdrawn" and self.pausing()):
            return  # it was answered in the store, or stays open while the run is paused
        closed = self._requests[row.key] = self._as_closed(row, word, answer)
        if self._record.ledger is not None:
            self._record.ledger.later(closed)
        self._told(where, row.id, word, answer.by)

    def _left(self, row: RequestRow, word: str, answer: Answer) -> None:
        """Keep how a request was closed while the run is paused: the visit that runs again finds and tells it."""
        self._untold.add(row.id)
        self._requests[row.key] = self._as_closed(row, word, answer)

    def _as_closed(self, row: RequestRow, word: str, answer: Answer) -> RequestRow:
        closed = row._replace(status=word, by=answer.by, at=self.clock.utcnow().timestamp())
        if word in ("withdrawn", "expired"):
            return closed
        return closed._replace(status="answered", answer=json.dumps(to_jsonable_python(answer.value)))

    def _told(self, where: Where, request: str, answer: str, by: str) -> None:
        self.note(where, RequestAnswered, request=request, answer=answer, by=by)

    async def _keep(self, row: RequestRow | None) -> None:
        """Write a request, or what is waiting to be written of one, where the run is stored."""
        if (ledger := self._record.ledger) is not None and not ledger.closed:
            await written(ledger.flush() if row is None else ledger.request(row))

    def _key(self, where: Where, request: OpenRequest) -> str:
        """Return by what a visit finds its request again: what it asks, and which of several equal ones it is."""
        asked = (request.kind, request.tool, request.call_id, request.arguments or request.question)
        text = "\n".join((written_path_of(where), *asked))
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]
        self._nth[key] = nth = self._nth.get(key, 0) + 1
        return key if nth == 1 else f"{key}-{nth}"

    def _here(self, call: Callable[[], None]) -> None:
        """Call in the thread of the event loop."""
        if threading.get_ident() == self._thread:
            call()
        else:
            self.loop.soon(call)
