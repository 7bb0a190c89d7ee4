"""Asking: one request to the model, what comes of it in the state, and the one reduction of what is too long."""

from __future__ import annotations

from collections.abc import Sequence

from flowcore import Step
from flowcore.context import pruned, selected, tell_compacted, tokens_of
from flowcore.errors import ContextOverflow
from flowcore.messages import Message, ModelReply, ToolSchema
from flowcore.models import Sink
from flowcore.tools import assistant_message
from flowcore_agent.loop.conversation import body, conversation, put_body
from flowcore_agent.loop.passing import through_gate
from flowcore_agent.parts import Parts
from flowcore_agent.state import AgentState

__all__ = ["CUT_SHORT", "NOT_EXECUTED", "ask", "close_calls"]

NOT_EXECUTED = "Not executed: the turns are used up."
CUT_SHORT = "No result: the work was cut short, and it may have been done or not. Look before you repeat it."
_REDUCED_TO = 0.5
"""The share of its size that a conversation is brought down to, which the provider found too long."""


async def ask(
    parts: Parts, step: Step[AgentState], tools: Sequence[ToolSchema] = (), told: str = ""
) -> ModelReply[str]:
    """Send the conversation, with a last word of the loop, and take the reply into the state.

    What the provider finds too long is reduced and sent once more; the reduction stays, for the next turns.
    """
    state = step.state
    last = (Message("user", told),) if told else ()

    def shorten(messages: tuple[Message, ...], error: ContextOverflow) -> Sequence[Message]:
        before, after = body(state), _reduced(state)
        if after == before:
            return messages
        tell_compacted(step, "reduce", "prepared", before, after)
        put_body(state, after)
        return [*conversation(state), *last]

    async def send(sink: Sink | None) -> ModelReply[str]:
        return await parts.runner(state.model).invoke(
            [*conversation(state), *last], tools=tools, sink=sink, settings=state.settings, reducer=shorten
        )

    reply = await through_gate(parts, step, send)
    _take(state, reply)
    return reply


def close_calls(state: AgentState, result: str) -> None:
    """Give each call that is open this result, so that the turn can be sent to any model again."""
    state.turns.extend(Message("tool", result, tool_call_id=call.id) for call in state.calls)
    state.calls = ()


def _take(state: AgentState, reply: ModelReply[str]) -> None:
    message = assistant_message(reply)
    if message.content.strip() or message.tool_calls:
        state.turns.append(message)
    state.calls, state.text, state.attachments = message.tool_calls, reply.text, reply.attachments
    if reply.reasoning:
        state.thoughts.append(reply.reasoning)
    if reply.text.strip():
        state.said.append(reply.text)


def _reduced(state: AgentState) -> list[Message]:
    """Return the body at about half its size: older results left out, then the oldest messages."""
    messages = body(state)
    limit = int(tokens_of(messages) * _REDUCED_TO)
    shorter = pruned(messages)
    try:
        return selected(shorter, limit=max(limit, 1))
    except ContextOverflow:  # what always stays is more than that
        return shorter
