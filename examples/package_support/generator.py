"""Generator: answers by quoting. It writes nothing of its own, and it checks and repairs what it quotes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from flowcore_answering import AnswerItem, Citation, Evidence, ItemDraft

from .answerable import gap, unclear
from .library import Library
from .quote import Quote, heading, quote

Opened = Callable[[], Library]


@dataclass(frozen=True, slots=True)
class Quoting:
    """The four ports of the answering flow that need the library."""

    opened: Opened

    async def generate(self, items: Sequence[AnswerItem]) -> Sequence[ItemDraft]:
        """Quote the best evidence of each item; leave out an item without any."""
        return [draft for item in items if (draft := self._drafted(item, item.evidence))]

    def check(self, item: AnswerItem, draft: ItemDraft) -> Sequence[str]:
        """Say what the quoted evidence leaves open of the item."""
        cited = {(citation.source, citation.where) for citation in draft.citations}
        quoted = [one for one in item.evidence if (one.source, one.where) in cited and _said(one, draft.text)]
        if not quoted:
            return ["nothing of its evidence is quoted"]
        fault = gap(self.opened().reader.read(item.question), quoted, draft.text, item.evidence)
        return [fault] if fault else []

    async def repair(
        self,
        items: Sequence[AnswerItem],
        drafts: Mapping[str, ItemDraft],
        faults: Mapping[str, Sequence[str]],
    ) -> Sequence[ItemDraft]:
        """Quote what is left when the thing that the failing draft rests on is put aside."""
        redone: list[ItemDraft] = []
        for item in items:
            if item.id in drafts:
                main = drafts[item.id].citations[0]
                rest = [one for one in item.evidence if one.where != main.where]
                if draft := self._drafted(item, rest):
                    redone.append(draft)
        return redone

    async def fall_back(self, items: Sequence[AnswerItem]) -> Mapping[str, ItemDraft | None]:
        """Say why the texts give no answer; say nothing to what is refused."""
        return {
            item.id: ItemDraft(item_id=item.id, text=self._apology(item)) if item.readiness == "ready" else None
            for item in items
        }

    def _drafted(self, item: AnswerItem, evidence: Sequence[Evidence]) -> ItemDraft | None:
        quoted = quote(self.opened().reader.read(item.question), evidence)
        return _draft(item, quoted) if quoted else None

    def _apology(self, item: AnswerItem) -> str:
        read = self.opened().reader.read(item.question)
        quoted = quote(read, item.evidence)
        why = unclear(read) or (quoted and gap(read, quoted.evidence, quoted.text, item.evidence))
        return f"The texts of the installed packages do not answer this: {why or 'nothing is said about it'}."


def _draft(item: AnswerItem, quoted: Quote) -> ItemDraft:
    places = dict.fromkeys((one.source, one.where) for one in quoted.evidence)
    citations = tuple(Citation(source=source, where=where) for source, where in places)
    return ItemDraft(item_id=item.id, text=quoted.text, citations=citations)


def _said(evidence: Evidence, text: str) -> bool:
    return any(line.startswith(heading(evidence)) for line in text.splitlines())
