"""Finder: the passages that speak most about an item, best first."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import log

from flowcore_knowledge import Hit, Passage, SQLiteKnowledge

from .alike import ALIKE
from .likeness import Covered, covering, joined, share
from .question import Item

_CANDIDATES = 250
_ALSO = 0.2
_NAMES, _CODE, _OWNER, _WHOLE, _RANK = 0.4, 0.25, 0.15, 0.3, 0.01
_INNER = re.compile(r"\b_?(?:testing|internal|v1|pytester|deprecated)\b")
_BARE = re.compile(r"\w+\([^\n]*")  # a signature alone says what a default is, and nothing else
_HIDDEN, _UNTOLD = 0.15, 0.4
_SAID = ("default", "installation", "summary")  # wants whose name stands in the texts that have them


@dataclass(frozen=True, slots=True)
class Found:
    """A passage, what it covers of the item, and how well it fits without its neighbours."""

    passage: Passage
    covered: Covered
    fit: float


def weight(knowledge: SQLiteKnowledge, term: str) -> float:
    """How much a term tells, from 0 to 1: the rarer it and what means the same, the more."""
    alike = max((knowledge.frequency(other) for other in ALIKE.get(term, ())), default=0)
    rare = knowledge.size / (1 + knowledge.frequency(term) + _ALSO * alike)
    return log(1 + rare) / log(2 + knowledge.size)


def find(knowledge: SQLiteKnowledge, item: Item, limit: int) -> list[Passage]:
    """Search with the item's terms and with those that mean the same, then order by what is covered and where.

    A passage counts for more when others about the same thing cover what it leaves open.
    """
    found = [_weighed(hit, item) for hit in _candidates(knowledge, item)]
    same: defaultdict[str, list[Covered]] = defaultdict(list)
    for one in found:
        same[one.passage.where].append(one.covered)
    whole = {where: share(joined(these), item.weights) for where, these in same.items()}

    def score(one: Found) -> float:
        return one.fit + _WHOLE * (whole[one.passage.where] - share(one.covered, item.weights))

    return [one.passage for one in sorted(found, key=score, reverse=True)[:limit]]


def fitting(where: str, title: str, text: str, item: Item) -> tuple[float, Covered]:
    """How well a text fits an item, and what it covers of it. Names tell more than texts."""
    names = covering(f"{title} {where}", item.weights)
    covered = joined([names, covering(text, item.weights)])
    fit = share(covered, item.weights) + _NAMES * share(names, item.weights)
    called = item.identifiers & {part.lower() for part in where.split(".")[-2:]}
    if called:
        fit += _CODE + _OWNER * (len(called) - 1)
    if _INNER.search(where):
        fit -= _HIDDEN
    if _BARE.fullmatch(text) and all(want.name != "default" for want in item.wants):
        fit -= _UNTOLD
    said = f"{title}\n{text}"
    return fit + sum(want.counts for want in item.wants if want.looks.search(said)), covered


def _candidates(knowledge: SQLiteKnowledge, item: Item) -> Iterable[Hit]:
    alike = [other for term in item.weights for other in sorted(ALIKE.get(term, ()))]
    wider = [*item.weights, *(want.name for want in item.wants if want.name in _SAID), *alike]
    hits: dict[Passage, Hit] = {}
    for words in (item.weights, wider):
        for hit in knowledge.find(" ".join(words), sources=item.packages or None, limit=_CANDIDATES):
            hits.setdefault(hit.passage, hit)
    return hits.values()


def _weighed(hit: Hit, item: Item) -> Found:
    passage = hit.passage
    fit, covered = fitting(passage.where, passage.title, passage.text, item)
    return Found(passage, covered, fit + _RANK * hit.score)
