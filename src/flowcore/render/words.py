"""Words: how names and routes are written in a picture, whatever their authors put into them."""

from __future__ import annotations

import hashlib

from ..graph import Definition, Each, Edge, Parallel
from ..graph.export import exempt_errors

__all__ = ["edge_words", "join_words", "note_words", "shown", "visible"]

_LONGEST = 80


def visible(text: str) -> str:
    """Return `text` as one line in which everything can be seen.

    What cannot be seen or turns the line around (control characters, direction marks) stands as its escape.
    """
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def shown(text: str) -> str:
    """Return `text` as it stands in a picture: one visible line of at most about 100 characters.

    Of a longer text the beginning is left, with its length and a mark that tells it from its likes.
    """
    line = visible(text)
    if len(line) <= _LONGEST:
        return line
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{line[:_LONGEST]}... ({len(text)} characters, {mark})"


def edge_words(edge: Edge) -> str:
    """Return what stands beside a route: its label, the errors it takes, or the limit it waits for."""
    if edge.kind == "error":
        exempt = exempt_errors(edge)
        words = (edge.label or "any error") + (f" but {exempt}" if exempt else "")
        return f"{words}, by default" if edge.default else words
    if edge.kind == "over_limit":
        visits = edge.source.max_visits
        return "over limit" if visits is None else f"over {visits} visit{'' if visits == 1 else 's'}"
    return edge.label if edge.kind == "next" or edge.label.strip() else repr(edge.label)


def join_words(definition: Parallel) -> str:
    """Return the badge of a join: what it waits for."""
    if isinstance(definition.join, str):
        return definition.join
    return f"{definition.join} of {len(definition.branches)}"


def note_words(definition: Definition) -> str:
    """Return how a composite runs what stands inside it; nothing for a sub-flow, which runs it once."""
    if isinstance(definition, Parallel):
        return "side by side"
    if not isinstance(definition, Each):
        return ""
    limit = "one" if definition.limit == 1 else str(definition.limit)
    collected = ", failures collected" if definition.on_item_error == "collect" else ""
    return f"for each, {limit} at a time{collected}"


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
