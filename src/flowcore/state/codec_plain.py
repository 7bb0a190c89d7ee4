"""The plain reader: stored fields as plain data, for code that turns what was stored into what there is today.

Values of classes become dicts of their fields, members of enums their names. No class is looked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from ..errors import StoreError
from .codec_classes import Classes
from .codec_read import Reader, Unreadable

__all__ = ["plain_fields"]


class _PlainReader(Reader):
    """Reads as `Reader` does, and gives plain data for what is of a class."""

    __slots__ = ()

    def __call__(self, found: dict[str, Any]) -> Any:
        """Return what an object of JSON stands for, as plain data."""
        if len(found) == 1:
            ((tag, told),) = found.items()
            plain = _PLAIN.get(tag)
            if plain is not None:
                return plain(told)
        return super().__call__(found)


def plain_fields(text: str, where: str) -> dict[str, Any]:
    """Return stored fields by name as plain data. Raises `StoreError` for a text that holds none."""
    read = json.JSONDecoder(object_hook=_PlainReader(Classes(()))).decode
    try:
        found = read(text)
    except (Unreadable, ValueError, TypeError, KeyError, RecursionError) as error:
        raise StoreError(f"{where}: what is stored cannot be read: {error}") from None
    if type(found) is not dict or not all(type(name) is str for name in found):
        raise StoreError(f"{where}: what is stored is not the fields of a state")
    return found


def _fields(told: Any) -> Any:
    return told[1]


def _key(item: Any) -> Any:
    """Return what can be a key or the item of a set, where it was of a class."""
    if isinstance(item, dict):
        return tuple((name, _key(value)) for name, value in item.items())
    return tuple(map(_key, item)) if isinstance(item, list | tuple) else item


_PLAIN: Final[dict[str, Callable[[Any], Any]]] = {
    "$model": _fields,
    "$data": _fields,
    "$named": _fields,
    "$enum": _fields,
    "$flag": _fields,
    "$class": lambda told: told,
    "$log": list,
    "$set": lambda told: set(map(_key, told)),
    "$frozenset": lambda told: frozenset(map(_key, told)),
    "$dict": lambda told: {_key(key): item for key, item in told},
    "$ordered": lambda told: {_key(key): item for key, item in told},
    "$counter": lambda told: {_key(key): item for key, item in told},
    "$defaultdict": lambda told: {_key(key): item for key, item in told[1]},
}
