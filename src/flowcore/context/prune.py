"""Pruning: older results of tools, too long to be carried on, give way to a note."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Never

from ..graph import Node
from ..messages import Message
from ..types import StateT
from .field import context_node
from .size import Count, tokens_of
from .units import Unit, flat, read_history

__all__ = ["prune_tool_results", "pruned"]

_NOTE = "[This result of {tool} was left out: {size} characters. Call the tool again if you need it.]"


def prune_tool_results(
    state: type[StateT],
    *,
    longest: int = 1_000,
    keep: int = 1,
    field: str = "messages",
    count: Count = tokens_of,
) -> Node[StateT, object, None, Never]:
    """Make a node `prune_tool_results` that puts a note in the place of older results that are long.

    Args:
        state: The type of the state.
        longest: Characters that an older result may have and stay.
        keep: Of how many of the newest replies with calls the results stay, however long they are.
        field: The field with the messages: a `Log[Message]`, list or tuple.
        count: Says how many tokens messages are, for the event; an estimate, if none is given.

    Raises `ContractError` for a field that the state does not have, `ValueError` for a negative number.
    """
    if longest < 0 or keep < 0:
        raise ValueError(f"prune_tool_results(longest={longest}, keep={keep}): give zero or more")

    async def shorten(messages: list[Message]) -> Sequence[Message]:
        return pruned(messages, longest=longest, keep=keep)

    words = f"Put a note in the place of older tool results of more than {longest} characters."
    return context_node(state, "prune_tool_results", words, shorten, field=field, into=field, count=count)


def pruned(messages: Sequence[Message], *, longest: int = 1_000, keep: int = 1) -> list[Message]:
    """Return the messages as `prune_tool_results` leaves them."""
    history = read_history(messages)
    calling = [place for place, unit in enumerate(history.units) if len(unit) > 1]
    old = set(calling[: len(calling) - keep] if keep else calling)
    units = [_noted(unit, longest) if place in old else unit for place, unit in enumerate(history.units)]
    return flat([history.leading], units)


def _noted(unit: Unit, longest: int) -> Unit:
    names = {call.id: call.name for message in unit for call in message.tool_calls}
    return tuple(_short(message, names.get(message.tool_call_id, ""), longest) for message in unit)


def _short(message: Message, tool: str, longest: int) -> Message:
    if message.role != "tool" or len(message.content) <= longest:
        return message
    note = _NOTE.format(tool=tool, size=f"{len(message.content):,}")
    return replace(message, content=note) if len(note) < len(message.content) else message
