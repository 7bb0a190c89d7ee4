"""The conversation: a reply with its calls, and their results, as messages of the next request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..messages import Message, ModelReply, ToolCall
from .json_text import sendable, valid_arguments
from .result import ToolResult

__all__ = ["SHOWN", "assistant_message", "tool_messages", "unique_calls"]

SHOWN = "The tools returned what is attached."
"""What a message says that has the pictures of tools: it is a user's, and no question of his."""


def assistant_message(reply: ModelReply[Any]) -> Message:
    """Return a reply as a message that any model can be sent: each call has an id of its own, and valid JSON."""
    calls = tuple(
        replace(call, arguments=valid_arguments(call.arguments)) for call in unique_calls(reply.tool_calls)
    )
    return Message("assistant", reply.text, calls)


def tool_messages(results: Iterable[ToolResult]) -> tuple[Message, ...]:
    """Return a message for each result, in their order.

    Models read pictures in messages of a user alone: one with all that the tools returned comes last.
    """
    known = tuple(results)
    said = tuple(Message("tool", result.text, tool_call_id=result.call.id) for result in known)
    shown = tuple(attachment for result in known for attachment in result.attachments)
    return (*said, Message("user", SHOWN, attachments=shown)) if shown else said


def unique_calls(calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    """Return the calls with ids that differ and can be sent: of two equal ones the second is given a number."""
    known = tuple(calls)
    wanted = [sendable(call.id) for call in known]
    given, taken, latest = set(wanted), set[str](), dict[str, int]()
    made: list[ToolCall] = []
    for call, base in zip(known, wanted, strict=True):
        id, number = base, latest.get(base, 1)
        while not id or id in taken or (id != base and id in given):
            number += 1
            id = f"{base or 'call'}-{number}"
        latest[base] = number
        taken.add(id)
        made.append(call if id == call.id else replace(call, id=id))
    return tuple(made)
