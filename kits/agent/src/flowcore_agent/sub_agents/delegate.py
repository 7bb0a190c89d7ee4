"""The tool `delegate`: the model hands a piece of the work to a sub-agent, and gets its conclusion."""

from __future__ import annotations

import math
from typing import Any

from flowcore import Budget, BudgetExhausted, Flow, RunCancelled, RunFailed, RunResult, Step
from flowcore.events import Event
from flowcore.tools import ToolContext, ToolOutput, tool
from flowcore_agent.own_tools import OwnTool, RunView
from flowcore_agent.spec import AgentSpec
from flowcore_agent.state import AgentState
from flowcore_agent.sub_agents.conclusion import Conclusion
from flowcore_agent.sub_agents.events import SubAgentEvent
from flowcore_agent.sub_agents.flow import sub_agent_flow, sub_agent_state

__all__ = ["delegate_tool"]

_DEPTH = 1
_OF_THE_AGENT = Budget(rounds=None)
"""No limits but those of the run around: the turns of a sub-agent end its loop."""


def delegate_tool(spec: AgentSpec) -> OwnTool:
    """Return the tool. A sub-agent is a run inside the call: what it spends, the agent's run has spent.

    It may take as long as the run around has time.
    """
    flow = sub_agent_flow(spec)

    @tool(timeout=math.inf)
    async def delegate(context: ToolContext[RunView], task: str) -> ToolOutput:
        """Hand a piece of the work to a sub-agent, which can look things up, and get its conclusion.

        Use it for what can be found out apart from the rest, above all where much has to be read for a short
        answer. Several of them, called together, work side by side.

        Args:
            task: What is to be found out, with everything that has to be known for it: nothing else is seen of
                this conversation.
        """
        return await _run(flow, spec.name, context, task)

    return OwnTool(delegate, tell=_tell)


async def _run(
    flow: Flow[AgentState, object, Conclusion], agent: str, context: ToolContext[RunView], task: str
) -> ToolOutput:
    view, name = context.deps, f"{context.path}/{context.call_id}"

    def tell(event: Event) -> None:
        context.emit(SubAgentEvent(name, _DEPTH, event))

    result = await flow.run(
        sub_agent_state(agent, view, task),
        deps=view.deps,
        budget=_OF_THE_AGENT,
        observers=[tell],
        check=False,
    )
    conclusion, usage = _conclusion(result), result.usage
    told = {
        "task": name,
        "depth": _DEPTH,
        "reason": conclusion.reason,
        "turns": result.state.turn,
        "requests": usage.requests,
        "tool_calls": usage.tool_calls,
        "tokens": usage.tokens,
        "cost": usage.cost,
    }
    return ToolOutput(conclusion.told(), {"told": told, "trace": result.trace.to_text()})


def _conclusion(result: RunResult[Conclusion]) -> Conclusion:
    """Return what a run completed with, or had found when the budget ran out: the agent can sum that up.

    Raises what ended it otherwise, which ends the call, or the agent's run.
    """
    if result.failure is not None:
        error = result.failure.exception or RunFailed(result.failure)
        if isinstance(error, BudgetExhausted) and result.state.said:
            return Conclusion(result.state.said[-1], "exhausted", is_partial=True)
        raise error
    if result.value is None:
        raise RunCancelled(result.reason)
    return result.value


def _tell(step: Step[AgentState], value: Any) -> None:
    """Keep with the visit what the sub-agent has used, and what it did."""
    step.emit("sub_agent.finished", value["told"])
    step.artifact(f"sub-agent {value['told']['task']}", value["trace"])
