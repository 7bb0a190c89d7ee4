"""Stem: the root of an English word, after M. F. Porter, "An algorithm for suffix stripping" (1980)."""

from __future__ import annotations

import re
from functools import lru_cache

_C = "[^aeiou]"
_V = "[aeiouy]"
_CC = f"{_C}[^aeiouy]*"
_VV = f"{_V}[aeiou]*"
_ONE_OR_MORE = re.compile(f"^({_CC})?{_VV}{_CC}")
_EXACTLY_ONE = re.compile(f"^({_CC})?{_VV}{_CC}({_VV})?$")
_TWO_OR_MORE = re.compile(f"^({_CC})?{_VV}{_CC}{_VV}{_CC}")
_HAS_VOWEL = re.compile(f"^({_CC})?{_V}")
_SHORT = re.compile(f"^{_CC}{_V}[^aeiouwxy]$")
_PLAIN = re.compile(r"^[a-z]{3,}$")

_IRREGULAR = {
    form: base
    for base, *forms in (
        line.split()
        for line in (
            "begin began begun", "bind bound", "break broke broken", "bring brought", "build built",
            "catch caught", "choose chose chosen", "draw drew drawn", "drive drove driven", "fall fell fallen",
            "find found", "forbid forbade forbidden", "freeze froze frozen", "give gave given", "hide hid hidden",
            "hold held", "keep kept", "know knew known", "leave left", "lose lost", "make made", "mean meant",
            "override overrode overridden", "rewrite rewrote rewritten", "run ran", "see saw seen", "send sent",
            "show showed shown", "spend spent", "take took taken", "tell told", "throw threw thrown",
            "undo undid undone", "unfreeze unfroze unfrozen", "write wrote written",
        )
    )
    for form in forms
}  # fmt: skip
_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble",
    "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate",
    "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive",
    "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize",
    "sion", "tion", "al", "er", "ic", "ou",
)  # fmt: skip


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The stem of a lower-case word; what is not a plain English word comes back as it is."""
    if not _PLAIN.match(word):
        return word
    word = _past(_plural(_IRREGULAR.get(word, word)))
    if word.endswith("y") and _HAS_VOWEL.match(word[:-1]):
        word = word[:-1] + "i"
    word = _swap(word, _STEP_2)
    word = _swap(word, _STEP_3)
    return _tidy(_cut(word))


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _ONE_OR_MORE.match(word[:-3]) else word
    for ending in ("ed", "ing"):
        root = word.removesuffix(ending)
        if root != word:
            return _mended(root) if _HAS_VOWEL.match(root) else word
    return word


def _mended(root: str) -> str:
    if root.endswith(("at", "bl", "iz")):
        return root + "e"
    if len(root) > 1 and root[-1] == root[-2] and root[-1] not in "aeiouylsz":
        return root[:-1]
    return root + "e" if _SHORT.match(root) else root


def _swap(word: str, endings: dict[str, str]) -> str:
    for ending in sorted(endings, key=len, reverse=True):
        if word.endswith(ending):
            root = word[: -len(ending)]
            return root + endings[ending] if _ONE_OR_MORE.match(root) else word
    return word


def _cut(word: str) -> str:
    for ending in _STEP_4:
        if word.endswith(ending):
            root = word[: -len(ending)] + (ending[0] if ending in ("sion", "tion") else "")
            return root if _TWO_OR_MORE.match(root) else word
    return word


def _tidy(word: str) -> str:
    if word.endswith("e"):
        root = word[:-1]
        if _TWO_OR_MORE.match(root) or (_EXACTLY_ONE.match(root) and not _SHORT.match(root)):
            word = root
    if word.endswith("ll") and _TWO_OR_MORE.match(word):
        word = word[:-1]
    return word
