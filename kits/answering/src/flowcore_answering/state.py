"""What one run of an answer flow knows, and how each item stands in it."""

from __future__ import annotations

from collections import Counter

from pydantic import BaseModel, Field, model_validator

from flowcore_answering.answers import ItemAnswer
from flowcore_answering.drafts import ItemDraft
from flowcore_answering.items import AnswerItem
from flowcore_answering.reviews import Review

__all__ = ["AnswerState"]


class AnswerState(BaseModel):
    """The state of an answer flow. The app gives `items`; the flow fills in the rest.

    Raises pydantic's ValidationError when two items have one id.
    """

    items: tuple[AnswerItem, ...]
    drafts: dict[str, ItemDraft] = Field(default_factory=dict)
    """The last draft of each item."""
    faults: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """What the last check found; an item without an entry passed it."""
    reviews: dict[str, Review] = Field(default_factory=dict)
    """The verdict on each last draft that a reviewer was asked about."""
    rejected: dict[str, str] = Field(default_factory=dict)
    """Why a review once failed an item. The entry stays until a later review passes the item."""
    repairs: int = 0
    """How many repairs were made."""
    substitutes: dict[str, ItemAnswer] = Field(default_factory=dict)
    """How the items ended that have no accepted answer."""

    @model_validator(mode="after")
    def _each_id_once(self) -> AnswerState:
        counts = Counter(item.id for item in self.items)
        twice = [item_id for item_id, count in counts.items() if count > 1]
        if twice:
            raise ValueError(f"items share the id {', '.join(map(repr, twice))}; give each item an id of its own")
        return self

    def ready(self) -> tuple[AnswerItem, ...]:
        """The items whose source is ready: the only ones that are generated or repaired."""
        return tuple(item for item in self.items if item.readiness == "ready")
