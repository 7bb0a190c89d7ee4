"""The request: what a client of chat completions sends, as plain dicts of known shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

__all__ = [
    "AudioPart",
    "CallSaid",
    "ChatRequest",
    "FilePart",
    "FunctionSpec",
    "FunctionTool",
    "ImagePart",
    "MessageSaid",
    "NamedSchema",
    "Part",
    "ResponseFormat",
    "TextPart",
]


class TextPart(TypedDict):
    """Text beside other parts."""

    type: Literal["text"]
    text: str


class ImageUrl(TypedDict):
    """Where a picture is; a `data:` URL holds it."""

    url: str


class ImagePart(TypedDict):
    """A picture."""

    type: Literal["image_url"]
    image_url: ImageUrl


class AudioData(TypedDict):
    """Sound in base 64."""

    data: str
    format: str


class AudioPart(TypedDict):
    """Sound."""

    type: Literal["input_audio"]
    input_audio: AudioData


class FileData(TypedDict):
    """A file as a `data:` URL."""

    filename: str
    file_data: str


class FilePart(TypedDict):
    """A file, such as a PDF."""

    type: Literal["file"]
    file: FileData


Part = TextPart | ImagePart | AudioPart | FilePart


class FunctionCall(TypedDict):
    """The function that a call names, with the JSON text of its arguments."""

    name: str
    arguments: str


class CallSaid(TypedDict):
    """A tool call that the assistant made earlier."""

    id: str
    type: Literal["function"]
    function: FunctionCall


class MessageSaid(TypedDict):
    """One message of the conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: NotRequired[str | list[Part] | None]
    tool_calls: NotRequired[list[CallSaid]]
    tool_call_id: NotRequired[str]
    name: NotRequired[str]


class FunctionSpec(TypedDict):
    """A function as the model sees it."""

    name: str
    description: NotRequired[str]
    parameters: NotRequired[Mapping[str, Any]]
    strict: NotRequired[bool | None]


class FunctionTool(TypedDict):
    """A tool that the client runs."""

    type: Literal["function"]
    function: FunctionSpec


class NamedSchema(TypedDict):
    """The JSON Schema of an answer."""

    name: str
    schema: NotRequired[Mapping[str, Any]]
    description: NotRequired[str]
    strict: NotRequired[bool | None]


class ResponseFormat(TypedDict):
    """In what form to answer."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: NotRequired[NamedSchema]


class StreamOptions(TypedDict):
    """What a stream is to tell beside its text."""

    include_usage: NotRequired[bool]


class ChatRequest(TypedDict):
    """A request. A server may know more keys; they are sent along."""

    model: str
    messages: list[MessageSaid]
    tools: NotRequired[list[FunctionTool | Mapping[str, Any]]]
    tool_choice: NotRequired[str | Mapping[str, Any]]
    response_format: NotRequired[ResponseFormat]
    temperature: NotRequired[float]
    top_p: NotRequired[float]
    max_tokens: NotRequired[int]
    stop: NotRequired[list[str]]
    seed: NotRequired[int]
    reasoning_effort: NotRequired[str]
    stream: NotRequired[bool]
    stream_options: NotRequired[StreamOptions]
