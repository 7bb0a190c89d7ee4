"""The chat request: what is asked of a model, in the shape of chat completions."""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import ContractError
from ..messages import Attachment, Message, ModelRequest, ModelSettings, OutputSchema
from ..wire import CallSaid, ChatRequest, FunctionSpec, FunctionTool, MessageSaid, Part
from .features import within
from .model import Feature

__all__ = ["Asked", "SchemaForm", "asked_of"]

SchemaForm = Literal["json_schema", "json_object"]
"""How the schema of an answer is sent."""

_FIXED = ("messages", "stream")
"""What `extra` may not say, since the answer would then be read in a wrong way."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The body of a request, and what of it was left out."""

    body: ChatRequest
    warnings: tuple[str, ...]


def asked_of(
    model: str, request: ModelRequest, features: Collection[Feature], schema_as: SchemaForm, *, streaming: bool
) -> Asked:
    """Return what is sent to a model that has these features.

    Raises `ContractError` for a setting that cannot be sent.
    """
    request, warnings = within(features, request)
    body: dict[str, Any] = {"model": model}
    body["messages"] = [_message(message, warnings) for message in request.messages]
    if request.tools:
        body["tools"] = [_tool(tool.name, tool.description, tool.parameters) for tool in request.tools]
    if request.output is not None:
        body["response_format"] = _response_format(request.output, schema_as)
    body |= _settings(request.settings)
    if streaming:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    _add(body, request.settings.extra)
    return Asked(ChatRequest(**body), tuple(warnings))  # type: ignore[typeddict-item]


def _response_format(output: OutputSchema, schema_as: SchemaForm) -> dict[str, Any]:
    if schema_as == "json_object":
        return {"type": "json_object", "schema": output.schema}
    return {"type": "json_schema", "json_schema": {"name": output.name, "schema": output.schema}}


def _settings(settings: ModelSettings) -> dict[str, Any]:
    said = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "max_tokens": settings.max_tokens,
        "stop": list(settings.stop) or None,
        "seed": settings.seed,
        "reasoning_effort": settings.reasoning_effort,
    }
    return {name: value for name, value in said.items() if value is not None}


def _add(body: dict[str, Any], extra: Mapping[str, Any]) -> None:
    """Add `extra` as it stands. Tools that the provider runs stand beside those of the request."""
    for name, value in extra.items():
        if name in _FIXED:
            raise ContractError(f"extra of the settings may not set {name!r}: the request says it")
        body[name] = [*body.get("tools", ()), *value] if name == "tools" else value


def _tool(name: str, description: str, parameters: Mapping[str, Any]) -> FunctionTool:
    function = FunctionSpec(name=name, parameters=parameters)
    if description:
        function["description"] = description
    return FunctionTool(type="function", function=function)


def _message(message: Message, warnings: list[str]) -> MessageSaid:
    said = MessageSaid(role=message.role, content=message.content)  # templates of many models want it, if empty
    if message.tool_calls:
        said["tool_calls"] = [
            CallSaid(id=call.id, type="function", function={"name": call.name, "arguments": call.arguments})
            for call in message.tool_calls
        ]
    if message.role == "tool":
        said["tool_call_id"] = message.tool_call_id
    if message.attachments and message.role == "user":
        text: list[Part] = [{"type": "text", "text": message.content}] if message.content else []
        said["content"] = text + [_part(one, place) for place, one in enumerate(message.attachments, 1)]
    elif message.attachments:
        warnings.append(
            f"the attachments of a message of role {message.role} were left out: only a user's are read"
        )
    return said


def _part(attachment: Attachment, place: int) -> Part:
    kind, _, form = attachment.media_type.partition("/")
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": attachment.url or _data_url(attachment)}}
    if not attachment.data:
        raise ContractError(
            f"attachment {place} of type {attachment.media_type!r} has no data; only pictures are sent by URL"
        )
    if kind == "audio":
        form = {"mpeg": "mp3", "x-wav": "wav", "wave": "wav"}.get(form, form)
        data = base64.b64encode(attachment.data).decode()
        return {"type": "input_audio", "input_audio": {"data": data, "format": form}}
    name = f"attachment-{place}.{form.partition(';')[0].rpartition('.')[2] or 'bin'}"
    return {"type": "file", "file": {"filename": name, "file_data": _data_url(attachment)}}


def _data_url(attachment: Attachment) -> str:
    return f"data:{attachment.media_type};base64,{base64.b64encode(attachment.data).decode()}"
