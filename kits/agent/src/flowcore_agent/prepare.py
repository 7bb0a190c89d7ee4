"""Preparing: what a request is made of before the loop, once per request."""

from __future__ import annotations

from flowcore import Continue, Log, Node, Step, node
from flowcore_agent.parts import Parts
from flowcore_agent.state import AgentState

__all__ = ["prepare_node"]


def prepare_node(parts: Parts) -> Node[AgentState, object, None, object]:
    """Make the node that builds the system prompt and the messages before the loop."""

    @node(id="prepare", starts_round=False, description="Build the system prompt and the messages.")
    async def prepare(step: Step[AgentState]) -> Continue:
        state = step.state
        state.system = state.prompt
        state.prepared = Log(message for message in state.request.messages if message.role != "system")
        return Continue()

    return prepare
