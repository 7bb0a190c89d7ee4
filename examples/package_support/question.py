"""Question: a person's words, split into items, each with what it is about and what kind of answer it wants."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from flowcore_knowledge import terms

from .lexicon import EMPTY, FAINT, PHRASES
from .names import Names
from .wants import WANTS, Want

_WORD = re.compile(r"[^\W\d]\w*(?:\.\w+)*|\d[\d.,]*")
_CODE = re.compile(r"[a-z0-9]_[a-z0-9]|[a-z][A-Z]|^[A-Z]{2,}[a-z]|\w\.\w")
_ASKS = r"(?:what|which|how|who|when|where|why|does|do|is|are|can|in|for|with)\b"
_BETWEEN = re.compile(
    rf"[?.;]\s+(?:and\s+|also,?\s+)?|,?\s+and\s+(?:also\s+)?(?={_ASKS})|\n+|,?\s+(?:and\s+)?also[,:]?\s+",
    re.I,
)
_FAINTLY = 0.4


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that is asked.

    `weights` has the terms that an answer should speak about, with how much each tells; `packages` the
    installed distributions that it names, `absent` those that are not installed; `identifiers` the names of
    code in it.
    """

    text: str
    packages: tuple[str, ...]
    absent: tuple[str, ...]
    weights: Mapping[str, float]
    identifiers: frozenset[str]
    wants: tuple[Want, ...]


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads questions with the names of what is installed and the words of its texts.

    `correct` mends a misspelt word, `frequency` says how many passages have a word, `weight` how much a term
    tells.
    """

    names: Names
    correct: Callable[[str], str]
    frequency: Callable[[str], int]
    weight: Callable[[str], float]

    def split(self, text: str) -> list[str]:
        """The items of a question: its parts that ask about a package of their own."""
        items: list[str] = []
        about: set[str] = set()
        for piece in filter(None, map(str.strip, _BETWEEN.split(text))):
            named = set(self._named(piece))
            if items and (not about or not named or named <= about):
                items[-1] = f"{items[-1]}, {piece}"
                about |= named
            else:
                items.append(piece)
                about = named
        return items if len(items) > 1 else [text.strip()]

    def read(self, text: str) -> Item:
        """What an item is about."""
        named = self._named(text)
        spoken = {part.lower() for word in named.values() for part in (word, *re.split(r"[-_.]", word))}
        weights: dict[str, float] = {}
        identifiers: set[str] = set()
        for word in self._words(text, spoken):
            if _CODE.search(word):
                identifiers.update(part.lower() for part in word.split(".") if part.lower() not in spoken)
            factor = _FAINTLY if word.lower() in FAINT else 1.0
            for term in terms(word):
                if term not in spoken:
                    weights.setdefault(term, self.weight(term) * factor)
        return Item(
            text=text,
            packages=tuple(named),
            absent=self.names.absent_in(text, self.frequency),
            weights=weights,
            identifiers=frozenset(identifiers),
            wants=tuple(want for want in WANTS if want.asked.search(text)),
        )

    def _named(self, text: str) -> dict[str, str]:
        return self.names.named_in(text) or self.names.near(text, self.frequency)

    def _words(self, text: str, spoken: set[str]) -> Iterator[str]:
        """The telling words, phrases put into a word and slips of the keyboard mended."""
        for phrase, meant in PHRASES:
            text = phrase.sub(meant, text)
        for word in _WORD.findall(text):
            word = word.rstrip(".,")
            if word.isalpha() and word.islower() and word not in spoken | EMPTY | FAINT:
                word = self.correct(word)
            if len(word) > 1 and word.lower() not in spoken | EMPTY:
                yield word
