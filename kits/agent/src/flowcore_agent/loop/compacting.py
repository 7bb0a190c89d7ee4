"""Compacting: before each turn, what is too large is made smaller. Results are pruned, then a model sums up."""

from __future__ import annotations

from typing import Literal

from flowcore import Continue, Node, Step, node
from flowcore.context import compacted, pruned, tell_compacted
from flowcore_agent.loop.conversation import body, conversation, put_body
from flowcore_agent.loop.tools import tools_of
from flowcore_agent.parts import Parts
from flowcore_agent.state import AgentState

__all__ = ["compact_node", "trim_node"]

Trimmed = Literal["fits", "large"]


def trim_node(parts: Parts) -> Node[AgentState, object, Trimmed, object]:
    """Make the node that looks whether the next turn fits, and leaves out older results where it does not.

    It measures all that is sent, tools included, against the `context_limit` of the model's runner. Without one
    everything fits.
    """

    @node(id="trim", starts_round=False, description="Look whether it fits; else leave out older results.")
    async def trim(step: Step[AgentState]) -> Continue[Trimmed]:
        state = step.state
        if await _fits(parts, state):
            return Continue("fits")
        before = body(state)
        after = pruned(before)
        if after == before:
            return Continue("large")
        tell_compacted(step, "prune_tool_results", "prepared", before, after)
        put_body(state, after)
        return Continue("fits" if await _fits(parts, state) else "large")

    return trim


def compact_node(parts: Parts) -> Node[AgentState, object, None, object]:
    """Make the node that has the model sum up all but the newest messages."""
    keep = parts.spec.limits.keep_recent

    @node(id="compact", starts_round=False, description="Have the model sum up all but the newest messages.")
    async def compact(step: Step[AgentState]) -> Continue:
        state = step.state
        before = body(state)
        after = await compacted(before, parts.runner(state.model), keep=keep)
        if after != before:
            tell_compacted(step, "compact", "prepared", before, after)
            put_body(state, after)
        return Continue()

    return compact


async def _fits(parts: Parts, state: AgentState) -> bool:
    runner, spec = parts.runner(state.model), parts.spec
    if runner.context_limit is None:
        return True
    prepared = runner.prepare(tools=await tools_of(parts, state), settings=state.settings)
    measure = prepared.measure(conversation(state), streaming=spec.sink is not None)
    return measure.needed <= runner.context_limit * spec.limits.compact_at
