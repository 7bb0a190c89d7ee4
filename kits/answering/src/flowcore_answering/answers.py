"""What comes out: one answer for each item, in the order of the items."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from flowcore_answering.items import Citation

__all__ = ["AnswerResult", "AnswerStatus", "ItemAnswer"]

AnswerStatus = Literal["answered", "fallback", "blocked"]


class ItemAnswer(BaseModel, frozen=True):
    """How one item ended.

    `answered`: a draft that passed. `fallback`: the app's own words instead. `blocked`: nothing may be
    delivered, so there is no text. `reason` says why an item was not answered, for people who look after the
    app: it names kinds of errors and never their messages, which may hold secrets.
    """

    item_id: str
    status: AnswerStatus
    text: str = ""
    citations: tuple[Citation, ...] = ()
    reason: str = ""


class AnswerResult(BaseModel, frozen=True):
    """The answers of a run: every item once, in the order in which the app gave them."""

    items: tuple[ItemAnswer, ...]
