"""Acting: the calls of one turn are run, and their results told."""

from __future__ import annotations

from typing import Literal

from flowcore import Continue, Node, Step, node
from flowcore.tools import tool_messages
from flowcore_agent.parts import Parts
from flowcore_agent.state import AgentState

__all__ = ["act_node"]

Acted = Literal["again", "enough"]


def act_node(parts: Parts) -> Node[AgentState, object, Acted, object]:
    """Make the node that runs the calls of a turn."""
    spec = parts.spec

    @node(id="act", description="Run the calls of the turn, each with its result.")
    async def act(step: Step[AgentState]) -> Continue[Acted]:
        state = step.state
        history = [*state.prepared, *list(state.turns)[state.compacted : -1]]
        results = await parts.executor.run(state.calls, allowed=spec.allowed, history=history, deps=step.deps)
        state.turns.extend(tool_messages(results))
        state.calls = ()
        if any(result.must_end for result in results):
            state.reason = "repetition"
            return Continue("enough")
        return Continue("again")

    return act
