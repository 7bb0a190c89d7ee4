"""The policy on system messages: what becomes of the one that a client sends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from flowcore.messages import Message
from flowcore_agent.admission.faults import fault
from flowcore_agent.admission.found import Found
from flowcore_agent.request import AgentRequest
from flowcore_agent.spec import AgentSpec

__all__ = ["client_prompt"]


def client_prompt(spec: AgentSpec, request: AgentRequest) -> Found[str]:
    """Return the words of a client that take the place of the configured prompt, '' where there are none.

    An empty system message is ignored under either policy. One with words is a fault unless the spec takes it.
    """
    said = _leading(request.messages)
    if not said.strip():
        return Found("")
    if spec.system_messages == "override":
        return Found(said)
    message = "a message of role system is refused, since the application has a prompt of its own"
    return Found("", (fault("system_message", "messages[0]", message),))


def _leading(messages: object) -> str:
    """Return the words of a system message at the front, '' where there is none."""
    if not isinstance(messages, Sequence) or not messages:
        return ""
    first = cast("object", messages[0])
    return first.content or "" if isinstance(first, Message) and first.role == "system" else ""
