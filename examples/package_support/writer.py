"""Writer: a model writes the answers from the evidence, and is held to it; where it may not, they are quoted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flowcore import Flow
from flowcore.models import ModelRunner
from flowcore_answering import (
    MODEL_CHECKS,
    AnswerItem,
    AnswerResult,
    AnswerState,
    ItemDraft,
    ModelGenerator,
    ModelRepairer,
    answer_flow,
)
from flowcore_knowledge import KnowledgeError

from .answerable import gap
from .generator import Quoting
from .quote import heading


@dataclass(frozen=True, slots=True)
class Writing:
    """What holds a model to the evidence, and what is said without it."""

    quoting: Quoting

    def check(self, item: AnswerItem, draft: ItemDraft) -> Sequence[str]:
        """Say what the evidence that is cited leaves open of the item, as for a quoted answer."""
        cited = {(citation.source, citation.where) for citation in draft.citations}
        rests_on = [one for one in item.evidence if (one.source, one.where) in cited]
        if not rests_on:  # which another check finds
            return []
        told = "\n".join(f"{heading(one)}{draft.text}" for one in rests_on)
        fault = gap(self.quoting.opened().reader.read(item.question), rests_on, told, item.evidence)
        return [fault] if fault else []

    async def fall_back(self, items: Sequence[AnswerItem]) -> Mapping[str, ItemDraft | None]:
        """Quote where a quote answers; else say why the texts do not."""
        words = dict(await self.quoting.fall_back(items))
        ready = {item.id: item for item in items if item.readiness == "ready"}
        for draft in await self.quoting.generate(tuple(ready.values())):
            if not self.quoting.check(ready[draft.item_id], draft):
                words[draft.item_id] = draft
        return words


def written(quoting: Quoting, runner: ModelRunner, evidence: int) -> Flow[AnswerState, object, AnswerResult]:
    """Make the answering flow that asks a model, with so many characters of evidence for each item."""
    writing = Writing(quoting)
    return answer_flow(
        generate=ModelGenerator(runner, evidence_limit=evidence),
        repair=ModelRepairer(runner, evidence_limit=evidence),
        fallback=writing.fall_back,
        checks=(*MODEL_CHECKS, writing.check),
        requests=1,
        propagate=(PermissionError, KnowledgeError),
    )
