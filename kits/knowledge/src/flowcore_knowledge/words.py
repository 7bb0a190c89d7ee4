"""Words: how text and questions become the terms that the index holds.

The same function reads both, so a question finds a text whenever they share a stem or a part of a name:
`keepAliveExpiry`, `keep_alive_expiry` and "keep alive expiry" share three terms.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from functools import lru_cache

from .stem import stem

_WORD = re.compile(r"[^\W_]+")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|\d+")
_LONGEST = 64
_LONG = 8


def terms(text: str) -> list[str]:
    """The terms of a text in their order: lower case, stemmed, names split into their parts.

    A name written in humps gives its parts and itself (`MockClock` is mock, clock, mockclock).
    """
    return [term for word in _WORD.findall(text) for term in _of_word(word[:_LONGEST])]


def spellings(word: str) -> Iterator[str]:
    """Every word from which `word` is one slip away: letters swapped, doubled or left out; in a long word, wrong.

    The first letter is taken as right, as it nearly always is.
    """
    splits = [(word[:at], word[at:]) for at in range(1, len(word) + 1)]
    for head, tail in splits:
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
        if tail and tail[0] == head[-1]:
            yield head + tail[1:]
        for letter in string.ascii_lowercase:
            yield head + letter + tail
            if tail and len(word) >= _LONG:
                yield head + letter + tail[1:]


@lru_cache(maxsize=100_000)
def _of_word(word: str) -> tuple[str, ...]:
    humps = _HUMPS.findall(word) if word.isascii() else [word]
    if len(humps) < 2:
        return (stem(word.lower()),)
    return (*(stem(hump.lower()) for hump in humps), stem(word.lower()))
