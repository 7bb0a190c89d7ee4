"""Thinking: one turn of the model."""

from __future__ import annotations

from typing import Literal

from flowcore import Continue, Node, Step, node
from flowcore.messages import Message, ModelReply
from flowcore.tools import assistant_message
from flowcore_agent.loop.conversation import conversation
from flowcore_agent.parts import Parts
from flowcore_agent.state import AgentState

__all__ = ["SUM_UP", "think_node", "wrap_up_node"]

SUM_UP = (
    "This is the last turn in which tools can be named, and they will not be run any more. Stop using tools. Say"
    " what is done, what is not done, and what is to be done next."
)
Thought = Literal["answer", "calls", "limit"]


def think_node(parts: Parts) -> Node[AgentState, object, Thought, object]:
    """Make the node that asks the model: each turn starts a round."""
    spec = parts.spec

    @node(id="think", starts_round=True, description="Ask the model; it answers, or names tools.")
    async def think(step: Step[AgentState]) -> Continue[Thought]:
        state = step.state
        state.turn += 1
        is_last = state.turn >= spec.limits.most_turns and spec.limits.on_limit == "wrap_up"
        tools = () if state.route == "direct" else await parts.catalog.for_request(spec.allowed)
        messages = conversation(state)
        if is_last:
            messages.append(Message("user", SUM_UP))
        reply = await parts.runner(state.model).invoke(
            messages, tools=tools, sink=spec.sink, settings=spec.settings
        )
        _take(state, reply)
        if not reply.tool_calls:
            state.reason = "answer"
            return Continue("answer", why={"turn": state.turn})
        return Continue("limit" if is_last else "calls", why={"turn": state.turn, "calls": len(state.calls)})

    return think


def wrap_up_node(parts: Parts) -> Node[AgentState, object, None, object]:
    """Make the node that asks the model exactly once more, without tools."""
    spec = parts.spec

    @node(id="wrap_up", starts_round=True, description="Ask once more, without tools.")
    async def wrap_up(step: Step[AgentState]) -> Continue:
        state = step.state
        for call in state.calls:
            state.turns.append(Message("tool", "Not executed: the turns are used up.", tool_call_id=call.id))
        state.calls = ()
        reply = await parts.runner(state.model).invoke(conversation(state), sink=spec.sink, settings=spec.settings)
        _take(state, reply)
        return Continue()

    return wrap_up


def _take(state: AgentState, reply: ModelReply[str]) -> None:
    message = assistant_message(reply)
    state.turns.append(message)
    state.calls, state.text, state.attachments = message.tool_calls, reply.text, reply.attachments
    if reply.text:
        state.said.append(reply.text)
