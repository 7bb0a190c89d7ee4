"""The tool `read_skill`: the model reads how something is done before it begins."""

from __future__ import annotations

from flowcore.tools import ToolContext, tool
from flowcore_agent.own_tools.own import OwnTool, RunView
from flowcore_agent.ports import Skills

__all__ = ["skill_tool"]


def skill_tool(skills: Skills) -> OwnTool:
    """Return the tool."""

    @tool
    async def read_skill(context: ToolContext[RunView], name: str) -> str:
        """Read a skill: a text that says how something is done.

        Args:
            name: The name of the skill, or of a file that belongs to it as NAME/FILE.
        """
        text = await skills.read(name)
        context.emit({"skill": name})
        return text

    return OwnTool(read_skill)
