"""The tools of memory: the model looks up what is remembered of the user, and remembers more."""

from __future__ import annotations

from flowcore.tools import ToolContext, tool
from flowcore_agent.own_tools.own import OwnTool, RunView
from flowcore_agent.ports import Memory

__all__ = ["memory_tools"]

_MOST = 20


def memory_tools(memory: Memory, agent: str) -> tuple[OwnTool, OwnTool]:
    """Return the tools `search_memory` and `save_memory`, for whoever is the user of the request."""

    @tool
    async def search_memory(context: ToolContext[RunView], query: str, most: int = 5) -> str:
        """Look up what is remembered of the user from earlier conversations.

        Args:
            query: Words that it may have in it.
            most: How many memories to return, at most 20.
        """
        found = await memory.recall(_user(context), agent, query, min(max(most, 1), _MOST))
        context.emit({"query": query, "found": len(found)})
        return "\n".join(f"- {text}" for text in found) or "Nothing is remembered that fits."

    @tool
    async def save_memory(context: ToolContext[RunView], text: str) -> str:
        """Remember something for later conversations: what the user says of himself, or wants you to remember.

        Args:
            text: One short sentence that can be understood alone.
        """
        await memory.save(_user(context), agent, text)
        context.emit({"saved": text})
        return "Remembered."

    return OwnTool(search_memory), OwnTool(save_memory)


def _user(context: ToolContext[RunView]) -> str:
    user = context.deps.request.user
    if not user:
        raise ValueError("the user is not known, and nothing can be remembered of him")
    return user
