"""Leaving: how a visit was left, and what a value was and is, in words."""

from __future__ import annotations

from ..recording import Recording, VisitData
from ..render import shown
from .run_change import ValueChange

__all__ = ["ended_words", "left_words", "value_words"]


def left_words(visit: VisitData, other: VisitData) -> str:
    """Return how a visit was left, told apart from how its other one was."""
    target = f" to {visit.target}" if visit.target else ""
    match visit.kind:
        case "label":
            words = f"took {visit.label!r}"
            return f"{words}{target}" if (other.kind, other.label) == ("label", visit.label) else words
        case "error":
            return f"failed ({shown(str(visit.failure))}) and went on{target}"
        case "over_limit":
            return f"was over its limit and went on{target}"
        case "failed":
            return f"failed ({shown(str(visit.failure))})"
        case "complete":
            return "completed"
        case "join":
            return "reached the join"
        case "next":
            return f"went on{target}"
        case "unfinished":
            return "was not finished"
        case "running":
            return "is under way"


def ended_words(run: Recording) -> str:
    """Return how a run ended."""
    cause = run.failure if run.failure is not None else run.reason
    words = "the run is under way" if run.status == "running" else f"the run {run.status}"
    return f"{words}: {shown(str(cause))}" if cause else words


def value_words(value: ValueChange) -> str:
    """Return a value as it is and as it was."""
    was, now = (shown(text) if text else "nothing" for text in (value.was, value.now))
    return f"{shown(value.place)} {now}, was {was}"
