"""Quote: the sentences of the evidence that answer an item, picked and joined, never rewritten."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flowcore_answering import Evidence

from .finder import fitting
from .likeness import Covered, covering, joined, share
from .question import Item

_FIRST, _NEXT, _ALL, _LEAST = 65, 36, 105, 15  # words
_BREAK = "\n"
_MOST = 5  # passages
_SAME, _OTHER = 0.65, 0.82  # how well a passage must fit beside the first: about the same thing, about another
_ADDS, _GAIN = 0.6, 0.15  # how well one that adds so much of the item must fit
_LONG = 45
_FITS, _OPENS, _LENGTH = 0.15, 0.1, 0.002
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(`\[])")
_SAMPLE = re.compile(r" {4}(?!(?:\$|pip3?|uv|pipx|conda|python3? -m pip) )")  # code, but not a command to type
_SIGNATURE = re.compile(r"[\w.]+\(.*")
_ARGUMENT = re.compile(r", (?=\w+(?:[:=,]| =|$))")


@dataclass(frozen=True, slots=True)
class Quote:
    """What is quoted, and from where; the first is what the answer mainly rests on."""

    text: str
    evidence: tuple[Evidence, ...]


def quote(item: Item, evidence: Sequence[Evidence]) -> Quote | None:
    """Sentences from the passages that fit, in about a hundred words; None if there is none."""
    taken: list[Evidence] = []
    said: list[str] = []
    words = 0
    for passage in _kept(item, evidence):
        text = _from(item, passage, min(_NEXT if taken else _FIRST, _ALL - words))
        if text and not any(text in other for other in said):
            taken.append(passage)
            said.append(text)
            words += len(text.split())
        if _ALL - words < _LEAST or len(taken) == _MOST:
            break
    return Quote("\n".join(said), tuple(taken)) if taken else None


def heading(evidence: Evidence) -> str:
    """How a quote of some evidence begins: with its title."""
    return f"{evidence.text.partition(_BREAK)[0]} \N{EM DASH} "


def _kept(item: Item, evidence: Sequence[Evidence]) -> Iterator[Evidence]:
    """What fits nearly as well as the first; less well will do for a passage that adds what is still open."""
    best, told = 0.0, 0.0
    covered: Covered = {}
    for passage in evidence:
        title, _, text = passage.text.partition(_BREAK)
        fit, adds = fitting(passage.where, title, text, item)
        best = best or fit
        together = joined([covered, adds])
        gain = share(together, item.weights) - told
        needed = _SAME if passage.where == evidence[0].where else _ADDS if gain >= _GAIN else _OTHER
        if fit >= best * needed:
            covered, told = together, told + gain
            yield passage


def _from(item: Item, passage: Evidence, room: int) -> str:
    """The best sentences of a passage in their order, with what they are about in front."""
    head, text = heading(passage), passage.text.partition(_BREAK)[2]
    units = [unit for unit in _units(text, item) if unit]
    words = len(head.split())
    chosen: list[int] = []
    for at in sorted(range(len(units)), key=lambda at: (-_worth(units[at], at, item), at)):
        size = len(units[at].split())
        if words + size <= room or (not chosen and words + size <= room * 1.6):
            chosen.append(at)
            words += size
    return head + " … ".join(_runs(units, sorted(chosen))) if chosen else ""


def _runs(units: Sequence[str], chosen: Sequence[int]) -> Iterator[str]:
    """Neighbouring sentences joined as they stood."""
    run: list[str] = []
    for at in chosen:
        if run and at - 1 not in chosen:
            yield " ".join(run)
            run = []
        run.append(units[at])
    yield " ".join(run)


def _units(text: str, item: Item) -> Iterator[str]:
    """Sentences, and signatures cut down to what is asked about; code only where there is nothing else."""
    lines = text.splitlines()
    for line in [line for line in lines if not _SAMPLE.match(line)] or lines:
        for unit in map(str.strip, _SENTENCE.split(line)):
            if _SIGNATURE.fullmatch(unit):
                yield _arguments(unit, item)
            elif len(unit.split()) > _LONG:
                yield " ".join([*unit.split()[:_LONG], "…"])
            else:
                yield unit


def _arguments(signature: str, item: Item) -> str:
    """A signature with those of its arguments that the item speaks about."""
    name, _, rest = signature.partition("(")
    pieces = _ARGUMENT.split(rest.rstrip(")"))
    if len(pieces) > 3:
        pieces = [piece for piece in pieces if covering(piece, item.weights)]
    return f"{name}({', '.join(pieces)})" if pieces else ""


def _worth(unit: str, at: int, item: Item) -> float:
    worth = share(covering(unit, item.weights), item.weights)
    worth += _FITS * sum(1 for want in item.wants if want.looks.search(unit))
    return worth + (_OPENS if at == 0 else 0.0) - _LENGTH * len(unit.split())
