"""The deterministic check: what is wrong with the drafts, said in words that a repairer can act on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from flowcore_answering.drafts import ItemDraft
from flowcore_answering.items import AnswerItem

__all__ = ["CHECKS", "Check", "cites_its_evidence", "find_faults", "has_text"]

Check = Callable[[AnswerItem, ItemDraft], Sequence[str]]
"""Looks at one draft and returns its faults, none for a good one. It must not guess, wait or ask a model."""


def has_text(item: AnswerItem, draft: ItemDraft) -> Sequence[str]:
    """A draft without a visible character is a fault."""
    return [] if draft.text.strip() else ["the text is empty"]


def cites_its_evidence(item: AnswerItem, draft: ItemDraft) -> Sequence[str]:
    """Every citation points to the item's own evidence, and where there is evidence some of it is cited."""
    known = {(evidence.source, evidence.where) for evidence in item.evidence}
    strange = [citation for citation in draft.citations if (citation.source, citation.where) not in known]
    faults = [f"cites {citation.source} {citation.where}, which is not its evidence" for citation in strange]
    if known and not draft.citations:
        faults.append("cites none of its evidence")
    return faults


CHECKS: tuple[Check, ...] = (has_text, cites_its_evidence)
"""The checks of a flow that names none. Add your own: `checks=(*CHECKS, mine)`."""


def find_faults(
    items: Sequence[AnswerItem], drafts: Mapping[str, ItemDraft], checks: Sequence[Check]
) -> dict[str, tuple[str, ...]]:
    """Return the faults of each failing item by id; an item without a draft is failing."""
    faults: dict[str, tuple[str, ...]] = {}
    for item in items:
        draft = drafts.get(item.id)
        found = ["missing from the reply"] if draft is None else _faults(item, draft, checks)
        if found:
            faults[item.id] = tuple(found)
    return faults


def _faults(item: AnswerItem, draft: ItemDraft, checks: Sequence[Check]) -> list[str]:
    return [fault for check in checks for fault in check(item, draft)]
