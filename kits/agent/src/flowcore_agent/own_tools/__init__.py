"""The loop's own tools: what the model is given beside the agent's, and what each changes in the run."""

from __future__ import annotations

from flowcore_agent.own_tools.completion import completion_tool
from flowcore_agent.own_tools.memory import memory_tools
from flowcore_agent.own_tools.message import message_tool
from flowcore_agent.own_tools.own import OwnTool, RunView
from flowcore_agent.own_tools.skills import skill_tool
from flowcore_agent.own_tools.todo import todo_tool
from flowcore_agent.own_tools.toolbox import Toolbox
from flowcore_agent.spec import AgentSpec

__all__ = ["OwnTool", "RunView", "Toolbox", "own_tools"]


def own_tools(spec: AgentSpec) -> tuple[OwnTool, ...]:
    """Return the loop's own tools that a spec switches on."""
    wanted = spec.own_tools
    found = [todo_tool()] if wanted.todo else []
    if wanted.memory and spec.memory is not None:
        found += memory_tools(spec.memory, spec.name)
    if wanted.skills and spec.skills is not None:
        found.append(skill_tool(spec.skills))
    if wanted.message and spec.delivery is not None:
        found.append(message_tool(spec, spec.delivery))
    if wanted.completion:
        found.append(completion_tool())
    return tuple(found)
