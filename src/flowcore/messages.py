"""Messages: what is said to a model, and what it says. Plain, frozen data that every model and tool shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, cast

from typing_extensions import TypeVar

__all__ = [
    "Attachment",
    "Chunk",
    "Message",
    "ModelReply",
    "ModelRequest",
    "ModelSettings",
    "OutputSchema",
    "TokenUsage",
    "ToolCall",
    "ToolSchema",
]

ValueT = TypeVar("ValueT", default=str)
_NO_VALUE = cast(Any, None)
_IF_ANY: Mapping[str, Any] = {"told_if_any": True}
"""Of a field that most messages have not: traces and pages leave it out where it is empty."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A proposal of a model to call a tool. `arguments` is the JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Attachment:
    """Something beside text, such as a picture: its media type, and its data or where it is.

    Where pydantic writes or reads it as JSON, the data is in base64.
    """

    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"ser_json_bytes": "base64", "val_json_bytes": "base64"}

    media_type: str
    data: bytes = b""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    An assistant's may propose `tool_calls`; a tool's answers one of them, named by `tool_call_id`.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = field(default=(), metadata=_IF_ANY)
    tool_call_id: str = field(default="", metadata=_IF_ANY)
    attachments: tuple[Attachment, ...] = field(default=(), metadata=_IF_ANY)


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens that one request used: what was sent, and what came back.

    `cached` are those of the input that were read from a cache, `reasoning` those of the output that were thought
    and not said. `estimated` says that the model told nothing and the numbers are a guess.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    estimated: bool = False

    @property
    def total(self) -> int:
        """All tokens of the request."""
        return self.input + self.output

    def __add__(self, other: TokenUsage) -> TokenUsage:
        """Return what two requests used."""
        return TokenUsage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.reasoning + other.reasoning,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool as a model sees it: `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """The JSON Schema that an answer must fit."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How a model is to answer. None leaves it to the model; `extra` is added to the request as it stands."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    reasoning_effort: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def over(self, base: ModelSettings) -> ModelSettings:
        """Return these settings, and those of `base` where these say nothing."""
        return ModelSettings(
            base.temperature if self.temperature is None else self.temperature,
            base.top_p if self.top_p is None else self.top_p,
            base.max_tokens if self.max_tokens is None else self.max_tokens,
            self.stop or base.stop,
            base.seed if self.seed is None else self.seed,
            self.reasoning_effort or base.reasoning_effort,
            {**base.extra, **self.extra},
        )


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is asked."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    output: OutputSchema | None = None
    settings: ModelSettings = ModelSettings()


@dataclass(frozen=True, slots=True)
class ModelReply(Generic[ValueT]):
    """What a model answers, and what the answer cost: `cost` is in the currency of your prices.

    `value` is the answer as the type that was asked for, set by the runner: the text where no type was asked for,
    None where a type was and the model asks for tools first. `reasoning` is what the model thought, apart from
    what it says. `warnings` say what was asked and not done.
    """

    text: str
    usage: TokenUsage = TokenUsage()
    cost: float = 0.0
    finish_reason: str = "stop"
    tool_calls: tuple[ToolCall, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    reasoning: str = ""
    warnings: tuple[str, ...] = ()
    value: ValueT = _NO_VALUE
    model: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a streamed answer: text, reasoning, or a piece of a tool call (`call` is its place, from 0).

    `usage` and `cost` are all that was used so far, not what came on top. `finish_reason` is set on the last
    piece, and so are the `warnings`: what was asked and not done.
    """

    text: str = ""
    reasoning: str = ""
    call: int | None = None
    call_id: str = ""
    call_name: str = ""
    arguments: str = ""
    usage: TokenUsage | None = None
    finish_reason: str = ""
    model: str = ""
    id: str = ""
    warnings: tuple[str, ...] = ()
    cost: float = 0.0
    attachments: tuple[Attachment, ...] = ()
