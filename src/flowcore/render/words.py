"""Words: how names and routes are written in a picture, whatever their authors put into them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from ..recording import NodeData, RouteData

__all__ = ["edge_words", "join_words", "note_words", "shown", "visible", "write_words"]

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


def edge_words(route: RouteData, node: NodeData) -> str:
    """Return what stands beside a route of a node: its label, the errors it takes, or the limit it waits for."""
    if route.kind == "error":
        words = (route.label or "any error") + (f" but {route.exempt}" if route.exempt else "")
        return f"{words}, by default" if route.default else words
    if route.kind == "over_limit":
        visits = node.max_visits
        return "over limit" if visits is None else f"over {visits} visit{'' if visits == 1 else 's'}"
    return route.label if route.kind == "next" or route.label.strip() else repr(route.label)


def join_words(node: NodeData) -> str:
    """Return the badge of a parallel's join: what it waits for."""
    branches = 0 if node.branches is None else len(node.branches.starts)
    return node.join if isinstance(node.join, str) else f"{node.join} of {branches}"


def note_words(node: NodeData) -> str:
    """Return how a composite runs what stands inside it; nothing for a sub-flow, which runs it once."""
    if node.branches is not None:
        return "side by side"
    if node.limit is None:
        return ""
    limit = "one" if node.limit == 1 else str(node.limit)
    collected = ", failures collected" if node.on_item_error == "collect" else ""
    return f"for each, {limit} at a time{collected}"


def write_words(node: NodeData, fields: Mapping[str, str]) -> tuple[str, ...]:
    """Return the fields that a node declares to write, with their types; nothing where it declares none."""
    if node.writes is None:
        return ()
    typed = (f"{name}: {fields[name]}" if name in fields else name for name in node.writes)
    return tuple(f"writes {words}" for words in typed) or ("writes nothing",)


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
