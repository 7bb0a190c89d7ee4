"""Decides, and does nothing: how each item stands, which route follows, what the run delivers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from flowcore_answering.answers import AnswerResult, ItemAnswer
from flowcore_answering.drafts import ItemDraft
from flowcore_answering.items import AnswerItem
from flowcore_answering.reviews import Review
from flowcore_answering.state import AnswerState

__all__ = [
    "Rules",
    "Standing",
    "Unreviewed",
    "after_check",
    "after_review",
    "answer_in_place",
    "deliver",
    "faults_for_repair",
    "items_that_are",
    "judge",
    "standing_of",
    "standings_of",
    "tally",
    "wants_repair",
    "why_not",
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


def wants_repair(standings: Collection[Standing], *, repairs: int, rules: Rules) -> bool:
    """Say whether a repair is due, if there is quota for it: reviews come first, and repairs are bounded."""
    return "pending" not in standings and "failing" in standings and repairs < rules.max_repairs


def after_review(
    standings: Collection[Standing], *, may_repair: bool
) -> Literal["repair", "fallback", "finalize"]:
    """Choose the route from review."""
    if "failing" in standings and may_repair:
        return "repair"
    return "finalize" if all(standing == "accepted" for standing in standings) else "fallback"


def after_check(
    standings: Collection[Standing], *, may_repair: bool
) -> Literal["review", "repair", "fallback", "finalize"]:
    """Choose the route from check. Reviews come first, so that one repair redoes all that fails."""
    return "review" if "pending" in standings else after_review(standings, may_repair=may_repair)


def faults_for_repair(item: AnswerItem, state: AnswerState) -> tuple[str, ...]:
    """Return what a repairer must mend: what the check found, and why a review failed the item."""
    rejection = (state.rejected[item.id],) if item.id in state.rejected else ()
    return (*state.faults.get(item.id, ()), *rejection)


def why_not(item: AnswerItem, state: AnswerState, failed: str | None) -> str:
    """Say why an item has no accepted answer; `failed` is the type of the error that ended the work."""
    if item.readiness != "ready":
        return f"source {item.readiness}"
    reasons = list(state.faults.get(item.id, ()))
    review = state.reviews.get(item.id)
    if item.id in state.rejected:
        reasons.append(f"review failed: {state.rejected[item.id]}")
    elif review is not None and review.verdict == "unavailable":
        reasons.append(f"review unavailable: {review.reason}")
    if failed is not None:
        reasons.append(f"ended by {failed}")
    return "; ".join(reasons) or "no quota"


def answer_in_place(item: AnswerItem, draft: ItemDraft | None, reason: str) -> ItemAnswer:
    """Turn what the app's fallback gave into an answer: its words as they are, or blocked without any."""
    if draft is None or not draft.text.strip():
        return ItemAnswer(item_id=item.id, status="blocked", reason=reason)
    return ItemAnswer(
        item_id=item.id, status="fallback", text=draft.text, citations=draft.citations, reason=reason
    )


def deliver(state: AnswerState) -> AnswerResult:
    """Put the answers together, in the order of the items."""
    return AnswerResult(items=tuple(_answer(item, state) for item in state.items))


def _answer(item: AnswerItem, state: AnswerState) -> ItemAnswer:
    if item.id in state.substitutes:
        return state.substitutes[item.id]
    draft = state.drafts[item.id]
    return ItemAnswer(item_id=item.id, status="answered", text=draft.text, citations=draft.citations)


def tally(standings: Mapping[str, Standing]) -> dict[str, int]:
    """Count the items by standing, for the reason of a route."""
    return dict(Counter(standings.values()))
