"""The chat veil: an answer without the secrets that its server says back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..messages import Chunk, ModelReply
from .secrets import Secrets, Veil

__all__ = ["StreamVeil", "veiled"]


def veiled(secrets: Secrets, reply: ModelReply[Any]) -> ModelReply[Any]:
    """Return the reply without secrets."""
    scrub = secrets.scrub_answer
    calls = tuple(
        replace(call, id=scrub(call.id), name=scrub(call.name), arguments=scrub(call.arguments))
        for call in reply.tool_calls
    )
    return replace(
        reply,
        text=scrub(reply.text),
        reasoning=scrub(reply.reasoning),
        tool_calls=calls,
        finish_reason=scrub(reply.finish_reason),
        model=scrub(reply.model),
        id=scrub(reply.id),
    )


class StreamVeil:
    """Takes secrets out of the pieces of an answer, also those that are in no piece whole."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._text = secrets.veil()
        self._reasoning = secrets.veil()
        self._arguments: dict[int, Veil] = {}

    def take(self, chunk: Chunk) -> Iterator[Chunk]:
        """Yield the piece as it may be told; nothing if all of it has to wait."""
        told = replace(
            chunk,
            text=self._text.take(chunk.text),
            reasoning=self._reasoning.take(chunk.reasoning),
            arguments=self._argument(chunk),
            call_id=self._secrets.scrub_answer(chunk.call_id),
            call_name=self._secrets.scrub_answer(chunk.call_name),
            model=self._secrets.scrub_answer(chunk.model),
            id=self._secrets.scrub_answer(chunk.id),
        )
        is_empty = not (told.text or told.reasoning or told.usage is not None or told.call is not None)
        if not is_empty or not (chunk.text or chunk.reasoning):
            yield told

    def rest(self) -> Iterator[Chunk]:
        """Yield what was kept back, once no more comes."""
        text, reasoning = self._text.rest(), self._reasoning.rest()
        if text or reasoning:
            yield Chunk(text=text, reasoning=reasoning)
        for call, veil in self._arguments.items():
            if rest := veil.rest():
                yield Chunk(call=call, arguments=rest)

    def _argument(self, chunk: Chunk) -> str:
        if chunk.call is None:
            return chunk.arguments
        if chunk.call not in self._arguments:
            self._arguments[chunk.call] = self._secrets.veil()
        return self._arguments[chunk.call].take(chunk.arguments)
