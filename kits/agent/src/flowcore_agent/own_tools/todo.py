"""The tool `todo`: the list that the model keeps of its work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typing_extensions import TypedDict

from flowcore.tools import ToolOutput, tool
from flowcore_agent.own_tools.own import OwnTool
from flowcore_agent.state import AgentState, Todo

__all__ = ["todo_text", "todo_tool"]


class TodoItem(TypedDict):
    """One item of the list, as the model writes it."""

    text: str
    is_done: bool


def todo_tool() -> OwnTool:
    """Return the tool. The whole list is given each time, and takes the place of the one before."""

    @tool
    async def todo(items: list[TodoItem]) -> ToolOutput:
        """Write down the list of your work, before you begin and whenever an item is done or a new one comes up.

        Args:
            items: The whole list, in the order of work; it takes the place of the one before.
        """
        return ToolOutput(todo_text(_read(items)), [dict(item) for item in items])

    return OwnTool(todo, _apply)


def todo_text(items: Sequence[Todo]) -> str:
    """Return a list as text, one line an item."""
    return "\n".join(f"[{'x' if item.is_done else ' '}] {item.text}" for item in items) or "The list is empty."


def _apply(state: AgentState, items: Any) -> None:
    state.todo = _read(items)


def _read(items: Any) -> tuple[Todo, ...]:
    return tuple(Todo(item["text"], item["is_done"]) for item in items)
