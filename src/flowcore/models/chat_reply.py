"""The chat reply: what a server of chat completions answers, as replies and pieces of them."""

from __future__ import annotations

from typing import Any

from ..messages import Chunk, ModelReply, TokenUsage, ToolCall
from ..wire import CallDelta, ChatReply, Choice, FunctionDelta, Said, Usage

__all__ = ["PieceReader", "reply_of", "usage_of"]

_FINISHES = {
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_length": "length",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "safety": "content_filter",
}
"""How servers also say why an answer ended."""
_NOTHING = Said()
_NO_FUNCTION = FunctionDelta()


def reply_of(answer: ChatReply) -> ModelReply[Any] | None:
    """Return the reply, None when the answer holds none. Usage that was not told is all zero."""
    choice = _first(answer)
    if choice is None or choice.message is None:
        return None
    said = choice.message
    calls = tuple(_call(delta) for delta in said.tool_calls or ())
    return ModelReply(
        said.text,
        usage=usage_of(answer.usage) or TokenUsage(),
        finish_reason=_finish(choice.finish_reason or "stop", bool(calls), _is_refused(said)),
        tool_calls=calls,
        reasoning=said.thought,
        model=answer.model or "",
        id=answer.id or "",
    )


def usage_of(usage: Usage | None) -> TokenUsage | None:
    """Return the tokens, None when the server did not tell them, or told what cannot be."""
    if usage is None or (usage.prompt_tokens is None and usage.completion_tokens is None):
        return None
    sent, came = usage.prompt_tokens_details, usage.completion_tokens_details
    told = TokenUsage(
        usage.prompt_tokens or 0,
        usage.completion_tokens or 0,
        max(0, (sent.cached_tokens if sent else None) or 0),
        max(0, (came.reasoning_tokens if came else None) or 0),
    )
    return None if min(told.input, told.output) < 0 else told


class PieceReader:
    """Turns the pieces of one stream into chunks, and finds the call that a piece of a tool call belongs to."""

    def __init__(self) -> None:
        self.finish_reason = ""
        """Why the answer ended, '' as long as the server has not said it."""
        self._refused = False
        self._answered = False
        self._places: dict[int, int] = {}
        self._ids: list[str] = []

    @property
    def default_finish(self) -> str:
        """Why the answer ended when the server never says it."""
        return "tool_calls" if self._ids else "refusal" if self._is_refused else "stop"

    @property
    def _is_refused(self) -> bool:
        return self._refused and not self._answered

    def read(self, piece: ChatReply) -> list[Chunk]:
        """Return the chunks of a piece. Why the answer ended is kept for the last chunk, of the caller."""
        choice = _first(piece)
        usage = usage_of(piece.usage)
        model, id = piece.model or "", piece.id or ""
        if choice is None:
            return [] if usage is None else [Chunk(usage=usage, model=model, id=id)]
        said = choice.delta or choice.message or _NOTHING
        self._refused = self._refused or bool(said.refusal)
        self._answered = self._answered or bool(said.content)
        calls = [self._call(delta, model, id) for delta in said.tool_calls or ()]
        if choice.finish_reason:
            self.finish_reason = _finish(choice.finish_reason, bool(self._ids), self._is_refused)
        text, thought = said.text, said.thought
        if text or thought or usage is not None:
            return [Chunk(text=text, reasoning=thought, usage=usage, model=model, id=id), *calls]
        return calls

    def _call(self, delta: CallDelta, model: str, id: str) -> Chunk:
        function = delta.function or _NO_FUNCTION
        return Chunk(
            call=self._place(delta),
            call_id=delta.id or "",
            call_name=function.name or "",
            arguments=function.arguments or "",
            model=model,
            id=id,
        )

    def _place(self, delta: CallDelta) -> int:
        """Return the place of the call. Servers without indexes, or with one for all, tell calls apart by ids."""
        id, name = delta.id or "", (delta.function or _NO_FUNCTION).name
        known = self._places.get(delta.index, -1) if delta.index is not None else len(self._ids) - 1
        if known >= 0:
            is_other = id != self._ids[known] and bool(id and self._ids[known])
            is_next = delta.index is None and bool(name) and (not id or id != self._ids[known])
            if not is_other and not is_next:
                self._ids[known] = self._ids[known] or id
                return known
        if delta.index is not None:
            self._places[delta.index] = len(self._ids)
        self._ids.append(id)
        return len(self._ids) - 1


def _first(answer: ChatReply) -> Choice | None:
    """Return the first answer; where more were asked for, the others are left out."""
    return next((choice for choice in answer.choices or () if not choice.index), None)


def _call(delta: CallDelta) -> ToolCall:
    function = delta.function or _NO_FUNCTION
    return ToolCall(delta.id or "", function.name or "", function.arguments or "")


def _is_refused(said: Said) -> bool:
    return bool(said.refusal) and not said.content


def _finish(said: str, calls: bool, refused: bool) -> str:
    """Return why the answer ended. Many servers say `stop` where they mean that tools are to be called."""
    reason = _FINISHES.get(said.lower(), said)
    if reason == "stop":
        return "tool_calls" if calls else "refusal" if refused else "stop"
    return reason
