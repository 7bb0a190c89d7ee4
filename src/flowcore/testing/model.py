"""The scripted model: a model that says what a test tells it to say, and when."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Collection, Iterable
from dataclasses import dataclass, field
from inspect import iscoroutine
from typing import Any, TypeAlias

from ..clock import Clock, SystemClock
from ..messages import Chunk, ModelReply, ModelRequest
from ..models.assembly import Assembly, pieces_of
from ..models.model import EVERY_FEATURE, Feature

__all__ = ["ScriptedLine", "ScriptedModel"]

Said = str | ModelReply[Any] | Exception
Line: TypeAlias = "Said | Callable[[ModelRequest], Said | ScriptedLine] | ScriptedLine"
_WORDS = re.compile(r"\s*\S+|\s+")


@dataclass(frozen=True, slots=True)
class ScriptedLine:
    """What a model says to one request, and how it comes.

    Args:
        said: A text, a whole reply, or the error that comes in their place.
        pieces: How the answer comes when it is streamed. A text comes word by word if nothing is said.
        wait: Seconds until the answer, or its first piece, comes.
        pause: Seconds between two pieces.
        breaks: The error with which a stream breaks off after its pieces.
    """

    said: Said = ""
    pieces: tuple[Chunk | str, ...] = ()
    wait: float = 0.0
    pause: float = 0.0
    breaks: Exception | None = field(default=None, compare=False)

    @property
    def reply(self) -> ModelReply[Any]:
        """The whole answer. Raises the error that comes in its place."""
        if isinstance(self.said, Exception):
            raise self.said
        if self.breaks is not None:
            raise self.breaks
        if self.pieces:
            assembly = Assembly()
            for piece in self.chunks:
                assembly.add(piece)
            return assembly.reply()
        return self._whole

    @property
    def chunks(self) -> list[Chunk]:
        """The pieces of the answer. The last one of those that do not break off says why the answer ended."""
        if isinstance(self.said, Exception):
            raise self.said
        if not self.pieces:
            pieces = [piece for chunk in pieces_of(self._whole) for piece in _by_words(chunk)]
            return pieces[:-1] if self.breaks is not None else pieces
        pieces = [Chunk(text=piece) if isinstance(piece, str) else piece for piece in self.pieces]
        ends = self.breaks is not None or any(piece.finish_reason for piece in pieces)
        return pieces if ends else [*pieces, Chunk(finish_reason="stop")]

    @property
    def _whole(self) -> ModelReply[Any]:
        said: Any = self.said
        return said if isinstance(said, ModelReply) else ModelReply(said)


class ScriptedModel:
    """A model that answers with the given lines, one a request, and keeps the requests it got.

    A line is a text, a whole reply, an exception to raise, a function of the request that returns one of these, or
    a `ScriptedLine`, which may be late, come in pieces and break off. Waits are on `clock`, real time if none is
    given. `name` is what the model is known by, in lists of prices too. Raises `AssertionError` when it is asked
    more often than it has lines.
    """

    def __init__(
        self,
        lines: Iterable[Line],
        *,
        name: str = "",
        features: Collection[Feature] = EVERY_FEATURE,
        clock: Clock | None = None,
    ) -> None:
        if isinstance(lines, str | ModelReply | Exception):
            raise TypeError("the lines of a scripted model are a list: ScriptedModel([...]), one line a request")
        self._lines = list(lines)
        self._clock = clock if clock is not None else SystemClock()
        self.name = name
        self.features = frozenset(features)
        self.requests: list[ModelRequest] = []
        self.open = 0
        """How many requests are under way."""
        self.given = 0
        """How many pieces of streams were taken from it."""

    async def complete(self, request: ModelRequest) -> ModelReply[Any]:
        """Return what the next line says."""
        line = self._next(request)
        self.open += 1
        try:
            pauses = max(0, len(line.chunks) - 1) if line.pause else 0
            await self._wait(line.wait + line.pause * pauses)
            return line.reply
        finally:
            self.open -= 1

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Yield what the next line says, piece by piece."""
        line = self._next(request)
        self.open += 1
        try:
            await self._wait(line.wait)
            for place, chunk in enumerate(line.chunks):
                await self._wait(line.pause if place else 0.0)
                self.given += 1
                yield chunk
            if line.breaks is not None:
                raise line.breaks
        finally:
            self.open -= 1

    def _next(self, request: ModelRequest) -> ScriptedLine:
        self.requests.append(request)
        if len(self.requests) > len(self._lines):
            raise AssertionError(f"the scripted model has {len(self._lines)} lines and was asked once more")
        line = self._lines[len(self.requests) - 1]
        said: Any = line
        if callable(said) and not isinstance(said, str | ModelReply | Exception | ScriptedLine):
            said = said(request)
        if isinstance(said, str | ModelReply | Exception):
            return ScriptedLine(said)
        if isinstance(said, ScriptedLine):
            return said
        if iscoroutine(said):
            said.close()
        kinds = "a text, a ModelReply, an exception, a ScriptedLine, or a function that returns one of these"
        raise TypeError(
            f"line {len(self.requests)} of the scripted model is a {type(said).__name__}: give {kinds}"
        )

    async def _wait(self, seconds: float) -> None:
        if seconds > 0:
            await self._clock.sleep(seconds)


def _by_words(chunk: Chunk) -> list[Chunk]:
    return [Chunk(text=word) for word in _WORDS.findall(chunk.text)] if chunk.text else [chunk]
