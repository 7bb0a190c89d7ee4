"""Values as text: one line each, the same for the same value."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import hashlib
import os
import pathlib
import re
import uuid
from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from typing import Any, Final

from pydantic import BaseModel

from .errors import Failure
from .state import Log
from .types import type_name

__all__ = ["ValuePrinter", "escaped"]

_BREAKS = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""Everything that ends a line."""
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a terminal obeys, what ends or turns a line, and halves of characters, which no file can hold."""
_UNSET: Final = object()
"""What stands for a declared field that a value has not."""
_DEEPEST = 100
"""How many values are told one inside the other. Of what lies deeper the type is told: the stack has an end."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class ValuePrinter:
    """Prints values on one line each, sorted, at most `longest` characters of a text and `most` items of a list.

    Masked, it prints the same in every run: rounded, without times, and with numbers in place of ids. `mask` has
    a word for each place whose value is not to be shown: `{"state.token": "secret"}`. The items of a list stand at
    its own place. A field of a dataclass whose metadata say `told_if_any` is left out where it is empty.
    """

    def __init__(
        self,
        *,
        masked: bool = True,
        longest: int = 200,
        most: int | None = None,
        mask: Mapping[str, str] | None = None,
    ) -> None:
        self._masked = masked
        self._most = most
        self._mask = mask or {}
        self._longest = longest
        self._uuids: dict[uuid.UUID, int] = {}
        self._open: set[int] = set()
        self._sorting = 0

    def failure(self, failure: Failure) -> str:
        """Return a failure as one line."""
        message = self.shortened(escaped(self._stable(_BREAKS.sub(" ", failure.message))))
        return f"{failure.type}: {message}" if message else failure.type

    def text(self, value: Any, place: str = "") -> str:
        """Return a value, which stands at a place, as one line. Nothing is raised, whatever the value is."""
        if place in self._mask:
            return f"<{self._mask[place]}>"
        try:
            return self._shown(value, place)
        except Exception:  # a value that cannot be shown must not hide the rest
            return f"<{type_name(type(value))}>"

    def _shown(self, value: Any, place: str) -> str:
        if value is None or type(value) is int:
            return self.shortened(repr(value))
        if isinstance(value, str):
            return self.shortened(_quoted(self._stable(value)))
        if isinstance(value, enum.Enum):
            return f"{type(value).__name__}.{value.name}"
        if isinstance(value, float):
            return f"{value:.6g}" if self._masked else repr(value)
        if isinstance(value, uuid.UUID):
            return self._uuid(value)
        if isinstance(value, datetime.date | datetime.time | datetime.timedelta):
            return f"<{type(value).__name__}>" if self._masked else f"<{value}>"
        if isinstance(value, pathlib.PurePath):
            return _quoted(self._stable(str(value)))
        if id(value) in self._open:  # it holds itself
            return "<...>"
        if len(self._open) >= _DEEPEST:
            return f"<{type_name(type(value))}>"
        self._open.add(id(value))
        try:
            return self._nested(value, place if self._mask else "")
        finally:
            self._open.discard(id(value))

    def _nested(self, value: Any, place: str) -> str:
        if isinstance(value, BaseModel):
            return self._fields(value, value.__class__.model_fields, place)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            entries = dataclasses.fields(value)
            return self._fields(value, [entry.name for entry in entries if not _is_idle(value, entry)], place)
        if isinstance(value, Log):
            return f"Log([{self._joined(value, (self.text(item, place) for item in self._first(value)))}])"
        if isinstance(value, Mapping):
            keys = self._sorted(value) if self._first(value) is value else self._first(value)
            pairs = (f"{self.text(key)}: {self.text(value[key], _inside(place, key))}" for key in keys)
            return "{" + self._joined(value, pairs) + "}"
        if isinstance(value, set | frozenset):
            return "{" + self._joined(value, self._members(self._first(value), place)) + "}"
        if isinstance(value, list | tuple):
            inner = self._joined(value, (self.text(item, place) for item in self._first(value)))
            return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
        return self.shortened(escaped(self._stable(_BREAKS.sub(" ", repr(value)))))

    def _first(self, value: Collection[Any]) -> Iterable[Any]:
        """Return the items that are told: all, or of too many the first."""
        return value if self._most is None or len(value) <= self._most else islice(value, self._most)

    def _joined(self, value: Collection[Any], texts: Iterable[str]) -> str:
        left = 0 if self._most is None else len(value) - self._most
        return ", ".join([*texts, f"... and {left:,} more"] if left > 0 else texts)

    def _uuid(self, value: uuid.UUID) -> str:
        if not self._masked:
            return f"<uuid {value}>"
        return "<uuid>" if self._sorting else f"<uuid {self._uuids.setdefault(value, len(self._uuids) + 1)}>"

    def _members(self, values: Iterable[Any], place: str) -> list[str]:
        """Return what is in a set. Where only an order is wanted each is told once: sets may stand in sets."""
        if self._sorting:
            return sorted(map(self.text, values))
        return [self.text(item, place) for item in self._sorted(values)]

    def _sorted(self, values: Iterable[Any]) -> list[Any]:
        """Return values in the order of their texts; ids are numbered afterwards, since a set has no order."""
        self._sorting += 1
        try:
            return sorted(values, key=self.text)
        finally:
            self._sorting -= 1

    def _fields(self, value: Any, names: Iterable[str], place: str) -> str:
        given = ((name, getattr(value, name, _UNSET)) for name in names)
        parts = [f"{name}={self.text(it, _inside(place, name))}" for name, it in given if it is not _UNSET]
        return f"{type_name(value.__class__)}({', '.join(parts)})"

    def _stable(self, text: str) -> str:
        bare = _ADDRESS.sub("", text)
        return bare.replace(_here(), "") if self._masked else bare

    def shortened(self, text: str) -> str:
        """Return a text as it is, or, of a long one, the beginning with its length and a mark."""
        if len(text) <= self._longest:
            return text
        mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        return f"{text[: self._longest]}... ({len(text)} characters, {mark})"


def _is_idle(value: Any, entry: dataclasses.Field[Any]) -> bool:
    return "told_if_any" in entry.metadata and getattr(value, entry.name, _UNSET) in ("", ())


def _here() -> str:
    try:
        return f"{os.getcwd()}{os.sep}"
    except OSError:  # the current folder is gone, and nothing is named from it on
        return "\0"  # stands in no path


def _inside(place: str, name: object) -> str:
    return f"{place}.{name}" if place else ""


def _quoted(text: str) -> str:
    inner = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped(inner)}"'


def escaped(text: str) -> str:
    """Return the text with control characters, and everything that ends a line, written as escapes."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
