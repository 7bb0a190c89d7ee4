"""State: what a run knows of a question, and what it replies."""

from __future__ import annotations

from pydantic import BaseModel

from flowcore_answering import AnswerItem, AnswerResult


class Asked(BaseModel):
    """The state of a run. The question is given; the nodes fill in the rest."""

    question: str
    refusal: str = ""
    """Why the whole question is refused, or nothing."""
    parts: tuple[str, ...] = ()
    items: tuple[AnswerItem, ...] = ()
    result: AnswerResult = AnswerResult(items=())


class Reply(BaseModel, frozen=True):
    """What a run replies: an answer for each part of the question, as `flowcore_presentation` shows it."""

    questions: dict[str, str]
    result: AnswerResult
