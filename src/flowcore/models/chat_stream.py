"""The chat stream: the pieces of an answer that comes by server-sent events."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from ..errors import ModelError, ModelRequestError, ModelTimeout
from ..messages import Chunk, ModelReply, TokenUsage
from ..wire import ServerEvent, SseReader, fault_of, read_fault, read_reply
from .assembly import Assembly
from .chat_faults import Place
from .chat_reply import PieceReader
from .chat_veil import StreamVeil

if TYPE_CHECKING:
    from .chat_transfer import Transfer

__all__ = ["ChatStream"]

_DONE = "[DONE]"


class ChatStream:
    """Reads an answer piece by piece and keeps what came. It is whole when the server says why it ended."""

    def __init__(self, transfer: Transfer, place: Place) -> None:
        self._transfer = transfer
        self._place = place
        self._events = SseReader()
        self._pieces = PieceReader()
        self._veil = StreamVeil(place.secrets)
        self._waiting: deque[Chunk] = deque()
        self._came = Assembly()
        self._failure: ModelError | None = None
        self._ended = False
        self.usage: TokenUsage | None = None
        """The tokens that the server told last."""

    @property
    def finish_reason(self) -> str:
        """Why the answer ended."""
        return self._place.secrets.scrub_answer(self._pieces.finish_reason or self._pieces.default_finish)

    def reply(self) -> ModelReply[Any]:
        """Return what came so far."""
        return self._came.reply()

    async def next(self) -> Chunk | None:
        """Return the next piece, None after the last. Raises `ModelError` after the pieces that came before it."""
        while not self._waiting:
            if self._failure is not None:
                raise self._failure
            if self._ended:
                return None
            await self._fill()
        chunk = self._waiting.popleft()
        self._came.add(chunk)
        self.usage = chunk.usage or self.usage
        return chunk

    async def _fill(self) -> None:
        try:
            part = await self._transfer.next()
        except ModelError as error:
            self._fail(error)
            return
        try:
            events = self._events.close() if part is None else self._events.feed(part)
        except ValueError as error:
            self._fail(self._place.cut(str(error)))
            return
        for event in events:
            if not self._ended and self._failure is None:
                self._read(event)
        if part is None and not self._ended and self._failure is None:
            self._fail(self._place.cut("it ended before it was whole"))

    def _read(self, event: ServerEvent) -> None:
        data = event.data.strip()
        if data == _DONE:
            self._end()
        if not data or data == _DONE:  # some servers keep a silent connection alive by events of nothing
            return
        if event.event == "error":
            self._fail(self._place.said(read_fault(event.data.encode()) or fault_of(event.data)))
            return
        try:
            piece = read_reply(event.data)
        except ValueError:
            self._fail(self._place.cut(f"one of its events is no piece of a chat completion: {event.data[:500]}"))
            return
        if piece.error:
            self._fail(self._place.said(fault_of({"error": piece.error})))
        else:
            for chunk in self._pieces.read(piece):
                self._waiting += self._veil.take(chunk)

    def _end(self) -> None:
        self._ended = True
        self._waiting += self._veil.rest()

    def _fail(self, failure: ModelError) -> None:
        """Keep the failure for after what came before it. After the end of the answer it is none."""
        if self._pieces.finish_reason:
            self._end()
            return
        self._waiting += self._veil.rest()
        if isinstance(failure, ModelRequestError | ModelTimeout):
            failure.text = self._came.reply().text + "".join(chunk.text for chunk in self._waiting)
        self._failure = failure
