"""Decides how each item stands. It acts on nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from flowcore_answering.items import AnswerItem
from flowcore_answering.reviews import Review
from flowcore_answering.state import AnswerState

__all__ = [
    "Rules",
    "Standing",
    "Unreviewed",
    "faults_for_repair",
    "items_that_are",
    "judge",
    "standing_of",
    "standings_of",
    "tally",
]

Standing = Literal["unready", "failing", "pending", "declined", "accepted"]
"""unready: its source is. failing: missing, faulty or rejected, so a repair may help. pending: waits for its
review. declined: not reviewed, and the rules do not accept that. accepted: may be delivered."""

Unreviewed = Literal["accept", "fallback"]


@dataclass(frozen=True, slots=True)
class Rules:
    """What the app decided once for all runs."""

    max_repairs: int
    reviewed: bool
    unreviewed: Unreviewed


def judge(review: Review, *, rejected: bool, unreviewed: Unreviewed) -> Standing:
    """Say how a checked draft stands after its review, given whether a review ever rejected the item.

    A rejection sticks: only an explicit pass lifts it, and a review that is unavailable does not.
    """
    if review.verdict == "passed":
        return "accepted"
    if review.verdict == "failed" or rejected:
        return "failing"
    return "accepted" if unreviewed == "accept" else "declined"


def standing_of(item: AnswerItem, state: AnswerState, rules: Rules) -> Standing:
    """Say how one item stands."""
    if item.readiness != "ready":
        return "unready"
    if item.id not in state.drafts or item.id in state.faults:
        return "failing"
    if not rules.reviewed:
        return "accepted"
    review = state.reviews.get(item.id)
    if review is None:
        return "pending"
    return judge(review, rejected=item.id in state.rejected, unreviewed=rules.unreviewed)


def standings_of(state: AnswerState, rules: Rules) -> dict[str, Standing]:
    """Say how every item stands, by id."""
    return {item.id: standing_of(item, state, rules) for item in state.items}


def items_that_are(standing: Standing, state: AnswerState, rules: Rules) -> tuple[AnswerItem, ...]:
    """Return the items that stand so, in their order."""
    return tuple(item for item in state.items if standing_of(item, state, rules) == standing)


def faults_for_repair(item: AnswerItem, state: AnswerState) -> tuple[str, ...]:
    """Return what a repairer must mend: what the check found, and why a review failed the item."""
    rejection = (state.rejected[item.id],) if item.id in state.rejected else ()
    return (*state.faults.get(item.id, ()), *rejection)


def tally(standings: Mapping[str, Standing]) -> dict[str, int]:
    """Count the items by standing, for the reason of a route."""
    return dict(Counter(standings.values()))
