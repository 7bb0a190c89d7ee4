"""The repetition guard: notices a model that goes round in circles. It keeps nothing: the messages say all."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache

from ..messages import Message, ToolCall
from .json_text import valid_arguments

__all__ = ["RepetitionGuard", "Repetitions"]


@dataclass(frozen=True, slots=True)
class Repetitions:
    """What a reply repeats: `repeated` are the ids of calls that were made before, each with how often by now.

    `turns` is how many replies in a row, this one included, call `tool` and no other.
    """

    repeated: dict[str, int]
    tool: str = ""
    turns: int = 0
    warns: bool = False
    must_end: bool = False


@dataclass(frozen=True, slots=True)
class RepetitionGuard:
    """How much repetition is too much. None switches a rule off.

    It looks at names and arguments only: it stands for no rate limit, no budget and no idempotency. What was said
    before the last question of the user does not count.

    Args:
        same_call: The same tool with the same arguments is skipped from this occurrence on.
        same_tool_warn: So many replies in a row that call one tool, whatever the arguments: event `tool.warned`.
        same_tool_end: So many of them: its calls are skipped, and the loop is told to end.
    """

    same_call: int | None = 3
    same_tool_warn: int | None = 5
    same_tool_end: int | None = 7

    def __post_init__(self) -> None:
        for entry in fields(self):
            limit = getattr(self, entry.name)
            if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
                raise ValueError(f"RepetitionGuard({entry.name}={limit!r}): give a number above zero, or None")

    def look(
        self, history: Iterable[Message], calls: Sequence[ToolCall], named: Callable[[str], str] = str
    ) -> Repetitions:
        """Return what these calls repeat of the replies in `history`; `named` gives the real name of a tool."""
        turns = [message.tool_calls for message in _since_user(history) if message.role == "assistant"]
        seen = Counter(_key(call, named) for turn in turns for call in turn)
        repeated: dict[str, int] = {}
        for call in calls:
            key = _key(call, named)
            seen[key] += 1
            if self.same_call is not None and seen[key] >= self.same_call:
                repeated[call.id] = seen[key]
        tool, count = _in_a_row([*turns, calls], named)
        must_end = self.same_tool_end is not None and count >= self.same_tool_end
        return Repetitions(repeated, tool, count, count == self.same_tool_warn, must_end)


def _since_user(history: Iterable[Message]) -> list[Message]:
    """Return what follows the last question of the user: what stands right after results is none."""
    kept: list[Message] = []
    before = ""
    for message in history:
        if message.role == "user" and before != "tool":
            kept.clear()
        kept.append(message)
        before = message.role
    return kept


def _in_a_row(turns: Sequence[Sequence[ToolCall]], named: Callable[[str], str]) -> tuple[str, int]:
    """Return the only tool of the last reply, and in how many replies up to it that is so."""
    row, count = "", 0
    for turn in reversed(turns):
        tools = {named(call.name) for call in turn}
        tool = tools.pop() if len(tools) == 1 else ""
        if not tool or (count and tool != row):
            break
        row, count = tool, count + 1
    return row, count


def _key(call: ToolCall, named: Callable[[str], str]) -> tuple[str, str]:
    """Return what makes two calls the same: the order of names in the arguments does not."""
    text = call.arguments
    return named(call.name), _sorted(text) if len(text) > _SHORT else _sorted_once(text)


def _sorted(arguments: str) -> str:
    return json.dumps(json.loads(valid_arguments(arguments), strict=False), sort_keys=True)


_sorted_once = lru_cache(maxsize=1024)(_sorted)
_SHORT = 1_000
"""Characters of arguments up to which they are not read again in each turn."""
