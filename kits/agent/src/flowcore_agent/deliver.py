"""Delivering: the answer is cleaned and handed over, once."""

from __future__ import annotations

from flowcore import Complete, Node, Step, node
from flowcore_agent.parts import Parts
from flowcore_agent.reply import AgentReply
from flowcore_agent.state import AgentState

__all__ = ["deliver_node"]


def deliver_node(parts: Parts) -> Node[AgentState, object, None, AgentReply]:
    """Make the node that ends the run with its reply."""

    @node(id="deliver", description="Clean the answer, keep it, send it once.")
    async def deliver(step: Step[AgentState]) -> Complete[AgentReply]:
        state = step.state
        return Complete(
            AgentReply(
                text=state.text.strip(),
                reason=state.reason,
                is_partial=state.is_partial,
                model=state.model,
                turn=tuple(state.turns),
                attachments=state.attachments,
                issues=state.issues,
                guards=state.guards,
                was_delivered=state.was_delivered,
            )
        )

    return deliver
