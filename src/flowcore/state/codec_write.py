"""The writer: a value as a tree of what JSON holds, with a tag for everything else."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any, Final

from pydantic import BaseModel, SecretBytes, SecretStr
from pydantic import Secret as PydanticSecret

from .codec_atoms import ATOM_WRITERS, PLAIN, plain_atom
from .codec_classes import Classes, Unstorable, is_named_tuple, storable
from .log import Log
from .secret import redacted_fields
from .snapshot import attribute_names, has_fields

__all__ = ["FACTORIES", "Writer", "dumps", "field_names"]

dumps: Final[Callable[[Any], str]] = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False
).encode
"""Return a tree as compact JSON. Raises ValueError for a number that JSON has not."""

FACTORIES: Final[dict[str, type]] = {
    kind.__name__: kind for kind in (list, dict, set, int, float, str, bool, tuple, bytes, frozenset)
}
"""What a `defaultdict` may make its values with."""
_BUILT_IN: Final = (str, int, float, complex, bytes, bytearray, list, tuple, dict, set, frozenset, deque, Log)
_DEEPEST = 100
"""How many values may stand one inside the other: the stack has an end, here and where they are read."""


class Writer:
    """Makes trees of values. Raises `Unstorable` for what cannot be stored; `place` then says where that is.

    A careful one looks at each text and number too; one that is not leaves that to what makes JSON of its tree.
    """

    __slots__ = ("_careful", "_classes", "_open", "_parts")

    def __init__(self, classes: Classes, *, careful: bool) -> None:
        self._classes = classes
        self._careful = careful
        self._open: set[int] = set()
        self._parts: list[int | str] = []

    @property
    def place(self) -> str:
        """Where the value stands that is being written, from the outermost value on."""
        return "".join(f"[{part}]" if isinstance(part, int) else part for part in self._parts)

    def value(self, value: Any) -> Any:
        """Return the tree of a value."""
        kind = type(value)
        if kind in PLAIN:
            return plain_atom(value) if self._careful else value
        key = id(value)
        if key in self._open:
            raise Unstorable(kind, "it holds itself")
        if len(self._open) >= _DEEPEST:
            raise Unstorable(kind, f"more than {_DEEPEST} values stand one inside the other")
        self._open.add(key)
        tree = self._tagged(value, kind)
        self._open.discard(key)
        return tree

    def fields(self, items: Iterable[tuple[str, Any]], secret: frozenset[str]) -> dict[str, Any]:
        """Return the trees of fields by name. Of the secret ones nothing is kept."""
        return {
            name: self._redacted(value) if name in secret and value is not None else self._child(f".{name}", value)
            for name, value in items
        }

    def items(self, values: Iterable[Any]) -> list[Any]:
        """Return the trees of several values."""
        listed = values if isinstance(values, list) else list(values)
        if not self._careful and PLAIN.issuperset(map(type, listed)):
            return listed
        return [self._child(index, item) for index, item in enumerate(listed)]

    def appended(self, name: str, items: list[Any]) -> list[Any]:
        """Return the trees of what was appended to the log in a field."""
        self._parts.append(f".{name}")
        trees = self.items(items)
        self._parts.pop()
        return trees

    def _child(self, part: int | str, value: Any) -> Any:
        if type(value) in PLAIN and not self._careful:
            return value
        self._parts.append(part)
        tree = self.value(value)
        self._parts.pop()  # not in a finally: where something is refused, the parts say where
        return tree

    def _tagged(self, value: Any, kind: type) -> Any:
        atom = ATOM_WRITERS.get(kind)
        if atom is not None:
            return self._atom(value, *atom)
        write = _WRITERS.get(kind)
        if write is not None:
            return write(self, value)
        if issubclass(kind, enum.Enum):
            return self._enum(value, kind)
        if issubclass(kind, BaseModel):
            return self._model(value, kind)
        if has_fields(kind):
            return self._dataclass(value, kind)
        if is_named_tuple(kind):
            return self._named(value, kind)
        if issubclass(kind, PydanticSecret | SecretStr | SecretBytes):
            return self._redacted(value)
        if isinstance(value, type):
            return {"$class": self._classes.name_of(value)}
        raise Unstorable(kind, _lost(kind))

    def _atom(self, value: Any, tag: str, told: Callable[[Any], Any]) -> Any:
        try:
            payload = told(value)
        except ValueError as error:
            raise Unstorable(type(value), f"it is {error}") from None
        return {tag: payload if type(payload) is str and not self._careful else self.value(payload)}

    def _dict(self, value: dict[Any, Any]) -> Any:
        if not all(type(key) is str for key in value) or (len(value) == 1 and next(iter(value))[:1] == "$"):
            return {"$dict": self._pairs(value)}
        if not self._careful:
            if PLAIN.issuperset(map(type, value.values())):
                return value
        elif any(type(plain_atom(key)) is not str for key in value):
            return {"$dict": self._pairs(value)}
        return {key: self._child(f"[{key!r}]", item) for key, item in value.items()}

    def _pairs(self, value: Mapping[Any, Any]) -> list[Any]:
        return [
            [self._child("[a key]", key), self._child(f"[{key!r}]" if type(key) in PLAIN else "[…]", item)]
            for key, item in value.items()
        ]

    def _set(self, value: Iterable[Any]) -> list[Any]:
        """Return the members in an order that depends on nothing but themselves."""
        return sorted((self._child("[a member]", item) for item in value), key=dumps)

    def _defaultdict(self, value: defaultdict[Any, Any]) -> Any:
        factory: Any = value.default_factory
        name = getattr(factory, "__name__", None)
        if factory is not None and FACTORIES.get(name or "") is not factory:
            raise Unstorable(type(value), "what makes its values is code")
        return {"$defaultdict": [name, self._pairs(value)]}

    def _deque(self, value: deque[Any]) -> Any:
        return {"$deque": [self.items(value), *([] if value.maxlen is None else [value.maxlen])]}

    def _enum(self, value: Any, kind: Any) -> Any:
        name = self._classes.name_of(kind)
        if kind.__members__.get(value.name) is value:
            return {"$enum": [name, value.name]}
        return {"$flag": [name, self.value(value.value)]}

    def _model(self, value: BaseModel, kind: Any) -> Any:
        name, secret = self._classes.name_of(kind), redacted_fields(kind)
        held, extra, private = value.__dict__, value.__pydantic_extra__, value.__pydantic_private__
        fields = [(name, held[name]) for name in kind.model_fields if name in held]
        given: Any = value.__pydantic_fields_set__
        usual = {*(name for name, _ in fields), *(extra or ())}
        rest = [
            None if given == usual else sorted(given),
            None if extra is None else self._whole(self.fields(extra.items(), secret)),
            None if private is None else self._whole(self.fields(private.items(), secret)),
            sorted(kind.model_fields.keys() - held.keys()) or None,
        ]
        while rest and rest[-1] is None:
            rest.pop()
        return {"$model": [name, self._whole(self.fields(fields, secret)), *rest]}

    def _dataclass(self, value: Any, kind: Any) -> Any:
        name, known = self._classes.name_of(kind), field_names(kind)
        if not _is_bare(kind):
            raise Unstorable(kind, _lost(kind))
        names = dict.fromkeys((*known, *attribute_names(value)))
        absent = object()
        fields = [
            (name, item)
            for name in names
            if (item := getattr(value, name, absent)) is not absent
            and not isinstance(getattr(kind, name, None), cached_property)
        ]
        missing = [name for name in known if getattr(value, name, absent) is absent]
        tree = self._whole(self.fields(fields, redacted_fields(kind)))
        return {"$data": [name, tree, *([missing] if missing else [])]}

    def _named(self, value: Any, kind: Any) -> Any:
        name = self._classes.name_of(kind)
        if getattr(value, "__dict__", None):
            raise Unstorable(kind, "it has attributes beside its fields")
        fields = zip(kind._fields, value, strict=True)
        return {"$named": [name, self._whole(self.fields(fields, redacted_fields(kind)))]}

    def _whole(self, fields: dict[str, Any]) -> Any:
        """Return fields so that they are never taken for a tag."""
        if len(fields) == 1 and next(iter(fields))[:1] == "$":
            return {"$dict": [list(item) for item in fields.items()]}
        if self._careful and any(type(plain_atom(name)) is not str for name in fields):
            return {"$dict": [[plain_atom(name), tree] for name, tree in fields.items()]}
        return fields

    def _redacted(self, value: Any) -> Any:
        kind = type(value)
        return {"$secret": kind.__name__ if kind in (str, bytes, SecretStr, SecretBytes) else ""}


_WRITERS: Final[dict[type, Callable[[Writer, Any], Any]]] = {
    list: Writer.items,
    dict: Writer._dict,
    tuple: lambda writer, value: {"$tuple": writer.items(value)},
    set: lambda writer, value: {"$set": writer._set(value)},
    frozenset: lambda writer, value: {"$frozenset": writer._set(value)},
    Log: lambda writer, value: {"$log": writer.items(value)},
    deque: Writer._deque,
    OrderedDict: lambda writer, value: {"$ordered": writer._pairs(value)},
    Counter: lambda writer, value: {"$counter": writer._pairs(value)},
    defaultdict: Writer._defaultdict,
}


def _lost(kind: type) -> str:
    """Return why a class is refused that only adds to one which could be stored."""
    for base in _BUILT_IN:
        if issubclass(kind, base):
            return f"it would come back as a plain {base.__name__}: store that, or a model that holds it"
    return ""


@lru_cache(maxsize=1024)
def field_names(cls: Any) -> tuple[str, ...]:
    """Return the names of what a dataclass holds: its fields, and the slots of its bases."""
    slots = [name for base in cls.__mro__ for name in _slots(base)]
    return tuple(dict.fromkeys((*(entry.name for entry in dataclasses.fields(cls)), *slots)))


def _slots(base: type) -> Iterable[str]:
    declared: Any = vars(base).get("__slots__", ())
    names = (declared,) if isinstance(declared, str) else tuple(declared)
    return (name for name in names if not name.startswith("__"))


@lru_cache(maxsize=1024)
def _is_bare(cls: type[Any]) -> bool:
    """Return whether an instance holds nothing but its attributes: it stands on no built-in container."""
    try:
        object.__new__(cls)
    except TypeError:
        return False
    return storable(cls)
