"""Words: how texts and questions become what the index holds. Nothing in a question is read as search syntax."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

__all__ = ["match", "spaced"]

_MOST = 64
_UNSPACED = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]"
"""Letters of Chinese, Japanese and Korean, which write words without spaces, or grown together."""
_LETTER = re.compile(_UNSPACED)
_WORD = re.compile(rf"{_UNSPACED}+|(?:(?!{_UNSPACED})[^\W_])+")
_COMMON = frozenset(
    """a about an and any are as at be been but by can could did do does for from had has have he her his how i if
    in is it its me my no not of on or our please she should so some than that the their them then there these they
    this to up us was we were what when where which who will with would you your""".split()
)
"""Words that nearly every text has: nothing is found by them where there are others."""


def spaced(text: str) -> str:
    """Return a text as it is indexed: letters of words that are not spaced stand alone."""
    return _LETTER.sub(r" \g<0> ", text)


def match(owner: int, query: str) -> str:
    """Return what the index is asked for: texts of an owner with one of these words. '' where there is none."""
    terms = list(dict.fromkeys(term for word in _WORD.findall(query.lower()) for term in _terms(word)))
    wanted = [term for term in terms if term not in _COMMON] or terms
    if not wanted:
        return ""
    # A term is made of letters, digits and spaces alone, so that no quote can end the quotes.
    quoted = " OR ".join(f'"{term}"' for term in wanted[:_MOST])
    return f'owner : "{owner:d}" AND words : ({quoted})'


def _terms(word: str) -> Iterator[str]:
    """Yield a word, or each pair of letters that stand side by side in one that is not spaced."""
    if len(word) == 1 or not _LETTER.match(word):
        yield word
        return
    for one, two in pairwise(word):
        yield f"{one} {two}"
