"""What a generator, a repairer or a fallback proposes for one item."""

from __future__ import annotations

from pydantic import BaseModel

from flowcore_answering.items import Citation

__all__ = ["ItemDraft"]


class ItemDraft(BaseModel, frozen=True):
    """A proposed text for the item `item_id`, with what it cites."""

    item_id: str
    text: str
    citations: tuple[Citation, ...] = ()
