"""Question: a person's words, split into items, each with what it is about and what kind of answer it wants."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from flowcore_knowledge import terms

from .lexicon import EMPTY, FAINT, PHRASES
from .names import Names
from .wants import SUMMARY, WANTS, Want

_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[^\S\n ]|[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2060\ufeff]")
_WORD = re.compile(r"[^\W\d]\w*(?:\.\w+)*|\d[\d.,]*")
_CODE = re.compile(r"[a-z0-9]_[a-z0-9]|[a-z][A-Z]|^[A-Z]{2,}[a-z]|\w\.\w")
_ASKS = r"(?:what|which|how|who|when|where|why|does|do|is|are|can|in|for|with)\b"
_BETWEEN = re.compile(
    rf"[?.;]\s+(?:and\s+|also,?\s+)?|,?\s+and\s+(?:also\s+)?(?={_ASKS})|\n+|,?\s+(?:and\s+)?also[,:]?\s+",
    re.I,
)
_OPENS = re.compile(r"(?:what|which|how|who|when|where|why|does|do|is|are|can)\b", re.I)
_BACK = re.compile(
    r"\b(?:it|its|that|this|they|them|these|those|one|there|then|instead|same|else|both|i|me|my|none|nothing|so)\b"
    r"|\bthe (?:arg\w*|param\w*|option|setting|default|flag|value|name)\b",
    re.I,
)
_OWNER = re.compile(r"\b(\w+)['\u2019]s\b")
_OWN = 0.45
_FAINTLY = 0.4
_ALMOST = 0.85
_PLAIN = sorted(EMPTY | FAINT)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that is asked.

    `weights` has the terms that an answer should speak about, with how much each tells, and `words` the word that
    was written for each; `packages` the installed distributions that it names, `absent` those that are not
    installed; `identifiers` the names of code in it.
    """

    text: str
    packages: tuple[str, ...]
    absent: tuple[str, ...]
    weights: Mapping[str, float]
    words: Mapping[str, str]
    identifiers: frozenset[str]
    wants: tuple[Want, ...]


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads questions with the names of what is installed and the words of its texts.

    `correct` mends a misspelt word, `frequency` says how many passages have a term, `weight` how much it
    tells.
    """

    names: Names
    correct: Callable[[str], str]
    frequency: Callable[[str], int]
    weight: Callable[[str], float]

    def split(self, text: str) -> list[str]:
        """The items of a question: its parts that ask about a package of their own, installed or not."""
        items: list[str] = []
        about: set[str] = set()
        subject = ""
        for piece in filter(None, map(str.strip, _BETWEEN.split(text))):
            called = self._named(piece)
            named = {*called, *self.names.absent_in(piece, self._known)}
            if called:
                package = next(iter(called.values()))
                owners = (owner for owner in _OWNER.findall(piece) if owner != package)
                subject = " ".join((package, *owners))
            if items and subject and not named and self._stands_alone(piece):
                items.append(f"{subject}: {piece}")
            elif items and (not about or not named or named <= about):
                items[-1] = f"{items[-1]}, {piece}"
                about |= named
            else:
                items.append(piece)
                about = named
        return items if len(items) > 1 else [text.strip()]

    def _stands_alone(self, piece: str) -> bool:
        """Whether a part without a package asks about something of its own, and not about what was said before."""
        if not _OPENS.match(piece) or _BACK.search(piece):
            return False
        item = self.read(piece)
        return bool(item.identifiers) or max(item.weights.values(), default=0.0) >= _OWN

    def read(self, text: str) -> Item:
        """What an item is about."""
        named = self._named(text)
        spoken = {part.lower() for word in named.values() for part in (word, *re.split(r"[-_.]", word))}
        mended = {word: self._mended(word, spoken) for word in _WORD.findall(text)}
        said = _WORD.sub(lambda match: mended[match[0]], text)
        weights: dict[str, float] = {}
        words: dict[str, str] = {}
        identifiers: set[str] = set()
        for word in _telling(said, spoken):
            if _CODE.search(word) or (word.istitle() and f" {word}" in said):
                identifiers.update(part.lower() for part in word.split(".") if part.lower() not in spoken)
            factor = _FAINTLY if word.lower() in FAINT else 1.0
            for term in terms(word):
                if term not in spoken:
                    weights.setdefault(term, self.weight(term) * factor)
                    words.setdefault(term, word)
        wants = [want for want in WANTS if want.asked.search(said)]
        if named and not weights and SUMMARY.asked.search(said):
            weights, wants = dict.fromkeys(terms(next(iter(named))), 1.0), [SUMMARY]
        return Item(
            text=text,
            packages=tuple(named),
            absent=self.names.absent_in(text, self._known),
            weights=weights,
            words=words,
            identifiers=frozenset(identifiers),
            wants=tuple(wants),
        )

    def _named(self, text: str) -> dict[str, str]:
        return self.names.named_in(text) or self.names.near(text, self._known)

    def _known(self, word: str) -> int:
        return min(map(self.frequency, terms(word)), default=0)

    def _mended(self, word: str, spoken: set[str]) -> str:
        """A word without its slip of the keyboard: what the texts have, or a word that every question has."""
        lower = word.lower()
        if not word.isalpha() or not (word.islower() or word.istitle()) or lower in spoken | EMPTY | FAINT:
            return word
        if not self._known(word):
            for near in get_close_matches(lower, _PLAIN, n=1, cutoff=_ALMOST):
                if near[0] == lower[0]:
                    return near
        return self.correct(word) if word.islower() else word


def plain(text: str) -> str:
    """A text without what steers a terminal and without signs that nobody sees."""
    return _CONTROL.sub(" ", text)


def _telling(text: str, spoken: set[str]) -> Iterator[str]:
    """The telling words, phrases put into a word."""
    for phrase, meant in PHRASES:
        text = phrase.sub(meant, text)
    for word in _WORD.findall(text):
        word = word.rstrip(".,")
        if len(word) > 1 and word.lower() not in spoken | EMPTY:
            yield word
