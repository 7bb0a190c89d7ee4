"""Words: a question as a search of the index. Nothing in it is read as search syntax."""

from __future__ import annotations

import re

__all__ = ["match"]

_MOST = 64
_WORD = re.compile(r"\w+")
_COMMON = frozenset(
    """a about an and any are as at be been but by can could did do does for from had has have he her his how i if
    in is it its me my no not of on or our please she should so some than that the their them then there these they
    this to up us was we were what when where which who will with would you your""".split()
)
"""Words that nearly every text has: nothing is found by them where there are others."""


def match(owner: int, query: str) -> str:
    """Return what the index is asked for: texts of an owner with one of these words. '' where there is none."""
    words = dict.fromkeys(word for word in _WORD.findall(query.lower().replace("_", " ")))
    wanted = [word for word in words if word not in _COMMON] or list(words)
    if not wanted:
        return ""
    # A word is made of letters and digits alone, so that no quote can end the quotes.
    quoted = " OR ".join(f'"{word}"' for word in wanted[:_MOST])
    return f'owner : "{owner:d}" AND text : ({quoted})'
