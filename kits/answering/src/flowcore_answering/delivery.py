"""Puts together what a run delivers: the accepted drafts, the app's words, and the reasons for the rest."""

from __future__ import annotations

from flowcore_answering.answers import AnswerResult, ItemAnswer
from flowcore_answering.drafts import ItemDraft
from flowcore_answering.items import AnswerItem
from flowcore_answering.state import AnswerState

__all__ = ["answer_in_place", "deliver", "why_not"]


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
