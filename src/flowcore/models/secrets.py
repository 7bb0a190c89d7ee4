"""Secrets: what must never be shown, and texts without it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from urllib.parse import quote

__all__ = ["Covered", "Secrets", "Veil", "checked_headers", "checked_key"]

_TELLING = ("auth", "key", "token", "secret", "cookie", "password")
"""What the name of a header has in it that holds a secret."""
_SHORTEST = 4
"""Shorter values are no secrets, and would be found everywhere."""
_BEGINNING = 6
"""So much of a secret is not told, where a text ends within one."""
_UNMISTAKABLE = 16
"""A value of so many letters, and a digit, comes into no answer by chance."""


class Covered(dict[str, str]):
    """Headers of which nothing but the names is shown."""

    def __repr__(self) -> str:
        return f"Covered({', '.join(self)})"


class Secrets:
    """Values that are taken out of every text that may be shown. Says nothing of itself."""

    __slots__ = ("_forms", "_unmistakable")

    def __init__(self, values: Iterable[str]) -> None:
        self._forms = _all_forms(value for value in values if len(value) >= _SHORTEST)
        self._unmistakable = [form for form in self._forms if _is_unmistakable(form)]

    @classmethod
    def of(cls, key: str, headers: Mapping[str, str]) -> Secrets:
        """Return the secrets of a connection: its key, and what stands in headers whose names tell of secrets."""
        told = (value for name, value in headers.items() if any(word in name.lower() for word in _TELLING))
        return cls([key, *(part for value in told for part in (value, value.rpartition(" ")[2]))])

    def scrub(self, text: str) -> str:
        """Return the text with `***` in the place of each secret, and of the beginning of one at its end."""
        text = _without(self._forms, text)
        rest = _beginning(self._forms, text)
        return f"{text[:-rest]}***" if rest >= _BEGINNING else text

    def scrub_answer(self, text: str) -> str:
        """Return what a model said, without secrets that cannot be there by chance, as `not-needed` may be."""
        return _without(self._unmistakable, text)

    def veil(self) -> Veil:
        """Return what does the same to a text that comes in pieces."""
        return Veil(self._unmistakable)

    def __repr__(self) -> str:
        return "Secrets(***)"


class Veil:
    """Takes secrets out of a text that comes in pieces: what may be the beginning of one waits for the next."""

    __slots__ = ("_forms", "_kept")

    def __init__(self, forms: list[str]) -> None:
        self._forms = forms
        self._kept = ""

    def take(self, piece: str) -> str:
        """Return what may be told when this piece has come."""
        if not self._forms:
            return piece
        text = _without(self._forms, self._kept + piece)
        rest = _beginning(self._forms, text)
        self._kept = text[len(text) - rest :]
        return text[: len(text) - rest]

    def rest(self) -> str:
        """Return what was kept back, once no more comes."""
        kept, self._kept = self._kept, ""
        return kept if len(kept) < _BEGINNING else "***"


def _without(forms: list[str], text: str) -> str:
    for form in forms:
        text = text.replace(form, "***")
    return text


def _beginning(forms: list[str], text: str) -> int:
    """Return how many letters at the end of the text are the beginning of a form."""
    longest = 0
    for form in forms:
        first = form[0]
        place = text.find(first, max(0, len(text) - len(form) + 1))
        while place >= 0 and len(text) - place > longest:
            if form.startswith(text[place:]):
                longest = len(text) - place
                break
            place = text.find(first, place + 1)
    return longest


def _is_unmistakable(form: str) -> bool:
    return len(form) >= _UNMISTAKABLE and any(letter.isdigit() for letter in form)


def _all_forms(values: Iterable[str]) -> list[str]:
    return sorted({form for value in values for form in _forms(value)}, key=len, reverse=True)


def _forms(value: str) -> tuple[str, ...]:
    """Return the value as it is, and as it stands in a URL, in JSON and in what Python shows of a text."""
    doubled = value.replace("\\", "\\\\")
    return value, quote(value, safe=""), json.dumps(value)[1:-1], doubled, doubled.replace("'", "\\'")


def checked_key(key: str | None) -> str:
    """Return the key, '' for none. Raises `ValueError`, without the key, when no header can carry it."""
    if key is None:
        return ""
    if not key or not all("!" <= letter <= "~" for letter in key):
        what = "is empty" if not key else "has a space, a line end or a letter that no header can carry"
        raise ValueError(f"api_key {what}; read it with .strip(), or leave it out for a server without keys")
    return key


def checked_headers(headers: Mapping[str, str]) -> Covered:
    """Return the headers with names in lower case. Raises `ValueError`, without the value, for a wrong one."""
    for name, value in headers.items():
        if not name or not all("!" <= letter <= "~" and letter not in '()<>@,;:\\"/[]?={}' for letter in name):
            raise ValueError(f"headers: {name!r} is no name of a header")
        if value != value.strip() or not all(" " <= letter <= "~" or letter == "\t" for letter in value):
            raise ValueError(f"headers: the value of {name} has a line end or a letter that no header can carry")
    return Covered({name.lower(): value for name, value in headers.items()})
