"""The agent flow: the loop of model and tools, and what stands before and after it."""

from __future__ import annotations

from typing import Any

from flowcore import Flow
from flowcore_agent.guard import guard_input_node
from flowcore_agent.loop.rows import loop_rows
from flowcore_agent.own_tools import own_tools
from flowcore_agent.parts import Parts
from flowcore_agent.prepare import prepare_node
from flowcore_agent.reply import AgentReply
from flowcore_agent.routing.rows import routing_rows
from flowcore_agent.routing.verify import verify_node
from flowcore_agent.spec import AgentSpec, check_spec
from flowcore_agent.state import AgentState
from flowcore_agent.sub_agents.delegate import delegate_tool
from flowcore_agent.tail import tail_rows

__all__ = ["agent_flow"]


def agent_flow(spec: AgentSpec) -> Flow[AgentState, object, AgentReply]:
    """Make the flow of an agent: each turn of its model starts a round.

    Its state comes from `admit(spec, request)`. Raises `ContractError` for what is no spec.
    """
    check_spec("agent_flow", spec)
    delegate = (delegate_tool(spec),) if spec.own_tools.sub_agent else ()
    parts = Parts.of(spec, (*own_tools(spec), *delegate))
    prepare: Any = prepare_node(parts)
    tail = tail_rows(parts)
    verify = verify_node(parts) if spec.verify else None
    loop = loop_rows(parts, tail.entry, verify)
    routing = routing_rows(parts, loop.entry)
    guard: Any = guard_input_node(parts) if spec.guards else None
    return Flow(
        spec.name,
        *([] if guard is None else [guard.to(passed=prepare, blocked=tail.entry)]),
        prepare.to(routing.entry),
        *routing.rows,
        *loop.rows,
        *([] if verify is None else [verify.to(done=tail.entry, again=loop.entry)]),
        *tail.rows,
        finish=loop.finish,
        reserve=loop.reserve,
        description=spec.description or "A model that uses tools until it answers",
    )
