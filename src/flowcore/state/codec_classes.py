"""The classes that stored values may be of: those that a flow's annotations lead to, and those already loaded."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import sys
import types
import typing
from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, get_args, get_origin

from pydantic import BaseModel

from .log import Log
from .secret import annotations_of

__all__ = ["Classes", "Unstorable", "field_names", "is_named_tuple", "storable", "why_refused"]

_BUILT_IN: Final = (str, int, float, complex, bytes, bytearray, list, tuple, dict, set, frozenset, deque, Log)


class Unstorable(Exception):
    """Raised inside the codec for a value that cannot be written; `reason` says why, if it is worth saying."""

    def __init__(self, kind: type, reason: str = "") -> None:
        self.kind = kind
        self.reason = reason
        super().__init__(kind, reason)


def is_named_tuple(cls: type[Any]) -> bool:
    """Return whether a class was made by `NamedTuple` or `namedtuple`, or stands below one that was."""
    return issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


def storable(cls: type[Any]) -> bool:
    """Return whether values of a class are stored by their fields or their name."""
    return (
        issubclass(cls, BaseModel | enum.Enum)
        or (dataclasses.is_dataclass(cls) and not issubclass(cls, BaseException))
        or is_named_tuple(cls)
    )


class Classes:
    """Finds classes by the names that are stored for them, and imports nothing to do so."""

    def __init__(self, hints: tuple[Any, ...]) -> None:
        try:
            self._reachable = _reachable(hints)
        except TypeError:  # an annotation that cannot be hashed
            self._reachable = _reachable.__wrapped__(hints)
        self._names: dict[type[Any], str] = {}

    def name_of(self, cls: type[Any]) -> str:
        """Return the name under which a class is found again. Raises `Unstorable` if it would not be."""
        known = self._names.get(cls)
        if known is not None:
            return known
        name = _name(cls)
        found = self.find(name)
        if found is cls:
            self._names[cls] = name
            return name
        if found is not None:
            raise Unstorable(cls, "two classes have its name: rename one of them")
        if "<locals>" in name or "[" in name:
            raise Unstorable(
                cls, "no annotation of the flow leads to its class: name it in one, or define it in a module"
            )
        raise Unstorable(cls, "" if not storable(cls) else "its class is not found in its module under its name")

    def find(self, name: str) -> type[Any] | None:
        """Return the class that has a name, or None if there is none today."""
        return self._reachable.get(name) or _loaded(name)


def _name(cls: type[Any]) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


def _loaded(name: str) -> type[Any] | None:
    """Look a class up in the modules that are loaded, by their dicts: nothing of theirs is called."""
    module, _, path = name.partition(":")
    place: Any = sys.modules.get(module)
    for part in (path,) if "[" in path else path.split("."):
        place = getattr(place, "__dict__", {}).get(part)
    return place if isinstance(place, type) and storable(place) else None


@lru_cache(maxsize=256)
def _reachable(hints: tuple[Any, ...]) -> dict[str, type[Any]]:
    found: dict[str, type[Any]] = {}
    seen: dict[Any, Any] = {}  # with the annotations themselves: what is let go may leave its id to another
    waiting = list(hints)
    for hint in waiting:  # which grows on the way
        key = hint if isinstance(hint, type) else id(hint)
        if key in seen:
            continue
        seen[key] = hint
        if isinstance(hint, type) and (storable(hint) or not get_args(hint)):
            found.setdefault(_name(hint), hint)
        waiting.extend(_next(hint))
    return found


def _next(hint: Any) -> Iterator[Any]:
    """Yield what an annotation or a class leads to."""
    origin = get_origin(hint)
    if origin is Annotated:
        yield get_args(hint)[0]
    elif origin is Literal:
        yield from (type(value) for value in get_args(hint))
    elif type(hint).__name__ == "TypeAliasType":
        yield hint.__value__
    elif hasattr(hint, "__supertype__"):
        yield hint.__supertype__
    elif type(hint).__name__ == "TypeVar":
        yield from (*hint.__constraints__, *([hint.__bound__] if hint.__bound__ is not None else []))
    else:
        yield from _flat(get_args(hint))
        if origin is not None:
            yield origin
        elif isinstance(hint, type):
            yield from _held(hint)


def _flat(arguments: Iterable[Any]) -> Iterator[Any]:
    for argument in arguments:
        if isinstance(argument, list):
            yield from argument
        else:
            yield argument


def _held(cls: type[Any]) -> Iterator[Any]:
    """Yield the types of what instances of a class hold."""
    if cls is BaseModel:
        return
    if issubclass(cls, BaseModel):
        generic = cls.__pydantic_generic_metadata__
        yield from (generic["args"] if generic["origin"] else ())
        yield from (entry.annotation for entry in cls.model_fields.values())
    if (
        dataclasses.is_dataclass(cls)
        or issubclass(cls, BaseModel)
        or is_named_tuple(cls)
        or typing.is_typeddict(cls)
    ):
        yield from annotations_of(cls).values()
    yield from getattr(cls, "__orig_bases__", ())


@lru_cache(maxsize=1024)
def why_refused(cls: Any) -> str | None:
    """Return why values of a class cannot be stored by their fields, or None if they can; "" says no more."""
    for base in _BUILT_IN:
        if issubclass(cls, base):
            return f"it would come back as a plain {base.__name__}: store that, or a model that holds it"
    if not storable(cls):
        return ""
    try:
        object.__new__(cls)
    except TypeError:
        return "it stands on a class that is made in a way of its own"
    computed = _properties(cls) if dataclasses.is_dataclass(cls) else []
    return f"its field {computed[0]} is a property" if computed else None


def _properties(cls: Any) -> list[str]:
    """Return the fields whose values are held by code."""
    found = {name: inspect.getattr_static(cls, name, None) for name in field_names(cls)}
    return [
        name
        for name, held in found.items()
        if hasattr(type(held), "__set__") and not isinstance(held, types.MemberDescriptorType)
    ]


@lru_cache(maxsize=1024)
def field_names(cls: Any) -> tuple[str, ...]:
    """Return the names of what a dataclass holds: its fields, and the slots of its bases."""
    slots = [name for base in cls.__mro__ for name in _slots(base)]
    return tuple(dict.fromkeys((*(entry.name for entry in dataclasses.fields(cls)), *slots)))


def _slots(base: type) -> Iterator[str]:
    """Yield the names of the slots of a class, as its instances have them."""
    for name, found in vars(base).items():
        if isinstance(found, types.MemberDescriptorType):
            yield name
