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
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from .errors import Failure
from .state import Log
from .types import type_name

__all__ = ["ValuePrinter", "escaped"]

_BREAKS = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""Everything that ends a line."""
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""What a terminal obeys, and everything that ends a line."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class ValuePrinter:
    """Prints values on one line each, sorted, at most `longest` characters of a text.

    Masked, it prints the same in every run: rounded, without times, and with numbers in place of ids.
    """

    def __init__(self, *, masked: bool = True, longest: int = 200) -> None:
        self._masked = masked
        self._longest = longest
        self._uuids: dict[uuid.UUID, int] = {}
        self._open: set[int] = set()

    def failure(self, failure: Failure) -> str:
        """Return a failure as one line."""
        message = self._shortened(escaped(self._stable(_BREAKS.sub(" ", failure.message))))
        return f"{failure.type}: {message}" if message else failure.type

    def text(self, value: Any) -> str:
        """Return a value as one line."""
        if isinstance(value, str):
            return self._shortened(_quoted(self._stable(value)))
        if isinstance(value, enum.Enum):
            return f"{type(value).__name__}.{value.name}"
        if isinstance(value, float):
            return f"{value:.6g}" if self._masked else repr(value)
        if isinstance(value, uuid.UUID):
            return f"<uuid {self._uuids.setdefault(value, len(self._uuids) + 1) if self._masked else value}>"
        if isinstance(value, datetime.date | datetime.time | datetime.timedelta):
            return f"<{type(value).__name__}>" if self._masked else f"<{value}>"
        if isinstance(value, pathlib.PurePath):
            return _quoted(self._stable(str(value)))
        if id(value) in self._open:  # it holds itself
            return "<...>"
        self._open.add(id(value))
        try:
            return self._nested(value)
        finally:
            self._open.discard(id(value))

    def _nested(self, value: Any) -> str:
        if isinstance(value, BaseModel):
            return self._fields(
                value.__class__, {name: getattr(value, name) for name in value.__class__.model_fields}
            )
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = [entry.name for entry in dataclasses.fields(value)]
            return self._fields(value.__class__, {name: getattr(value, name) for name in names})
        if isinstance(value, Log):
            return f"Log({self.text(list(value))})"
        if isinstance(value, Mapping):
            pairs = sorted((self.text(key), self.text(item)) for key, item in value.items())
            return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
        if isinstance(value, set | frozenset):
            return "{" + ", ".join(sorted(map(self.text, value))) + "}"
        if isinstance(value, list | tuple):
            inner = ", ".join(map(self.text, value))
            return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
        try:
            shown = repr(value)
        except Exception:  # a value that cannot be shown must not hide the rest
            shown = f"<{type_name(type(value))}>"
        return self._shortened(escaped(self._stable(_BREAKS.sub(" ", shown))))

    def _fields(self, cls: type, values: Mapping[str, Any]) -> str:
        return f"{type_name(cls)}({', '.join(f'{name}={self.text(value)}' for name, value in values.items())})"

    def _stable(self, text: str) -> str:
        bare = _ADDRESS.sub("", text)
        return bare.replace(f"{os.getcwd()}{os.sep}", "") if self._masked else bare

    def _shortened(self, text: str) -> str:
        if len(text) <= self._longest:
            return text
        mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        return f"{text[: self._longest]}... ({len(text)} characters, {mark})"


def _quoted(text: str) -> str:
    inner = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped(inner)}"'


def escaped(text: str) -> str:
    """Return the text with control characters, and everything that ends a line, written as escapes."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
