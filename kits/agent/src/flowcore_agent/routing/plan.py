"""Planning: one request for the steps of a task, before the work begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from flowcore import Continue, Node, Step, node
from flowcore.messages import Message, ToolSchema
from flowcore_agent.context.fence import one_line
from flowcore_agent.loop.conversation import conversation
from flowcore_agent.loop.tools import tools_of
from flowcore_agent.parts import Parts
from flowcore_agent.routing.degrade import note_failure
from flowcore_agent.state import AgentState

__all__ = ["Plan", "plan_node"]

_PLAN = """\
Do not begin yet. Make a plan for my request: at most {most} steps, each one sentence that says what is found out \
or done. Leave out what needs no step of its own.
Tools there are:
{tools}"""
_MOST: Final = {"short": 4, "full": 12}


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of a task, in their order."""

    steps: tuple[str, ...]


def plan_node(parts: Parts) -> Node[AgentState, object, None, object]:
    """Make the node that has the model plan a task: the turns are shown the plan, as data, if there is one."""

    @node(id="plan", starts_round=False, description="Have the model plan the task.")
    async def plan(step: Step[AgentState]) -> Continue:
        state = step.state
        most = _MOST.get(state.depth, _MOST["full"])
        try:
            asked = _PLAN.format(most=most, tools=_listed(await tools_of(parts, state)))
            sent = [*conversation(state), Message("user", asked)]
            state.plan = _text((await parts.runner(state.model).invoke(sent, output=Plan)).value, most)
        except Exception as error:
            note_failure(state, "plan", error)
        return Continue()

    return plan


def _listed(tools: Sequence[ToolSchema]) -> str:
    return "\n".join(f"- {tool.name}: {tool.description.partition('.')[0]}" for tool in tools) or "none"


def _text(plan: Plan, most: int) -> str:
    steps = filter(None, map(one_line, plan.steps))
    return "\n".join(f"{number}. {step}" for number, step in enumerate(islice(steps, most), 1))
