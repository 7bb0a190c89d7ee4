"""What stands in the place of a port that the app left out: it does nothing and says nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flowcore_answering.drafts import ItemDraft
from flowcore_answering.items import AnswerItem
from flowcore_answering.reviews import Review

__all__ = ["no_fallback", "no_repair", "no_review"]


async def no_repair(
    items: Sequence[AnswerItem], drafts: Mapping[str, ItemDraft], faults: Mapping[str, Sequence[str]]
) -> Sequence[ItemDraft]:
    """Redo nothing."""
    return ()


async def no_review(items: Sequence[AnswerItem], drafts: Mapping[str, ItemDraft]) -> Mapping[str, Review]:
    """Judge nothing."""
    return {}


async def no_fallback(items: Sequence[AnswerItem]) -> Mapping[str, ItemDraft | None]:
    """Have nothing to say."""
    return {}
