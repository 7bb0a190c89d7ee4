"""The text of a flow diff: one change a line, for terminals, builds and reviews."""

from __future__ import annotations

from ..render import shown, visible
from .change import FlowChange, FlowDiff

__all__ = ["SIGNS", "change_place", "count_words", "flow_summary", "flow_text", "verdict_words"]

SIGNS = {"added": "+", "removed": "-", "changed": "~"}


def flow_text(diff: FlowDiff) -> str:
    """Return a summary, then each change on a line of its own; a change that breaks stored runs says why."""
    return "\n".join([flow_summary(diff), *map(_line, diff.changes)]) + "\n"


def flow_summary(diff: FlowDiff) -> str:
    """Return in one line how much has changed, and what it means for stored runs."""
    name = f"flow {shown(diff.new.name)}"
    return f"{name}: {count_words(diff)}; {verdict_words(diff)}" if diff.changes else f"{name}: no difference"


def count_words(diff: FlowDiff) -> str:
    """Return how much has changed."""
    count = len(diff.changes)
    return "no difference" if not count else f"{count} change{'' if count == 1 else 's'}"


def verdict_words(diff: FlowDiff) -> str:
    """Return whether stored runs can go on."""
    breaking = len(diff.breaking)
    return f"{breaking} may keep stored runs from going on" if breaking else "stored runs can go on"


def change_place(change: FlowChange) -> str:
    """Return what a change is a change of."""
    return shown(change.path) if change.path else "the flow"


def _line(change: FlowChange) -> str:
    words = f"{SIGNS[change.kind]} {change_place(change)}: {visible(change.words)}"
    return f"{words}  [breaks: {change.breaks}]" if change.breaks else words
