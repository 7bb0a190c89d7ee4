"""The chat entry: a request in the shape of chat completions, as a request to an agent."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard, cast

from flowcore.messages import Attachment, Message, ModelSettings, ToolCall
from flowcore_agent.request import AgentRequest

__all__ = ["chat_request"]

_SETTINGS = ("temperature", "top_p", "max_tokens", "seed", "reasoning_effort")


def chat_request(
    body: Mapping[str, Any], *, user: str = "", key: str = "", conversation: str = ""
) -> AgentRequest:
    """Return the request to an agent that a body of chat completions is: its messages, model and settings.

    Nothing is refused here: what is no message stays what it is, for admission to list with everything else.
    """
    messages = body.get("messages", ())
    stop: Any = body.get("stop", ())
    settings = {name: body[name] for name in _SETTINGS if body.get(name) is not None}
    return AgentRequest(
        messages=tuple(map(_message, messages)) if _is_list(messages) else messages,
        user=user,
        key=key,
        source="chat",
        conversation=conversation,
        model=str(body.get("model") or "") or None,
        settings=ModelSettings(
            **settings, stop=(stop,) if isinstance(stop, str) else tuple(stop) if _is_list(stop) else ()
        ),
    )


def _message(said: Any) -> Any:
    if not isinstance(said, Mapping):
        return said
    given = _object(said)
    role: Any = "system" if given.get("role") == "developer" else given.get("role")
    content: object = given.get("content")
    attachments: tuple[Attachment, ...] = ()
    if _is_list(content):
        attachments = tuple(_attachments(content))
        content = "\n".join(_texts(content))
    if content is None and role in ("system", "assistant"):
        content = ""
    calls: Any = given.get("tool_calls", ())
    proposed = tuple(map(_call, calls)) if _is_list(calls) else ()
    return Message(role, cast(Any, content), proposed, str(given.get("tool_call_id", "")), attachments)


def _call(said: Any) -> ToolCall:
    call = _object(said)
    function = _object(call.get("function"))
    return ToolCall(str(call.get("id", "")), str(function.get("name", "")), str(function.get("arguments", "")))


def _texts(parts: Sequence[Any]) -> Iterator[str]:
    return (str(part.get("text", "")) for part in map(_object, parts) if part.get("type") == "text")


def _attachments(parts: Sequence[Any]) -> Iterator[Attachment]:
    """Yield the pictures among the parts of a message: by their address, or with the data that it holds."""
    for part in map(_object, parts):
        if part.get("type") != "image_url":
            continue
        url = str(_object(part.get("image_url")).get("url", ""))
        head, comma, data = url.partition(",")
        if not comma or not head.startswith("data:"):
            yield Attachment("image/*", url=url)
            continue
        try:
            yield Attachment(head[5:].partition(";")[0], data=base64.b64decode(data, validate=True))
        except binascii.Error:
            yield Attachment("image/*", url=url)


def _object(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)
