"""Snapshots: copies that share nothing that can be changed, and the comparison that goes with them.

Lists, dicts, sets, tuples, deques, byte arrays, pydantic models and dataclasses are copied, however they are
nested. Every other object is taken as immutable and shared.
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
from typing import Any, Final

from pydantic import BaseModel

__all__ = ["ATOMS", "same", "snapshot"]

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
    if issubclass(kind, list | deque):
        return _copy_list(value, seen)
    if issubclass(kind, dict):
        return _copy_dict(value, seen)
    if issubclass(kind, set | bytearray):
        seen[id(value)] = fresh = copy.copy(value)
        return fresh
    if issubclass(kind, tuple):
        return _copy_tuple(value, seen)
    if issubclass(kind, BaseModel):
        return _copy_model(value, seen)
    if dataclasses.is_dataclass(kind):
        return _copy_dataclass(value, seen)
    return value


def _copy_list(value: Any, seen: dict[int, Any]) -> Any:
    fresh = [] if type(value) is list else copy.copy(value)
    seen[id(value)] = fresh
    if type(value) is list:
        fresh.extend(item if type(item) in ATOMS else _copy(item, seen) for item in value)
        return fresh
    for index, item in enumerate(value):
        fresh[index] = _copy(item, seen)
    return fresh


def _copy_dict(value: Any, seen: dict[int, Any]) -> Any:
    fresh = {} if type(value) is dict else copy.copy(value)
    seen[id(value)] = fresh
    for key, item in value.items():
        fresh[key] = item if type(item) in ATOMS else _copy(item, seen)
    return fresh


def _copy_tuple(value: Any, seen: dict[int, Any]) -> Any:
    items = [_copy(item, seen) for item in value]
    if all(new is old for new, old in zip(items, value, strict=True)):
        return value
    return tuple(items) if type(value) is tuple else type(value)._make(items)


def _copy_model(value: BaseModel, seen: dict[int, Any]) -> BaseModel:
    kind = value.__class__
    seen[id(value)] = fresh = kind.__new__(kind)
    private, extra = value.__pydantic_private__, value.__pydantic_extra__
    object.__setattr__(fresh, "__pydantic_fields_set__", set(value.__pydantic_fields_set__))
    object.__setattr__(fresh, "__pydantic_extra__", None if extra is None else _copy(extra, seen))
    object.__setattr__(fresh, "__pydantic_private__", None if private is None else _copy(private, seen))
    object.__setattr__(fresh, "__dict__", {name: _copy(item, seen) for name, item in value.__dict__.items()})
    return fresh


def _copy_dataclass(value: Any, seen: dict[int, Any]) -> Any:
    kind = value.__class__
    seen[id(value)] = fresh = object.__new__(kind)
    names = {entry.name for entry in dataclasses.fields(kind)} | set(getattr(value, "__dict__", ()))
    for name in names:
        if hasattr(value, name):
            object.__setattr__(fresh, name, _copy(getattr(value, name), seen))
    return fresh


def same(left: Any, right: Any) -> bool:
    """Return whether two values are equal in value and in type, all the way down."""
    if left is right:
        return True
    kind = left.__class__
    if kind is not right.__class__:
        return False
    if issubclass(kind, list | tuple | deque):
        return len(left) == len(right) and all(map(same, left, right))
    if issubclass(kind, dict):
        return _same_dict(left, right)
    if issubclass(kind, BaseModel):
        return (
            _same_dict(left.__dict__, right.__dict__)
            and left.__pydantic_private__ == right.__pydantic_private__
            and left.__pydantic_extra__ == right.__pydantic_extra__
        )
    if dataclasses.is_dataclass(kind):
        return all(
            same(getattr(left, entry.name, None), getattr(right, entry.name, None))
            for entry in dataclasses.fields(kind)
        )
    return _equal(left, right)


def _same_dict(left: dict[Any, Any], right: dict[Any, Any]) -> bool:
    return list(left) == list(right) and all(same(left[key], right[key]) for key in left)


def _equal(left: Any, right: Any) -> bool:
    try:
        return bool(left == right)
    except Exception:  # an object whose == raises or answers with an array is not known to be equal
        return False
