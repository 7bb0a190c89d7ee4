"""Acting: the calls of one turn are run, and their results told."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, partial
from typing import Any

from flowcore import Continue, Node, Step
from flowcore.tools import ToolOutput, ToolResult, tool_messages
from flowcore_agent.loop.labels import labelled
from flowcore_agent.loop.tools import allowed_tools
from flowcore_agent.own_tools import RunView
from flowcore_agent.parts import Parts
from flowcore_agent.state import AgentState

__all__ = ["act_node"]


def act_node(parts: Parts) -> Node[AgentState, object, Any, object]:
    """Make the node that runs the calls of a turn, and lets own tools change the state by what they returned.

    It continues by `again`; by `enough` where the guard against repetition may end the loop, and by `done` where
    the model can say that its work is done.
    """
    limits, own = parts.spec.limits, parts.spec.own_tools

    async def act(step: Step[AgentState]) -> Continue[Any]:
        state = step.state
        is_direct = state.route == "direct"  # then the model was shown no tools, and may call none
        results = await parts.executor_for(cache(partial(RunView.of, state, step.deps))).run(
            state.calls,
            allowed=() if is_direct else allowed_tools(parts, state),
            history=list(state.turns)[:-1],
            deps=step.deps,
        )
        state.turns.extend(tool_messages(results))
        state.calls = ()
        _apply(parts, step, results)
        if own.completion and state.reason == "completed":
            return Continue("done")
        if any(result.must_end for result in results):
            state.reason = "repetition"
            return Continue("enough")
        return Continue("again")

    labels = ["again"]
    labels += ["enough"] if limits.same_tool_end is not None else []
    labels += ["done"] if own.completion else []
    return labelled(act, *labels, id="act", description="Run the calls of the turn, each with its result.")


def _apply(parts: Parts, step: Step[AgentState], results: Iterable[ToolResult]) -> None:
    for result in results if parts.own else ():
        own = parts.own.get(result.tool)
        if own is not None and own.doubt is not None and result.status == "unknown":
            own.doubt(step.state)
        if own is None or not result.is_ok:
            continue
        value = result.value.value if isinstance(result.value, ToolOutput) else result.value
        if own.apply is not None:
            own.apply(step.state, value)
        if own.tell is not None:
            own.tell(step, value)
