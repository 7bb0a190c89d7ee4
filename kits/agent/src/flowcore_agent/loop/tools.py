"""The tools of a turn: what the model is shown, and what it may call."""

from __future__ import annotations

from flowcore.messages import ToolSchema
from flowcore.tools import Allowed
from flowcore_agent.parts import Parts
from flowcore_agent.state import AgentState

__all__ = ["allowed_tools", "tools_of"]


def allowed_tools(parts: Parts, state: AgentState) -> Allowed:
    """Return what the request may use of the agent's tools: those chosen for it, else what the spec says."""
    return parts.spec.allowed if state.tools is None else state.tools


async def tools_of(parts: Parts, state: AgentState) -> tuple[ToolSchema, ...]:
    """Return what the model is told of tools. Where it answers directly there are none."""
    return () if state.route == "direct" else await parts.catalog.for_request(allowed_tools(parts, state))
