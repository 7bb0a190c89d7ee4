"""Thinking: one turn of the model."""

from __future__ import annotations

from typing import Any

from flowcore import Continue, Node, Step
from flowcore_agent.loop.ask import ask
from flowcore_agent.loop.labels import labelled
from flowcore_agent.loop.tools import tools_of
from flowcore_agent.parts import Parts
from flowcore_agent.reply import Issue
from flowcore_agent.state import AgentState

__all__ = ["SUM_UP", "think_node"]

SUM_UP = (
    "This is the last turn in which tools can be named, and they will not be run any more. Stop using tools. Say"
    " what is done, what is not done, and what is to be done next."
)


def think_node(parts: Parts) -> Node[AgentState, object, Any, object]:
    """Make the node that asks the model: each turn starts a round.

    It continues by `answer` or `calls`, and by `limit` where the last turn is told to sum up and names tools.
    """
    limits = parts.spec.limits
    wraps_up = limits.on_limit == "wrap_up"

    async def think(step: Step[AgentState]) -> Continue[Any]:
        state = step.state
        state.turn += 1
        if step.error is not None:
            state.issues += (Issue("model", step.error.path, str(step.error)),)
        tools = await tools_of(parts, state)
        is_last = wraps_up and state.turn >= limits.most_turns
        reply = await ask(parts, step, tools, SUM_UP if is_last else "")
        why = {"turn": state.turn, "calls": len(state.calls)}
        if state.reason == "blocked":
            return Continue("answer", why={**why, "blocked": True})
        if not state.calls:
            state.reason = "answer" if reply.text.strip() or reply.attachments else "no_answer"
            return Continue("answer", why=why)
        if is_last:
            state.reason = "limit"
            return Continue("limit", why=why)
        return Continue("calls", why=why)

    labels = ("answer", "calls", "limit") if wraps_up else ("answer", "calls")
    words = "Ask the model; it answers, or names tools."
    return labelled(think, *labels, id="think", starts_round=True, description=words)
