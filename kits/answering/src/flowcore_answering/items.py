"""What is to be answered: an item with its question, its source's readiness and its evidence."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

__all__ = ["AnswerItem", "Citation", "Evidence", "Readiness"]

Readiness = Literal["ready", "pending", "failed", "denied"]
"""How the source of an item stands. Only a ready item is given to a generator or a repairer."""


class Evidence(BaseModel, frozen=True):
    """A piece of text that an answer may rest on, and where it stands."""

    source: str
    where: str
    text: str


class Citation(BaseModel, frozen=True):
    """Points to a piece of evidence by its source and place, and may quote words of it."""

    source: str
    where: str
    quote: str = ""


class AnswerItem(BaseModel, frozen=True):
    """One thing to answer. `id` is the app's own and unique within a run; it never names a node."""

    id: str
    question: str
    readiness: Readiness = "ready"
    evidence: tuple[Evidence, ...] = ()
