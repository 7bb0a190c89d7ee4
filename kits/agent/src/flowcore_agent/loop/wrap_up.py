"""Wrapping up: the model is asked exactly once more, without tools."""

from __future__ import annotations

from flowcore import Continue, Node, Step, node
from flowcore_agent.loop.ask import CUT_SHORT, NOT_EXECUTED, ask, close_calls
from flowcore_agent.parts import Parts
from flowcore_agent.state import AgentState

__all__ = ["WRAP_UP", "wrap_up_node"]

WRAP_UP = (
    "No tool can be called any more. Answer now with what you have: say what is done, what is not done, and what"
    " is to be done next."
)


def wrap_up_node(parts: Parts) -> Node[AgentState, object, None, object]:
    """Make the node that asks the model exactly once more, without tools.

    Where it says nothing, what it has said last is kept, as partial.
    """

    @node(id="wrap_up", starts_round=True, description="Ask once more, without tools.")
    async def wrap_up(step: Step[AgentState]) -> Continue:
        state = step.state
        close_calls(state, NOT_EXECUTED if state.reason == "limit" else CUT_SHORT)
        if step.exhausted is not None:
            state.reason = "exhausted"
        reply = await ask(parts, step, told=WRAP_UP)
        close_calls(state, NOT_EXECUTED)
        said_nothing = not (reply.text.strip() or reply.attachments) and state.reason != "blocked"
        if said_nothing and state.said:
            state.text, state.is_partial = state.said[-1], True
        return Continue()

    return wrap_up
