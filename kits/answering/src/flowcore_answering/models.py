"""Ports with a model behind them: a generator, a repairer and a reviewer that ask through a given runner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flowcore import current_scope
from flowcore.errors import ContractError, ModelError
from flowcore.messages import ModelSettings
from flowcore.models import ModelRunner
from flowcore_answering.drafts import ItemDraft
from flowcore_answering.items import AnswerItem, Citation
from flowcore_answering.prompts import ANSWER, REPAIR, REVIEW, task
from flowcore_answering.reviews import Review
from flowcore_answering.shapes import Answer, Answers, Judgements, shape_for

__all__ = ["ModelGenerator", "ModelRepairer", "ModelReviewer"]

_LIMIT = 12_000


@dataclass(frozen=True, slots=True)
class ModelGenerator:
    """Drafts answers by one request for all items; an item without evidence is left out, and so is one unanswered.

    Args:
        runner: Sends the request, and pays for it from the run around it.
        instructions: What the model is told to do.
        evidence_limit: How many characters of evidence each item has at most.
        settings: How the model is to answer, where the runner says nothing else.
    """

    runner: ModelRunner
    instructions: str = ANSWER
    evidence_limit: int = _LIMIT
    settings: ModelSettings | None = None

    async def __call__(self, items: Sequence[AnswerItem], /) -> Sequence[ItemDraft]:
        """Return the drafts. Raises what the runner raises."""
        return await _answered(self, items)


@dataclass(frozen=True, slots=True)
class ModelRepairer:
    """Drafts failing items anew, told what is wrong with them: one request for all. See `ModelGenerator`."""

    runner: ModelRunner
    instructions: str = REPAIR
    evidence_limit: int = _LIMIT
    settings: ModelSettings | None = None

    async def __call__(
        self,
        items: Sequence[AnswerItem],
        drafts: Mapping[str, ItemDraft],
        faults: Mapping[str, Sequence[str]],
        /,
    ) -> Sequence[ItemDraft]:
        """Return new drafts. Raises what the runner raises."""
        return await _answered(self, items, drafts, faults)


@dataclass(frozen=True, slots=True)
class ModelReviewer:
    """Judges drafts by one request for all. See `ModelGenerator`.

    Where no request is left, or the model gives no answer that can be used, the review is unavailable.
    """

    runner: ModelRunner
    instructions: str = REVIEW
    evidence_limit: int = _LIMIT
    settings: ModelSettings | None = None

    async def __call__(
        self, items: Sequence[AnswerItem], drafts: Mapping[str, ItemDraft], /
    ) -> Mapping[str, Review]:
        """Return the verdicts. Raises `ContractError` if the model judges one item twice."""
        if not current_scope().can_invoke(requests=1):
            return _unavailable(items, "no request is left")
        shape = shape_for(Judgements, items)
        prepared = self.runner.prepare(instructions=self.instructions, output=shape, settings=self.settings)
        try:
            reply = await self.runner.invoke(task(items, self.evidence_limit, drafts), prepared=prepared)
        except ModelError as error:  # its message may hold more than may be shown
            return _unavailable(items, f"ended by {type(error).__name__}")
        return _reviews(reply.value)


async def _answered(
    port: ModelGenerator | ModelRepairer,
    items: Sequence[AnswerItem],
    drafts: Mapping[str, ItemDraft] | None = None,
    faults: Mapping[str, Sequence[str]] | None = None,
) -> Sequence[ItemDraft]:
    given = [item for item in items if item.evidence]
    if not given:
        return ()
    shape = shape_for(Answers, given)
    prepared = port.runner.prepare(instructions=port.instructions, output=shape, settings=port.settings)
    said = task(given, port.evidence_limit, drafts, faults)
    return _drafts((await port.runner.invoke(said, prepared=prepared)).value, given)


def _drafts(answers: Answers, items: Sequence[AnswerItem]) -> list[ItemDraft]:
    """Return the answers as drafts. Those of items that were not asked for are left in: the flow refuses them."""
    known = {item.id: item for item in items}
    return [
        ItemDraft(item_id=answer.item_id, text=answer.text.strip(), citations=_citations(answer, known))
        for answer in answers.items
        if answer.text.strip() or answer.item_id not in known
    ]


def _citations(answer: Answer, known: Mapping[str, AnswerItem]) -> tuple[Citation, ...]:
    item = known.get(answer.item_id)
    evidence = dict(enumerate(item.evidence, 1)) if item is not None else {}
    made: dict[Citation, None] = {}
    for quoted in answer.quotes:
        piece = evidence.get(quoted.evidence)
        source, where = (piece.source, piece.where) if piece else ("evidence", str(quoted.evidence))
        made[Citation(source=source, where=where, quote=quoted.words.strip())] = None
    return tuple(made)


def _reviews(judgements: Judgements) -> dict[str, Review]:
    reviews: dict[str, Review] = {}
    for one in judgements.items:
        if one.item_id in reviews:
            raise ContractError(f"review judged item {one.item_id!r} twice; judge each item once")
        reviews[one.item_id] = Review.passed() if one.passed else Review.failed(one.reason or "no reason given")
    return reviews


def _unavailable(items: Sequence[AnswerItem], reason: str) -> dict[str, Review]:
    return {item.id: Review.unavailable(reason) for item in items}
