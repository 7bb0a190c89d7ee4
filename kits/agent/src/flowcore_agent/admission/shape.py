"""The shape of a request: an optional system message, then user and assistant by turns, the user last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from flowcore.messages import Message
from flowcore_agent.admission.faults import fault
from flowcore_agent.admission.found import Found
from flowcore_agent.errors import AdmissionFault
from flowcore_agent.request import AgentRequest

__all__ = ["check_shape", "message_faults"]

_ROLES = ("system", "user", "assistant", "tool")


def check_shape(request: AgentRequest) -> Found[None]:
    """Find everything that is wrong with the messages of a request."""
    messages: Any = request.messages
    if isinstance(messages, str) or not isinstance(messages, Sequence):
        wrong = fault("no_messages", "messages", f"they are a {type(messages).__name__} and no list")
        return Found(None, (wrong,))
    return Found(None, tuple(message_faults(request.messages)))


def message_faults(messages: Sequence[Message]) -> list[AdmissionFault]:
    """Return the faults of messages, in their order: none if they are `(system)? (user assistant)* user`.

    What is no message, a tool's, or a system message out of its place is named, and then left out of the question
    whether the others take turns.
    """
    faults: list[AdmissionFault] = []
    talk: list[tuple[int, str]] = []
    for index, message in enumerate(messages):
        faults += _alone(f"messages[{index}]", message)
        if getattr(message, "role", "") in ("user", "assistant"):
            faults += _out_of_turn(index, message.role, talk)
            faults += _calls(index, message)
            talk.append((index, message.role))
    return [*faults, *_ending(talk)]


def _alone(where: str, message: Any) -> Iterator[AdmissionFault]:
    """Yield what is wrong with a message, whatever stands around it."""
    if not isinstance(message, Message):
        yield fault("bad_message", where, f"it is a {type(message).__name__} and no message")
        return
    role: str = message.role
    content: Any = message.content
    if role not in _ROLES:
        yield fault("bad_message", where, f"its role is {role!r}")
    elif role == "tool":
        yield fault("tool_message", where, "it is a tool's message, and a client has none to give")
    elif role == "system" and where != "messages[0]":
        yield fault("system_place", where, "a system message stands after the first message")
    elif not isinstance(content, str) and not (role == "system" and content is None):
        yield fault("bad_message", where, f"its content is a {type(content).__name__} and no text")


def _out_of_turn(index: int, role: str, talk: list[tuple[int, str]]) -> Iterator[AdmissionFault]:
    if talk and talk[-1][1] == role:
        who = "user" if role == "user" else "assistant"
        yield fault(
            "same_role_twice", f"messages[{index}]", f"the {who} speaks again after messages[{talk[-1][0]}]"
        )
    if not talk and role == "assistant":
        yield fault("assistant_first", f"messages[{index}]", "the assistant speaks before the user")


def _calls(index: int, message: Message) -> Iterator[AdmissionFault]:
    if message.tool_calls:
        names = ", ".join(call.name for call in message.tool_calls)
        yield fault(
            "assistant_calls", f"messages[{index}].tool_calls", f"it calls {names}, and there is no result"
        )


def _ending(talk: list[tuple[int, str]]) -> Iterator[AdmissionFault]:
    if not any(role == "user" for _, role in talk):
        yield fault("no_user_message", "messages", "there is no message of the user")
    elif talk[-1][1] == "assistant":
        yield fault("assistant_last", f"messages[{talk[-1][0]}]", "the assistant has the last word")
