"""The assembly: puts the pieces of a streamed answer together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from ..messages import Attachment, Chunk, ModelReply, TokenUsage, ToolCall

__all__ = ["Assembly", "pieces_of"]


@dataclass(slots=True)
class _Call:
    """A tool call under way."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class Assembly:
    """An answer that grows piece by piece. Usage is replaced by what came last, never added up."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: dict[int, _Call] = {}
        self._usage = TokenUsage()
        self._finish_reason = ""
        self._warnings: tuple[str, ...] = ()
        self._attachments: tuple[Attachment, ...] = ()
        self._cost = 0.0
        self._model = ""
        self._id = ""
        self.count = 0
        """How many pieces there were."""

    @property
    def is_whole(self) -> bool:
        """Whether the model has said how the answer ended."""
        return bool(self._finish_reason)

    def add(self, chunk: Chunk) -> None:
        """Add the next piece."""
        self.count += 1
        self._text.append(chunk.text)
        if chunk.reasoning:
            self._reasoning.append(chunk.reasoning)
        if chunk.call is not None:
            call = self._calls.setdefault(chunk.call, _Call())
            call.id = call.id or chunk.call_id
            call.name = call.name or chunk.call_name
            call.arguments.append(chunk.arguments)
        if chunk.usage is not None:
            self._usage = chunk.usage
        self._finish_reason = chunk.finish_reason or self._finish_reason
        self._warnings += chunk.warnings
        self._attachments += chunk.attachments
        self._cost = chunk.cost or self._cost
        self._model = self._model or chunk.model
        self._id = self._id or chunk.id

    def reply(self) -> ModelReply[Any]:
        """Return the answer so far."""
        return ModelReply(
            "".join(self._text),
            usage=self._usage,
            cost=self._cost,
            attachments=self._attachments,
            finish_reason=self._finish_reason,
            tool_calls=tuple(
                ToolCall(call.id, call.name, "".join(call.arguments)) for _, call in sorted(self._calls.items())
            ),
            reasoning="".join(self._reasoning),
            warnings=self._warnings,
            model=self._model,
            id=self._id,
        )


def pieces_of(reply: ModelReply[Any]) -> list[Chunk]:
    """Return a whole answer as pieces, for who wants pieces of a model that gives none."""
    pieces = [Chunk(reasoning=reply.reasoning)] if reply.reasoning else []
    pieces += [Chunk(text=reply.text)] if reply.text else []
    pieces += [
        Chunk(call=place, call_id=call.id, call_name=call.name, arguments=call.arguments)
        for place, call in enumerate(reply.tool_calls)
    ]
    usage = reply.usage if reply.usage.total else None
    last = Chunk(
        usage=usage,
        cost=reply.cost,
        finish_reason=reply.finish_reason,
        warnings=reply.warnings,
        attachments=reply.attachments,
    )
    return [replace(piece, model=reply.model, id=reply.id) for piece in (*pieces, last)]
