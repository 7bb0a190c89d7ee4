"""The agent flow: the loop of model and tools, and what stands before and after it."""

from __future__ import annotations

from typing import Any

from flowcore import Flow
from flowcore_agent.deliver import deliver_node
from flowcore_agent.loop.act import act_node
from flowcore_agent.loop.think import think_node, wrap_up_node
from flowcore_agent.parts import Parts
from flowcore_agent.prepare import prepare_node
from flowcore_agent.reply import AgentReply
from flowcore_agent.spec import AgentSpec
from flowcore_agent.state import AgentState

__all__ = ["agent_flow"]


def agent_flow(spec: AgentSpec) -> Flow[AgentState, object, AgentReply]:
    """Make the flow of an agent: each turn of its model starts a round.

    Its state comes from `admit(spec, request)`.
    """
    parts = Parts.of(spec)
    prepare: Any = prepare_node(parts)
    think: Any = think_node(parts)
    act: Any = act_node(parts)
    wrap_up: Any = wrap_up_node(parts)
    deliver: Any = deliver_node(parts)
    return Flow(
        spec.name,
        prepare.to(think),
        think.to(answer=deliver, calls=act, limit=wrap_up),
        act.to(again=think, enough=wrap_up),
        wrap_up.to(deliver),
        deliver,
        description=spec.description or "A model that uses tools until it answers",
    )
