"""Snapshots: copies that share nothing that can be changed.

Lists, dicts, sets, tuples, deques, byte arrays, pydantic models and dataclasses are copied, however they are
nested, keys and members included. A frozen one in which nothing can change is shared, and so is every other
object, taken as immutable.
"""

from __future__ import annotations

import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import pathlib
import re
import uuid
from collections import deque
from collections.abc import Iterable
from functools import lru_cache
from operator import is_
from typing import Any, Final

from pydantic import BaseModel

from .log import Log

__all__ = ["ATOMS", "attribute_names", "has_fields", "snapshot"]

ATOMS: Final = frozenset(
    {
        type(None), bool, int, float, complex, str, bytes, type,
        datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone,
        decimal.Decimal, fractions.Fraction, uuid.UUID, re.Pattern,
        pathlib.PurePath, pathlib.PurePosixPath, pathlib.PureWindowsPath,
        pathlib.Path, pathlib.PosixPath, pathlib.WindowsPath,
    }
)  # fmt: skip
"""Types whose values cannot change."""


def snapshot(value: Any) -> Any:
    """Return a copy of `value` that shares nothing mutable with it; `value` itself where nothing can change."""
    return value if type(value) in ATOMS else _copy(value, {})


def _copy(value: Any, seen: dict[int, Any]) -> Any:
    kind = type(value)
    if kind in ATOMS or issubclass(kind, enum.Enum):
        return value
    if (known := seen.get(id(value), seen)) is not seen:
        return known
    if issubclass(kind, Log):
        return value.draft()
    if issubclass(kind, list | deque):
        return _copy_list(value, seen)
    if issubclass(kind, dict):
        return _copy_dict(value, seen)
    if issubclass(kind, set | frozenset | tuple):
        return _copy_members(value, seen)
    if issubclass(kind, bytearray):
        return _shallow(value, seen)
    if issubclass(kind, BaseModel):
        return _copy_model(value, seen)
    if has_fields(kind):
        return _copy_dataclass(value, seen)
    return value


def _shallow(value: Any, seen: dict[int, Any]) -> Any:
    """Return a copy of a container that holds the same items, with attributes of its own."""
    seen[id(value)] = fresh = copy.copy(value)
    _copy_attributes(value, fresh, seen)
    return fresh


def _copy_attributes(value: Any, fresh: Any, seen: dict[int, Any]) -> None:
    for name, item in getattr(value, "__dict__", {}).items():
        fresh.__dict__[name] = _copy(item, seen)


def _copy_list(value: Any, seen: dict[int, Any]) -> Any:
    if ATOMS.issuperset(map(type, value)):
        return _shallow(value, seen)
    if type(value) is list:
        fresh: Any = []
        seen[id(value)] = fresh
        fresh.extend(item if type(item) in ATOMS else _copy(item, seen) for item in value)
        return fresh
    fresh = _shallow(value, seen)
    for index, item in enumerate(value):
        fresh[index] = _copy(item, seen)
    return fresh


def _copy_dict(value: Any, seen: dict[int, Any]) -> Any:
    fresh = _shallow(value, seen)
    keys = list(value) if ATOMS.issuperset(map(type, value)) else [_copy(key, seen) for key in value]
    if not all(map(is_, keys, value)):
        fresh.clear()
    elif ATOMS.issuperset(map(type, value.values())):
        return fresh
    for key, item in zip(keys, value.values(), strict=True):
        fresh[key] = item if type(item) in ATOMS else _copy(item, seen)
    return fresh


def _copy_members(value: Any, seen: dict[int, Any]) -> Any:
    """Copy a set, tuple or frozen set. The last two are shared where no member can change."""
    kind = type(value)
    items = value if ATOMS.issuperset(map(type, value)) else [_copy(item, seen) for item in value]
    if (known := seen.get(id(value), seen)) is not seen:  # a member led back here
        return known
    unchanged = all(map(is_, items, value))
    if issubclass(kind, set):
        fresh = _shallow(value, seen)
        if not unchanged:
            fresh.clear()
            fresh.update(items)
        return fresh
    if unchanged and not getattr(value, "__dict__", None):
        return value
    base: Any = tuple if issubclass(kind, tuple) else frozenset
    seen[id(value)] = fresh = base.__new__(kind, items)
    _copy_attributes(value, fresh, seen)
    return fresh


def _copy_model(value: BaseModel, seen: dict[int, Any]) -> BaseModel:
    kind = value.__class__
    private, extra = value.__pydantic_private__, value.__pydantic_extra__
    seen[id(value)] = fresh = object.__new__(kind)
    fields = {name: item if type(item) in ATOMS else _copy(item, seen) for name, item in value.__dict__.items()}
    shared = bool(kind.model_config.get("frozen")) and type(value) is kind and not private and not extra
    if shared and all(fields[name] is item for name, item in value.__dict__.items()):
        seen[id(value)] = value
        return value
    object.__setattr__(fresh, "__dict__", fields)
    object.__setattr__(fresh, "__pydantic_fields_set__", set(value.__pydantic_fields_set__))
    object.__setattr__(fresh, "__pydantic_extra__", None if extra is None else _copy(extra, seen))
    object.__setattr__(fresh, "__pydantic_private__", None if private is None else _copy(private, seen))
    return fresh


def _copy_dataclass(value: Any, seen: dict[int, Any]) -> Any:
    kind = value.__class__
    seen[id(value)] = fresh = object.__new__(kind)
    # A class beneath a frozen dataclass that is none itself can be given new attributes.
    shared = kind.__dataclass_params__.frozen and "__dataclass_params__" in vars(kind) and type(value) is kind
    for name in attribute_names(value):
        item = getattr(value, name, seen)
        if item is not seen:
            copied = item if type(item) in ATOMS else _copy(item, seen)
            shared = shared and copied is item
            object.__setattr__(fresh, name, copied)
    if shared:
        seen[id(value)] = value
        return value
    return fresh


def has_fields(kind: type) -> bool:
    """Return whether values of a class are copied field by field. Exceptions are not: they are shared."""
    return dataclasses.is_dataclass(kind) and not issubclass(kind, BaseException)


def attribute_names(value: Any) -> Iterable[str]:
    """Return the names of the fields of a dataclass, and of what else was set on it."""
    names = _field_names(value.__class__)
    held = getattr(value, "__dict__", None)
    return names if not held or held.keys() <= names.keys() else {**names, **dict.fromkeys(held)}


@lru_cache(maxsize=512)
def _field_names(cls: Any) -> dict[str, None]:
    return {entry.name: None for entry in dataclasses.fields(cls)}
