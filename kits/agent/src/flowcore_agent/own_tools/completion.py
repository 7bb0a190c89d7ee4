"""The tool `complete`: the model says that its work is done."""

from __future__ import annotations

from typing import Any

from flowcore.tools import ToolOutput, tool
from flowcore_agent.own_tools.own import OwnTool
from flowcore_agent.state import AgentState

__all__ = ["completion_tool"]


def completion_tool() -> OwnTool:
    """Return the tool. The loop ends after the turn in which it is called."""

    @tool
    async def complete(answer: str = "") -> ToolOutput:
        """Say that the work is done. Call it once, when nothing is left to do.

        Args:
            answer: The final answer to the user. Without it, what you say beside this call is the answer.
        """
        return ToolOutput("The work is done.", answer)

    return OwnTool(complete, _apply)


def _apply(state: AgentState, answer: Any) -> None:
    state.reason = "completed"
    if answer.strip():
        state.text = answer
        state.said.append(answer)
