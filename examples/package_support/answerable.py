"""Answerable: whether the evidence really speaks about what was asked, or only shares some words with it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flowcore_answering import Evidence
from flowcore_knowledge import terms

from .likeness import Covered, covering, joined, share
from .question import Item
from .quote import heading
from .wants import Want

_NAMED, _CODE, _OPEN = 0.27, 0.36, 0.55  # what must be covered: of a named package, of named code, of anything
_FEW, _STRANGE = 0.4, 0.07  # more where there are few terms to go by, and where one is strange
_PAIR = 2  # so few terms must all be covered
_RARE = 0.75
_TELLING, _ENOUGH, _SOME = 0.28, 0.42, 0.2
_PROPER = re.compile(r"(?<=[a-z,:;] )[A-Z][A-Za-z]+(?: [A-Z][a-z]+)*")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_VAGUE = re.compile(
    r"\b(?:it|this|that|they|my|everything|something|stuff|things?|the (?:code|error|thing|program|script))\b",
    re.I,
)


def unclear(item: Item) -> str:
    """Why an item is too vague to be looked up, or nothing."""
    telling = [term for term, weight in item.weights.items() if weight >= _TELLING]
    if not telling and sum(item.weights.values()) < (_SOME if item.packages else _ENOUGH):
        return "it does not say what about; name a package, a function or a setting, and what to know of it"
    if not item.packages and not item.identifiers and len(telling) < 4 and _VAGUE.search(item.text):
        return "it does not say which package or function it is about"
    return ""


def gap(item: Item, quoted: Sequence[Evidence], said: str, found: Sequence[Evidence]) -> str:
    """What an answer lacks, or nothing.

    Args:
        item: What is asked.
        quoted: The evidence that is quoted; the first is what the answer mainly rests on.
        said: The text of the answer.
        found: All evidence there is.
    """
    main = [one for one in quoted if one.where == quoted[0].where]
    covered = _covered(item, main)
    named = " ".join(f"{one.source} {one.where} {heading(one)}" for one in main)
    strange = [term for term, weight in item.weights.items() if weight >= _RARE and term not in terms(named)]
    if absent := [name for name in item.absent if not item.packages or not _speaks(name, item, covered)]:
        return f"{' and '.join(absent)} {'is' if len(absent) == 1 else 'are'} not installed here"
    about_code = bool(item.identifiers & {word.lower() for word in re.findall(r"\w+", named)})
    if strange and not item.packages and not about_code:
        written = dict.fromkeys(item.words.get(term, term) for term in strange)
        return f"no installed package is called {' or '.join(written)}, and none explains it"
    there = joined([_covered(item, quoted), *(covering(one.where, item.weights) for one in found)])
    missing = [name for name in _PROPER.findall(item.text) if not _speaks(name, item, there)]
    missing += [year for year in _YEAR.findall(item.text) if year not in said]
    if missing:
        return f"nothing is said about {' or '.join(missing)}"
    needed = _NAMED if item.packages else _CODE if about_code else _OPEN
    needed += _FEW / (1 + len(item.weights))
    needed += _STRANGE if any(term not in covered for term in strange) else 0.0
    if share(covered, item.weights) < needed or (len(item.weights) <= _PAIR and _half_covered(item, covered)):
        return "too little is said about it"
    heads = tuple(heading(one) for one in main)
    told = "\n".join(line for line in said.splitlines() if line.startswith(heads))
    lacking = [want.name for want in item.wants if _needed(want, item) and not want.looks.search(told)]
    return f"no {lacking[0]} is given" if lacking else ""


def _needed(want: Want, item: Item) -> bool:
    return want.needed or (want.needed_alone and item.wants == (want,))


def _half_covered(item: Item, covered: Covered) -> bool:
    return any(weight >= _TELLING and term not in covered for term, weight in item.weights.items())


def _covered(item: Item, evidence: Sequence[Evidence]) -> Covered:
    return joined(covering(f"{one.where} {one.text}", item.weights) for one in evidence)


def _speaks(name: str, item: Item, covered: Covered) -> bool:
    return all(term in covered for term in terms(name) if term in item.weights)
