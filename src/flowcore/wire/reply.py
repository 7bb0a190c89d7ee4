"""The reply: what a server of chat completions answers, whole or in pieces, read with patience.

Servers differ. What may be null, missing or of another shape without making the answer useless is taken as it is.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from pydantic import BeforeValidator, TypeAdapter, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

__all__ = ["CallDelta", "ChatReply", "Choice", "FunctionDelta", "Said", "TokenDetails", "Usage", "read_reply"]


def _or_nothing(value: object, read: ValidatorFunctionWrapHandler) -> Any:
    try:
        return read(value)
    except ValidationError:
        return None


_Loose = Annotated[str | None, WrapValidator(_or_nothing)]
"""A text that the answer is useful without."""


def _as_text(value: object) -> object:
    """Some servers give the arguments as an object. They are kept as the text that means the same."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


@dataclass(frozen=True, slots=True)
class TokenDetails:
    """Which of the tokens were read from a cache, or thought."""

    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of the request so far."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_tokens_details: Annotated[TokenDetails | None, WrapValidator(_or_nothing)] = None
    completion_tokens_details: Annotated[TokenDetails | None, WrapValidator(_or_nothing)] = None


@dataclass(frozen=True, slots=True)
class FunctionDelta:
    """The function of a call, or a piece of it."""

    name: str | None = None
    arguments: Annotated[str | None, BeforeValidator(_as_text)] = None


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A tool call, or a piece of the one at `index`."""

    index: int | None = None
    id: str | None = None
    function: FunctionDelta | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """What the model says: a whole message, or a piece of one. Servers name what it thinks in two ways."""

    content: str | list[Any] | None = None
    refusal: _Loose = None
    reasoning_content: Any = None
    reasoning: Any = None
    tool_calls: list[CallDelta] | None = None

    @property
    def text(self) -> str:
        """What is said, a refusal included."""
        if isinstance(self.content, str):
            return self.content or self.refusal or ""
        return "".join(_texts(self.content or (), "text")) or self.refusal or ""

    @property
    def thought(self) -> str:
        """What is thought and not said."""
        for thought in (self.reasoning_content, self.reasoning):
            if isinstance(thought, str) and thought:
                return thought
        return "".join(_texts(self.content, "thinking")) if isinstance(self.content, list) else ""


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer: a `message` when it is whole, a `delta` when it comes in pieces."""

    index: int | None = None
    message: Said | None = None
    delta: Said | None = None
    finish_reason: str | None = None


@dataclass(frozen=True, slots=True)
class ChatReply:
    """An answer, or a piece of one; the last piece may have the usage and no choice.

    `error` is there when a server says a failure with the status of a success, or amid a stream.
    """

    id: _Loose = None
    model: _Loose = None
    choices: list[Choice] | None = None
    usage: Annotated[Usage | None, WrapValidator(_or_nothing)] = None
    error: Any = None


@cache
def _reader() -> TypeAdapter[ChatReply]:
    return TypeAdapter(ChatReply)


def read_reply(body: bytes | str) -> ChatReply:
    """Return the answer, or the piece of one, that the JSON holds. Raises `ValueError` when it is none."""
    return _reader().validate_json(body)


def _texts(parts: Any, kind: str) -> list[str]:
    """Return the texts of the parts of a kind; what is thought may again come in parts."""
    found: list[str] = []
    for part in parts:
        if isinstance(part, str) and kind == "text":
            found.append(part)
        elif isinstance(part, dict) and part.get("type") == kind:
            inner = part.get(kind) or part.get("text") or ""
            found += [inner] if isinstance(inner, str) else _texts(inner, "text")
    return found
