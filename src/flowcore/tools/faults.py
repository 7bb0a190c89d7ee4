"""Faults: what is wrong with a value, in words that a model can act on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import ValidationError

from ..value_text import escaped

__all__ = ["ArgumentFault", "fault_text"]

_MOST = 5
_LONGEST = 100


class ArgumentFault(ValueError):
    """Arguments that a tool cannot be called with; the text says what to change."""


def fault_text(error: ValidationError, names: Sequence[str]) -> str:
    """Return each fault with its place and what was given; `names` are the parameters that there are."""
    lines = list(_faults(error, names))
    more = [f"and {len(lines) - _MOST} more"] if len(lines) > _MOST else []
    return "; ".join(lines[:_MOST] + more)


def _faults(error: ValidationError, names: Sequence[str]) -> Iterator[str]:
    for fault in error.errors(include_url=False, include_context=False):
        place = ".".join(str(part) for part in fault["loc"])
        if fault["type"] == "missing":
            yield f"{place} is missing"
        elif fault["type"] == "extra_forbidden":
            there = f": there are {', '.join(names)}" if names else ": there are none"
            yield f"{_short(place)} is not a parameter{there}"
        else:
            words = fault["msg"][:1].lower() + fault["msg"][1:]
            yield f"{place or 'it'}: {words}, and not {_short(_shown(fault['input']))}"


def _shown(value: object) -> str:
    try:
        return repr(value)
    except Exception:  # a value that cannot be shown must not hide what is wrong with it
        return f"a {type(value).__name__}"


def _short(text: str) -> str:
    shown = escaped(text[: _LONGEST + 1])
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."
