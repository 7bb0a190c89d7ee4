"""Checks of drafts that a model wrote: their quotes, numbers and names of code must stand in the evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flowcore_answering.checks import CHECKS, Check
from flowcore_answering.drafts import ItemDraft
from flowcore_answering.items import AnswerItem, Citation

__all__ = ["MODEL_CHECKS", "names_nothing_new", "quotes_its_evidence"]

_FEWEST = 3
"""Words that a quote has at least: fewer stand in any text. Of a shorter text it has all."""
_TELLING = re.compile(r"\d|_|[a-z][A-Z]|\w\.\w")
"""What a number or a name of code has in it, and an ordinary word has not."""
_WORD = re.compile(r"\w+(?:[.,]\w+)*")


def quotes_its_evidence(item: AnswerItem, draft: ItemDraft) -> Sequence[str]:
    """Every citation quotes its evidence word for word; spaces, case and quotation marks are free."""
    return [fault for citation in draft.citations for fault in _faults(item, citation)]


def names_nothing_new(item: AnswerItem, draft: ItemDraft) -> Sequence[str]:
    """Every number and every name of code in the text stands in the evidence of the item or in its question."""
    told = [part for one in item.evidence for part in (one.source, one.where, one.text)]
    known = _names(" ".join((item.question, *told)))
    strange = [word for word in dict.fromkeys(_WORD.findall(draft.text)) if _is_strange(word, known)]
    return [f"says {word}, which its evidence does not" for word in strange]


MODEL_CHECKS: tuple[Check, ...] = (*CHECKS, quotes_its_evidence, names_nothing_new)
"""The checks for drafts of a model: those that any draft must stand, and that it quotes and invents no names."""


def _faults(item: AnswerItem, citation: Citation) -> list[str]:
    place = (citation.source, citation.where)
    texts = [_plain(one.text) for one in item.evidence if (one.source, one.where) == place]
    quote, name = _plain(citation.quote), f"{citation.source} {citation.where}"
    if not texts:  # which another check finds
        return []
    if not quote:
        return [f"cites {name} without quoting it"]
    if not any(quote in text for text in texts):
        return [f"quotes {citation.quote!r}, which {name} does not say"]
    return [] if len(quote.split()) >= _FEWEST or quote in texts else [f"quotes too little of {name}"]


def _plain(text: str) -> str:
    straight = re.sub("[\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}]", "'", text)
    straight = re.sub("[\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}]", '"', straight)
    return " ".join(straight.casefold().split())


def _names(text: str) -> frozenset[str]:
    words = {word.casefold() for word in _WORD.findall(text)}
    names = {word for word in words if not word[0].isdigit()}
    return frozenset(words | {part for name in names for part in re.split(r"[.,]", name)})


def _is_strange(word: str, known: frozenset[str]) -> bool:
    if not _TELLING.search(word):
        return False
    plain = word.casefold()
    parts = [plain] if plain[0].isdigit() else plain.split(".")
    return plain not in known and not all(part in known for part in parts)
