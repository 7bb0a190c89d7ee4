"""Secrets: what must never be shown, and texts without it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from urllib.parse import quote

__all__ = ["Covered", "Secrets", "checked_headers", "checked_key"]

_TELLING = ("auth", "key", "token", "secret", "cookie", "password")
"""What the name of a header has in it that holds a secret."""
_SHORTEST = 4
"""Shorter values are no secrets, and would be found everywhere."""


class Covered(dict[str, str]):
    """Headers of which nothing but the names is shown."""

    def __repr__(self) -> str:
        return f"Covered({', '.join(self)})"


class Secrets:
    """Values that are taken out of every text that may be shown. Says nothing of itself."""

    __slots__ = ("_forms",)

    def __init__(self, values: Iterable[str]) -> None:
        kept = {value for value in values if len(value) >= _SHORTEST}
        forms = {form for value in kept for form in _forms(value)}
        self._forms = sorted(forms, key=len, reverse=True)

    @classmethod
    def of(cls, key: str, headers: Mapping[str, str]) -> Secrets:
        """Return the secrets of a connection: its key, and what stands in headers whose names tell of secrets."""
        told = (value for name, value in headers.items() if any(word in name.lower() for word in _TELLING))
        return cls([key, *(part for value in told for part in (value, value.rpartition(" ")[2]))])

    def scrub(self, text: str) -> str:
        """Return the text with `***` in the place of each secret."""
        for form in self._forms:
            text = text.replace(form, "***")
        return text

    def __repr__(self) -> str:
        return "Secrets(***)"


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
