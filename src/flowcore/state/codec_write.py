"""The writer: a value as a tree of what JSON holds, with a tag for everything else."""

from __future__ import annotations

import enum
import json
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from types import MemberDescriptorType
from typing import Any, Final

from pydantic import BaseModel

from ..types import type_name
from .codec_atoms import ATOM_WRITERS, PLAIN, plain_atom
from .codec_classes import Classes, Unstorable, field_names, is_named_tuple, why_refused
from .log import Log
from .secret import redacted_fields
from .snapshot import has_fields, snapshot

__all__ = ["FACTORIES", "Writer", "dumps"]


def _made_once() -> Callable[[Any], str]:
    """Return the encoder with its part in C made once: its own `encode` makes that anew for each text."""
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False)
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return encoder.encode
    strings = json.encoder.encode_basestring
    chunks = make(None, encoder.default, strings, None, ":", ",", False, False, False)
    return lambda tree: "".join(chunks(tree, 0))


dumps: Final = _made_once()
"""Return a tree as compact JSON. Raises ValueError for a number that JSON has not."""

FACTORIES: Final[dict[str, type]] = {
    kind.__name__: kind for kind in (list, dict, set, int, float, str, bool, tuple, bytes, frozenset)
}
"""What a `defaultdict` may make its values with."""
_SECRETS = ("SecretStr", "SecretBytes")
"""Types of pydantic, told by their names: to load them takes longer than all the rest."""
_LONGEST_KEY = 60
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

    def _tagged(self, value: Any, kind: Any) -> Any:
        atom = ATOM_WRITERS.get(kind)
        if atom is not None:
            return self._atom(value, *atom)
        write = _WRITERS.get(kind)
        if write is not None:
            return write(self, value)
        if isinstance(getattr(kind, "__flowcore_base__", None), MemberDescriptorType):  # a draft
            return self._tagged(snapshot(value), value.__class__)
        if issubclass(kind, enum.Enum):
            return self._enum(value, kind)
        if issubclass(kind, BaseModel):
            return self._model(value, kind)
        if has_fields(kind):
            return self._dataclass(value, kind)
        if is_named_tuple(kind):
            return self._named(value, kind)
        if any(base.__name__ == "_SecretBase" and base.__module__ == "pydantic.types" for base in kind.__mro__):
            return self._redacted(value)
        if isinstance(value, type):
            return self._class(value, kind)
        raise Unstorable(kind, why_refused(kind) or "")

    def _atom(self, value: Any, tag: str, told: Callable[[Any], Any]) -> Any:
        try:
            payload = told(value)
        except ValueError as error:
            raise Unstorable(type(value), f"it is {error}") from None
        if type(payload) is str and not self._careful:
            return {tag: payload}
        depth = len(self._parts)
        try:
            return {tag: self.value(payload)}
        except Unstorable:
            del self._parts[depth:]  # what an atom is told in has no place of its own
            raise

    def _dict(self, value: dict[Any, Any]) -> Any:
        if not all(type(key) is str for key in value) or (len(value) == 1 and next(iter(value))[:1] == "$"):
            return {"$dict": self._pairs(value)}
        if not self._careful:
            if PLAIN.issuperset(map(type, value.values())):
                return value
        elif any(type(plain_atom(key)) is not str for key in value):
            return {"$dict": self._pairs(value)}
        return {key: self._child(_key_part(key), item) for key, item in value.items()}

    def _pairs(self, value: Mapping[Any, Any]) -> list[Any]:
        return [[self._child("[a key]", key), self._child(_key_part(key), item)] for key, item in value.items()]

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

    def _class(self, value: type[Any], kind: type) -> Any:
        try:
            return {"$class": self._classes.name_of(value)}
        except Unstorable:
            reason = f"no annotation of the flow leads to the class {type_name(value)}"
            raise Unstorable(kind, reason) from None

    def _enum(self, value: Any, kind: Any) -> Any:
        name = self._classes.name_of(kind)
        if kind._member_map_.get(value._name_) is value:
            return {"$enum": [name, value._name_]}
        return {"$flag": [name, self.value(value._value_)]}

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
        return {"$model": [name, self._whole(self.fields(fields, secret)), *_trimmed(rest)]}

    def _dataclass(self, value: Any, kind: Any) -> Any:
        refused = why_refused(kind)
        if refused is not None:
            raise Unstorable(kind, refused)
        name, known, secret = self._classes.name_of(kind), field_names(kind), redacted_fields(kind)
        absent = object()
        held = [(name, item) for name in known if (item := getattr(value, name, absent)) is not absent]
        others = {
            name: item
            for name, item in getattr(value, "__dict__", {}).items()
            if name not in known and not isinstance(getattr(kind, name, None), cached_property)
        }
        missing = sorted(set(known) - dict(held).keys()) if len(held) < len(known) else None
        rest = [self._whole(self.fields(others.items(), secret)) if others else None, missing]
        return {"$data": [name, self._whole(self.fields(held, secret)), *_trimmed(rest)]}

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
        known = kind in (str, bytes) or (kind.__name__ in _SECRETS and kind.__module__ == "pydantic.types")
        return {"$secret": kind.__name__ if known else ""}


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


def _trimmed(rest: list[Any]) -> list[Any]:
    """Return what is told beside the fields, without what is not there at the end."""
    while rest and rest[-1] is None:
        rest.pop()
    return rest


def _key_part(key: Any) -> str:
    """Return the place of what stands under a key."""
    if type(key) is str:
        return f"[{key!r}]" if len(key) <= _LONGEST_KEY else f"[{key[:_LONGEST_KEY]!r}…]"
    short = type(key) in PLAIN and not (type(key) is int and key.bit_length() > _LONGEST_KEY)
    return f"[{key!r}]" if short else f"[a {type(key).__name__}]"
