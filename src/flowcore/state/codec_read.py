"""The reader: what stands under a tag as the value that it was. It calls no code of the class that it makes."""

from __future__ import annotations

import dataclasses
import enum
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, Final

from pydantic import BaseModel

from .codec_atoms import ATOM_READERS
from .codec_classes import Classes, field_names, is_named_tuple, why_refused
from .codec_write import FACTORIES
from .log import Log

__all__ = ["Reader", "Unreadable"]

_HIDDEN = "[secret not kept]"


class Unreadable(Exception):
    """Raised inside the codec for text that is no stored value; says why."""


class Reader:
    """Turns the objects of JSON into values, the innermost first."""

    __slots__ = ("_classes",)

    def __init__(self, classes: Classes) -> None:
        self._classes = classes

    def __call__(self, found: dict[str, Any]) -> Any:
        """Return what an object of JSON stands for: itself, if it has no tag."""
        if len(found) != 1:
            return found
        ((tag, told),) = found.items()
        if tag[:1] != "$":
            return found
        atom = ATOM_READERS.get(tag)
        if atom is not None:
            return atom(told)
        read = _READERS.get(tag)
        if read is None:
            raise Unreadable(f"nothing is stored under {tag!r}")
        return read(self, told)

    def _class(self, name: Any, fits: Callable[[type[Any]], bool]) -> Any:
        found = self._classes.find(name) if type(name) is str else None
        if found is None or not fits(found):
            raise Unreadable(f"its class {name} is not there any more")
        return found

    def _enum(self, told: Any) -> Any:
        name, member = told
        cls = self._class(name, lambda cls: issubclass(cls, enum.Enum))
        if member not in cls._member_map_:
            raise Unreadable(f"{name} has no member {member} any more")
        return cls._member_map_[member]

    def _flag(self, told: Any) -> Any:
        name, value = told
        cls = self._class(name, lambda cls: issubclass(cls, enum.Flag))
        found = cls._value2member_map_.get(value) or vars(enum.Flag)["_missing_"].__func__(cls, value)
        if not isinstance(found, cls) or found._value_ != value:  # some releases of Python drop unknown bits
            raise Unreadable(f"{name} has no flags {value} any more")
        return found

    def _model(self, told: Any) -> Any:
        name, fields, given, extra, private, missing = _padded(told, 6)
        cls = self._class(name, lambda cls: issubclass(cls, BaseModel))
        _check_names(name, fields, cls.model_fields, missing)
        if private is not None and not _named_values(private).keys() <= cls.__private_attributes__.keys():
            raise Unreadable(f"{name} has not all of its private attributes any more")
        made: Any = object.__new__(cls)
        object.__setattr__(made, "__dict__", fields)
        object.__setattr__(
            made, "__pydantic_fields_set__", {*fields, *(extra or ())} if given is None else set(given)
        )
        if not cls.__pydantic_root_model__:  # which has no place of its own for these
            object.__setattr__(made, "__pydantic_extra__", None if extra is None else _named_values(extra))
            object.__setattr__(made, "__pydantic_private__", private)
        return made

    def _dataclass(self, told: Any) -> Any:
        name, fields, others, missing = _padded(told, 4)
        cls = self._class(name, lambda cls: dataclasses.is_dataclass(cls) and why_refused(cls) is None)
        _check_names(name, fields, field_names(cls), missing)
        made: Any = object.__new__(cls)
        for field, value in fields.items():
            object.__setattr__(made, field, value)
        if others is not None:
            made.__dict__.update(_named_values(others))
        return made

    def _named(self, told: Any) -> Any:
        name, fields = told
        cls = self._class(name, is_named_tuple)
        _check_names(name, fields, cls._fields, None)
        return tuple.__new__(cls, [fields[field] for field in cls._fields])

    def _a_class(self, told: Any) -> Any:
        return self._class(told, lambda cls: True)


def _check_names(name: str, fields: Any, known: Any, missing: Any) -> None:
    """Raise `Unreadable` if a class has other fields today than the stored value."""
    gone = [field for field in _named_values(fields) if field not in known]
    if gone:
        raise Unreadable(f"{name} has no field {gone[0]} any more")
    new = [field for field in known if field not in fields and field not in (missing or ())]
    if new:
        raise Unreadable(f"{name} has a field {new[0]} that it had not then")


def _padded(told: Any, length: int) -> list[Any]:
    """Return what is told of an instance, with None for what is left out at the end."""
    rest: list[Any] = [None] * (length - len(_listed(told)))
    return [*told, *rest]


def _named_values(told: Any) -> dict[str, Any]:
    if type(told) is not dict or not all(type(name) is str for name in told):
        raise Unreadable("values by name are wanted")
    return told


def _listed(told: Any) -> list[Any]:
    if type(told) is not list:
        raise Unreadable("a list is wanted")
    return told


def _pairs(told: Any) -> list[tuple[Any, Any]]:
    return [(key, item) for key, item in _listed(told)]


def _defaultdict(told: Any) -> Any:
    name, pairs = told
    return defaultdict(None if name is None else FACTORIES[name], _pairs(pairs))


def _counter(told: Any) -> Any:
    made: Counter[Any] = Counter()
    dict.update(made, _pairs(told))
    return made


def _deque(told: Any) -> Any:
    items, *longest = told
    return deque(_listed(items), *longest)


def _secret(told: Any) -> Any:
    """Return what stands in the place of a secret that was not kept."""
    if told in ("SecretStr", "SecretBytes"):
        import pydantic  # noqa: PLC0415 - its types for secrets are slow to load, and rare

        return pydantic.SecretStr(_HIDDEN) if told == "SecretStr" else pydantic.SecretBytes(_HIDDEN.encode())
    return {"": None, "str": _HIDDEN, "bytes": _HIDDEN.encode()}[told]


_READERS: Final[dict[str, Callable[[Reader, Any], Any]]] = {
    "$tuple": lambda reader, told: tuple(_listed(told)),
    "$set": lambda reader, told: set(_listed(told)),
    "$frozenset": lambda reader, told: frozenset(_listed(told)),
    "$log": lambda reader, told: Log(_listed(told)),
    "$dict": lambda reader, told: dict(_pairs(told)),
    "$ordered": lambda reader, told: OrderedDict(_pairs(told)),
    "$counter": lambda reader, told: _counter(told),
    "$defaultdict": lambda reader, told: _defaultdict(told),
    "$deque": lambda reader, told: _deque(told),
    "$enum": Reader._enum,
    "$flag": Reader._flag,
    "$model": Reader._model,
    "$data": Reader._dataclass,
    "$named": Reader._named,
    "$class": Reader._a_class,
    "$secret": lambda reader, told: _secret(told),
}
