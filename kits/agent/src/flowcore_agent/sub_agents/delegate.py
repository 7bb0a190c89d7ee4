"""The tool `delegate`: the model hands a piece of the work to a sub-agent, and gets its conclusion."""

from __future__ import annotations

import math
from typing import Any

from flowcore import Budget, BudgetExhausted, Flow, RunCancelled, RunResult, Step
from flowcore.errors import ToolError
from flowcore.events import Event
from flowcore.tools import ToolContext, ToolOutput, tool
from flowcore_agent.own_tools import OwnTool, RunView
from flowcore_agent.routing.degrade import STOPS
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
        if not task.strip():
            raise ToolError("the task is empty: say what is to be found out")
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
    told: dict[str, object] = {
        "task": name,
        "depth": _DEPTH,
        "reason": conclusion.reason,
        "turns": result.state.turn,
        "requests": usage.requests,
        "tool_calls": usage.tool_calls,
        "tokens": usage.tokens,
        "cost": usage.cost,
    }
    if result.stragglers:
        told["stragglers"] = list(result.stragglers)
    return ToolOutput(conclusion.told(), {"told": told, "trace": result.trace.to_text()})


def _conclusion(result: RunResult[Conclusion]) -> Conclusion:
    """Return what a run completed with, what it had found when the budget ran out, or how it failed.

    Raises what ends the agent's run, too.
    """
    if result.value is not None:
        return result.value
    failure, said = result.failure, result.state.said
    if failure is None:
        raise RunCancelled(result.reason)
    error = failure.exception
    if isinstance(error, BudgetExhausted) and said:
        return Conclusion(said[-1], "exhausted", is_partial=True)
    if isinstance(error, STOPS):
        raise error
    return Conclusion("", "failed", error=str(failure))


def _tell(step: Step[AgentState], value: Any) -> None:
    """Keep with the visit what the sub-agent has used, and what it did."""
    step.emit("sub_agent.finished", value["told"])
    step.artifact(f"sub-agent {value['told']['task']}", value["trace"])
