"""The gate: holds the pieces of a stream back until the guardrails of the output have seen them."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import cast

from flowcore.messages import Chunk
from flowcore.models import Sink
from flowcore_agent.guardrails.windows import Windows

__all__ = ["SAYING", "OutputGate", "mark_of", "taker_of"]

SAYING = frozenset(("complete", "send_message"))
"""Own tools whose arguments are words for the user, which are looked at when the call is run."""


class OutputGate:
    """A sink before another one, for one reply. `look` sees each window, and raises where it may not pass.

    Text and reasoning have windows of their own; all pieces go on in their order. What has gone on cannot be taken
    back: a phrase that is longer than the overlap of the windows may have begun.
    """

    def __init__(self, sink: Sink, look: Callable[[str], Awaitable[object]], size: int, overlap: int) -> None:
        self._hand = taker_of(sink)
        self._look = look
        self._text = Windows(size, overlap)
        self._reasoning = Windows(size, overlap)
        self._held: deque[tuple[Chunk, int, int]] = deque()
        self._saying: set[int | None] = set()
        self._hash = hashlib.sha256()

    @property
    def mark(self) -> str:
        """The mark of all the text that came, as `mark_of` makes it."""
        return self._hash.hexdigest()

    async def output(self, chunk: Chunk, /) -> None:
        """Take the next piece, and hand on those that have been seen whole."""
        if chunk.text:
            await self._see_rest(self._reasoning)
        elif chunk.reasoning:
            await self._see_rest(self._text)
        self._reasoning.add(chunk.reasoning)
        self._text.add(chunk.text)
        self._hash.update(chunk.text.encode("utf-8", "surrogatepass"))
        self._held.append((self._unsaid(chunk), self._text.length, self._reasoning.length))
        for windows in (self._reasoning, self._text):
            for window in windows.full():
                await self._look(window)
        await self._hand_on()

    def _unsaid(self, chunk: Chunk) -> Chunk:
        """Return a piece without the words for the user that the arguments of a call have."""
        if chunk.call is not None and chunk.call_name in SAYING:
            self._saying.add(chunk.call)
        return replace(chunk, arguments="") if chunk.arguments and chunk.call in self._saying else chunk

    async def close(self) -> None:
        """See what is left, and hand it on: the reply is whole."""
        await self._see_rest(self._reasoning)
        await self._see_rest(self._text)
        await self._hand_on()

    async def _see_rest(self, windows: Windows) -> None:
        for window in windows.rest():
            await self._look(window)

    async def _hand_on(self) -> None:
        while self._held:
            chunk, text, reasoning = self._held[0]
            if text > self._text.passed or reasoning > self._reasoning.passed:
                return
            self._held.popleft()
            await self._hand(chunk)


def mark_of(text: str) -> str:
    """Return the mark of a text: equal for equal texts, and short."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def taker_of(sink: Sink) -> Callable[[Chunk], Awaitable[object]]:
    """Return what takes the pieces of a sink: its method, or the function that it is."""
    return cast("Callable[[Chunk], Awaitable[object]]", getattr(sink, "output", sink))
