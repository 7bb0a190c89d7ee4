"""Guarding: guardrails look before anything is made of a request, and before the answer goes out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from flowcore import Continue, Log, Node, Step, node
from flowcore.messages import Message
from flowcore_agent.guardrails.gate import SAYING, mark_of
from flowcore_agent.guardrails.guardrail import look
from flowcore_agent.guardrails.telling import tell_checked
from flowcore_agent.parts import Parts
from flowcore_agent.state import AgentState

__all__ = ["guard_input_node", "guard_output_node"]

Judged = Literal["passed", "blocked"]


def guard_input_node(parts: Parts) -> Node[AgentState, object, Judged, object]:
    """Make the node that has the guardrails of the input look at the last message, with the others beside it.

    It stands first: where it blocks, no prompt is built, no toolset opened and no model asked.
    """

    @node(
        id="guard_input", starts_round=False, description="Look at what comes in, before anything is made of it."
    )
    async def guard_input(step: Step[AgentState]) -> Continue[Judged]:
        state = step.state
        messages = state.request.messages
        verdict = await look(parts.input_guards, messages[-1].content, messages)
        tell_checked(step, verdict.reports)
        if not verdict.stopped_by:
            return Continue("passed")
        _refuse(state, parts.spec.refusal)
        return Continue("blocked", why={"guard": verdict.stopped_by})

    return guard_input


def guard_output_node(parts: Parts) -> Node[AgentState, object, Judged, object]:
    """Make the node that has the guardrails of the output look at the whole of a clean answer.

    What has passed the gate of a stream, and is delivered as it was written, is not looked at a second time.
    """

    @node(id="guard_output", starts_round=False, description="Look at what goes out.")
    async def guard_output(step: Step[AgentState]) -> Continue[Judged]:
        state = step.state
        if state.reason == "blocked":  # by the gate
            _refuse(state, parts.spec.refusal)
            return Continue("blocked")
        if not state.text or state.cleared == mark_of(state.text):
            return Continue("passed")
        verdict = await look(parts.output_guards, state.text, state.request.messages)
        tell_checked(step, verdict.reports)
        if not verdict.stopped_by:
            return Continue("passed")
        _refuse(state, parts.spec.refusal)
        return Continue("blocked", why={"guard": verdict.stopped_by})

    return guard_output


def _refuse(state: AgentState, refusal: str) -> None:
    """Put the refusal in the place of what was blocked, in what is kept of the turn, too."""
    state.reason, state.is_partial = "blocked", False
    state.text, state.attachments = refusal, ()
    said = [Message("assistant", refusal)] if refusal else []
    state.turns = Log([*_without_words(state.turns), *said])


def _without_words(turns: Iterable[Message]) -> Iterable[Message]:
    """Yield what was done in a turn, without what the model said."""
    for message in turns:
        if message.role != "assistant":
            yield message
        elif message.tool_calls:
            calls = (replace(call, arguments="{}") if call.name in SAYING else call for call in message.tool_calls)
            yield replace(message, content="", tool_calls=tuple(calls))
