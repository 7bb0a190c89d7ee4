"""The flow of a sub-agent: the loop of an agent, from one task to its conclusion."""

from __future__ import annotations

from typing import Any

from flowcore import Flow, Log
from flowcore.messages import Message
from flowcore_agent.loop.rows import loop_rows
from flowcore_agent.own_tools import RunView
from flowcore_agent.parts import Parts
from flowcore_agent.request import AgentRequest
from flowcore_agent.routing.rows import routing_rows
from flowcore_agent.spec import AgentSpec
from flowcore_agent.state import AgentState
from flowcore_agent.sub_agents.conclusion import Conclusion, conclude_node
from flowcore_agent.sub_agents.spec import sub_spec, sub_tools

__all__ = ["sub_agent_flow", "sub_agent_state"]

_PROMPT = """\
You are a sub-agent of the assistant {name}. You are given one task, and see nothing else of the conversation \
that it comes from. Find out what it asks for with the tools that you have. There is nobody whom you could ask. \
What you say last is all that is handed back: the conclusion alone, what it rests on, and what stays open, in as \
few words as it takes. Leave out how you found it."""


def sub_agent_flow(spec: AgentSpec) -> Flow[AgentState, object, Conclusion]:
    """Make the flow of the sub-agents of an agent."""
    inner = sub_spec(spec)
    parts = Parts.of(inner, sub_tools(inner))
    conclude: Any = conclude_node()
    loop = loop_rows(parts, conclude)
    routing = routing_rows(parts, loop.entry)
    return Flow(
        "sub_agent",
        *routing.rows,
        *loop.rows,
        conclude,
        finish=loop.finish,
        reserve=loop.reserve,
        description="One piece of the work, with a history of its own",
    )


def sub_agent_state(agent: str, view: RunView, task: str) -> AgentState:
    """Return the state that a sub-agent begins with: the agent's model and user, its own task, nothing else."""
    asked, around = (Message("user", task),), view.request
    return AgentState(
        AgentRequest(asked, user=around.user, source="delegation", conversation=around.conversation),
        model=view.model,
        core=view.core,
        settings=view.settings,
        system=_PROMPT.format(name=agent),
        prepared=Log(asked),
    )
