"""Changes: what a visit changed in the state, place by place."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, zip_longest
from typing import Any, Final

from pydantic import BaseModel

from ..state import Log, same
from ..value_text import ValuePrinter
from .recording import Change

__all__ = ["changes"]

_ABSENT: Final = object()
_MOST = 20
"""Changes in one field above which the field is shown whole."""
_DEEPEST = 6


def changes(before: Mapping[str, Any], patch: Mapping[str, Any], printer: ValuePrinter) -> tuple[Change, ...]:
    """Return what a patch changed, each place on its own, sorted by field."""
    found: list[Change] = []
    for field in sorted(patch):
        was, now = before.get(field, _ABSENT), patch[field]
        try:
            inner = list(islice(_differences(field, was, now, printer, 0), _MOST + 1))
        except Exception:  # a value of a user that cannot be looked into is shown whole
            inner = [_leaf(field, was, now, printer)]
        found += inner if len(inner) <= _MOST else [_leaf(field, was, now, printer)]
    return tuple(found)


def _differences(place: str, was: Any, now: Any, printer: ValuePrinter, depth: int) -> Iterator[Change]:
    if was is now:
        return
    if isinstance(now, Log) and now.fresh:
        yield Change(kind="appended", place=place, now=printer.text(now.fresh))
        return
    parts = _parts(was, now, printer) if type(was) is type(now) and depth < _DEEPEST else None
    if parts is not None:
        for inner, old, new in parts:
            yield from _differences(f"{place}{inner}", old, new, printer, depth + 1)
    elif not same(was, now):
        yield _leaf(place, was, now, printer)


def _parts(was: Any, now: Any, printer: ValuePrinter) -> Iterable[tuple[str, Any, Any]] | None:
    """Return the parts of two values of one type, each with its place; None for values without parts."""
    if (fields := _fields(now)) is not None:
        return [(f".{name}", getattr(was, name, _ABSENT), getattr(now, name, _ABSENT)) for name in fields]
    if isinstance(now, Mapping):
        keys = [*was, *(key for key in now if key not in was)]
        return [(f"[{printer.text(key)}]", was.get(key, _ABSENT), now.get(key, _ABSENT)) for key in keys]
    if isinstance(now, list | tuple):
        pairs = zip_longest(was, now, fillvalue=_ABSENT)
        return ((f"[{index}]", old, new) for index, (old, new) in enumerate(pairs))
    return None


def _leaf(place: str, was: Any, now: Any, printer: ValuePrinter) -> Change:
    if was is _ABSENT:
        return Change(kind="added", place=place, now=printer.text(now))
    if now is _ABSENT:
        return Change(kind="removed", place=place, was=printer.text(was))
    return Change(kind="changed", place=place, was=printer.text(was), now=printer.text(now))


def _fields(value: Any) -> list[str] | None:
    if isinstance(value, BaseModel):
        return list(value.__class__.model_fields)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [entry.name for entry in dataclasses.fields(value)]
    return None
