"""Hostile text: what comes from outside is shown to a model as text, of a limited length, with nothing hidden."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

__all__ = ["harmless", "harmless_schema"]

LONGEST = 4_000
"""Characters of a description that a model is given."""
_HIDDEN = frozenset(("Cc", "Cf", "Co", "Cs", "Zl", "Zp"))
"""Categories of characters that are not seen, or that turn round what is."""
_DEEPEST = 20


def harmless(text: str, longest: int = LONGEST) -> str:
    """Return the text with what is not seen written as escapes, at most so long."""
    kept = text[:longest]
    if not kept.isascii() or not kept.isprintable():
        kept = "".join(map(_shown, kept))
    left = len(text) - longest
    return f"{kept}... ({left:,} more characters)" if left > 0 else kept


def harmless_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON Schema whose titles and descriptions are harmless."""
    return {key: _inner(key, value, 0) for key, value in schema.items()}


def _inner(key: str, value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return harmless(value) if key in ("description", "title") else value
    if depth == _DEEPEST:
        return value
    if isinstance(value, Mapping):
        return {inner: _inner(inner, item, depth + 1) for inner, item in value.items()}
    if isinstance(value, list):
        return [_inner("", item, depth + 1) for item in value]
    return value


def _shown(letter: str) -> str:
    if letter in "\n\t" or unicodedata.category(letter) not in _HIDDEN:
        return letter
    return letter.encode("unicode_escape", "surrogatepass").decode("ascii")
