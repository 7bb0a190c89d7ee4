"""What is said of a visit in other tools: how it was left, why, what it changed."""

from __future__ import annotations

from ..recording import Change, VisitData

__all__ = ["change_words", "route_words"]


def route_words(visit: VisitData) -> str:
    """Return by which route a visit was left: `good -> deliver`, `error -> apologise`, `complete`."""
    word = visit.label or visit.kind
    return f"{word} -> {visit.target}" if visit.target else word


def change_words(change: Change) -> str:
    """Return a change as one line."""
    if change.kind == "changed":
        return f"{change.place}: {change.was} -> {change.now}"
    if change.kind == "removed":
        return f"- {change.place} (was {change.was})"
    return f"+ {change.place} {'+' if change.kind == 'appended' else ''}= {change.now}"
