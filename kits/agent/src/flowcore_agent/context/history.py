"""The history: the tools of earlier turns come back as calls with their results. A pure function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from flowcore.messages import Message
from flowcore_agent.reply import Issue
from flowcore_agent.request import AgentRequest

__all__ = ["restored"]


def restored(request: AgentRequest) -> tuple[list[Message], list[Issue]]:
    """Return the messages of a request without the system's, with what was kept of each earlier turn in its place.

    The text of a turn is that of the assistant's message, since that is what the user has seen. A turn that is not
    sound is an issue, and its message stands alone.
    """
    messages: list[Message] = []
    issues: list[Issue] = []
    turns = iter(request.history)
    for message in request.messages:
        if message.role == "assistant":
            turn = next(turns, ())
            if why := turn_fault(turn):
                issues.append(Issue("prepare", "history", f"a turn is left out: {why}"))
            messages += [message] if why else _with_text(turn, message)
        elif message.role != "system":
            messages.append(message)
    if left := len(list(turns)):
        told = f"there are {left} more turns than messages of the assistant, and they are left out"
        issues.append(Issue("prepare", "history", told))
    return messages, issues


def turn_fault(turn: Sequence[Message]) -> str:
    """Return what is wrong with a turn that was kept, '' if each of its calls has its result and no other."""
    return next(_faults(turn), "")


def _faults(turn: Sequence[Any]) -> Iterator[str]:
    wanted: list[str] = []
    is_after_results = False
    for message in turn:
        if not isinstance(message, Message):
            yield f"it has a {type(message).__name__} and no message"
            return
        if message.role == "tool" and message.tool_call_id in wanted:
            wanted.remove(message.tool_call_id)
            is_after_results = True
            continue
        yield from _unanswered(wanted)
        yield from _alone(message, is_after_results)
        wanted = [call.id for call in message.tool_calls] if message.role == "assistant" else []
        is_after_results = False
    yield from _unanswered(wanted)


def _unanswered(wanted: list[str]) -> Iterator[str]:
    if wanted:
        yield f"there is no result of {', '.join(wanted)}"


def _alone(message: Message, is_after_results: bool) -> Iterator[str]:
    """Yield what is wrong with a message that is no result of a call before it."""
    if message.role == "tool":
        yield f"a result answers no call: {message.tool_call_id!r}"
    elif message.role == "assistant":
        ids = [call.id for call in message.tool_calls]
        if len(set(ids)) < len(ids):
            yield f"two calls have one id: {', '.join(ids)}"
        if not (ids or message.content.strip()):
            yield "it has a message that says nothing"
    elif message.role != "user" or not (is_after_results and message.attachments):  # pictures of tools
        yield f"it has a message of role {message.role}"


def _with_text(turn: Sequence[Message], said: Message) -> list[Message]:
    """Return a turn that ends with what was said, if anything was."""
    if turn and not said.content.strip():
        return [*turn]
    if turn and turn[-1].role == "assistant" and not turn[-1].tool_calls:
        return [*turn[:-1], replace(turn[-1], content=said.content)]
    return [*turn, said]
