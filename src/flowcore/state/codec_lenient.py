"""The lenient reader: for looking at what is stored where the code that made it is not at hand.

A value of a class that is not loaded, or has other fields today, becomes a plain stand-in that looks the same when
it is printed. A flow is never walked with stand-ins.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from typing import Any, Final

from .codec_classes import Classes
from .codec_read import Reader, Unreadable

__all__ = ["LenientReader"]


class _StandIn:
    """What stands for a value of a class that is not at hand: its fields, and no code of it."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(type(self).__qualname__)


class _Told(_StandIn):
    """Stands for a value of which nothing is known but how it is told."""

    def __init__(self, words: str) -> None:
        self.words = words

    def __repr__(self) -> str:
        return self.words


class LenientReader(Reader):
    """Reads as `Reader` does, and what that cannot make, a stand-in is made for."""

    __slots__ = ("_made",)

    def __init__(self, classes: Classes) -> None:
        super().__init__(classes)
        self._made: dict[tuple[str, ...], Any] = {}

    def __call__(self, found: dict[str, Any]) -> Any:
        """Return what an object of JSON stands for, or a stand-in for that."""
        try:
            return super().__call__(found)
        except Unreadable:
            ((tag, told),) = found.items()
            stand_in = _STAND_INS.get(tag)
            if stand_in is None:
                raise
            return stand_in(self, told)

    def _instance(self, told: Any) -> Any:
        name, fields, *_ = told
        kind = self._made.get((name, *fields))
        if kind is None:
            kind = self._made[name, *fields] = _class_of(name, fields)
        made = object.__new__(kind)
        vars(made).update(fields)
        return made

    def _tuple(self, told: Any) -> Any:
        _, fields = told
        return tuple(fields.values())

    def _member(self, told: Any) -> Any:
        name, member = told
        if (name, member) not in self._made:
            make: Any = enum.Enum
            self._made[name, member] = make(_short(name).rpartition(".")[2], {member: member})[member]
        return self._made[name, member]

    def _flags(self, told: Any) -> Any:
        name, value = told
        return _Told(f"{_short(name)}({value})")

    def _a_stranger(self, told: Any) -> Any:
        return _Told(f"<class '{_text(told).replace(':', '.')}'>")


def _class_of(name: Any, fields: Any) -> type[Any]:
    """Return a class of that name with these fields."""
    try:
        return dataclasses.make_dataclass(_short(name), fields, bases=(_StandIn,), eq=False, repr=False)
    except (TypeError, ValueError) as error:  # such as a field that Python could not have
        raise Unreadable(f"{name} is no class with fields {list(fields)}: {error}") from None


def _short(name: Any) -> str:
    """Return how a reader would write a class: without its module, and without the function that it stands in."""
    return _text(name).partition(":")[2].rsplit("<locals>.", 1)[-1]


def _text(told: Any) -> str:
    if type(told) is not str:
        raise Unreadable("the name of a class is wanted")
    return told


_STAND_INS: Final[dict[str, Callable[[LenientReader, Any], Any]]] = {
    "$model": LenientReader._instance,
    "$data": LenientReader._instance,
    "$named": LenientReader._tuple,
    "$enum": LenientReader._member,
    "$flag": LenientReader._flags,
    "$class": LenientReader._a_stranger,
}
