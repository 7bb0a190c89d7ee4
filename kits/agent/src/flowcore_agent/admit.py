"""Admission: a request is checked and resolved before there is a run of it."""

from __future__ import annotations

from flowcore_agent.request import AgentRequest
from flowcore_agent.spec import AgentSpec
from flowcore_agent.state import AgentState

__all__ = ["admit"]


def admit(spec: AgentSpec, request: AgentRequest) -> AgentState:
    """Return the state that a run of this request begins with."""
    return AgentState(request=request)
