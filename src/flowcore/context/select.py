"""Selecting: the newest messages that fit into a number of tokens."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Never

from ..errors import ContextOverflow
from ..graph import Node
from ..messages import Message
from ..types import StateT
from .field import context_node
from .size import Count, tokens_of
from .units import flat, read_history

__all__ = ["select", "selected"]


def select(
    state: type[StateT], *, limit: int, field: str = "messages", into: str = "", count: Count = tokens_of
) -> Node[StateT, object, None, Never]:
    """Make a node `select` that keeps the newest messages that fit, and leaves out the older ones.

    The system messages in front and the newest message of the user always stay; a reply with calls stays with
    their results, or goes with them.

    Args:
        state: The type of the state.
        limit: How many tokens may be kept.
        field: The field with the messages: a `Log[Message]`, list or tuple.
        into: The field that gets what is kept, if the whole history is to stay where it is.
        count: Says how many tokens messages are; an estimate, if none is given.

    The node raises `ContextOverflow` if what always stays is too much. Raises `ContractError` for a field that
    the state does not have, `ValueError` for a limit that nothing fits.
    """
    if limit < 1:
        raise ValueError(f"select(limit={limit}): give the number of tokens that may be kept, one or more")

    async def shorten(messages: list[Message]) -> Sequence[Message]:
        return selected(messages, limit=limit, count=count)

    words = f"Keep the newest messages that fit into {limit} tokens."
    return context_node(state, "select", words, shorten, field=field, into=into or field, count=count)


def selected(messages: Sequence[Message], *, limit: int, count: Count = tokens_of) -> list[Message]:
    """Return the messages that `select` keeps. Raises `ContextOverflow` if even those are too much."""
    history = read_history(messages)
    last = max(len(history.units) - 1, 0)

    def kept(cut: int) -> list[Message]:
        return flat([history.leading], history.around(cut)[1])

    # The further back the cut, the more is kept: find the first one that fits.
    cut = bisect_left(range(last + 1), True, key=lambda place: count(kept(place)) <= limit)
    if cut > last:
        needed = count(kept(last))
        raise ContextOverflow(
            f"the system messages and the newest messages are {needed} tokens, and the limit is {limit}:"
            " nothing more can be left out",
            limit=limit,
            needed=needed,
        )
    return kept(cut)
