"""Sameness: whether two values are the same, so that putting one in the place of the other changes nothing.

`==` is too generous for that: `1 == 1.0 == True`, `0.0 == -0.0`, `Decimal("1.0") == Decimal("1.00")`, 13:00 in
Paris equals 12:00 in London, and a class may say what it likes. So values are compared by type, all the way down,
and an object that is taken as immutable is the same only as itself.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import pathlib
import re
import uuid
from collections import deque
from functools import cached_property
from operator import is_
from typing import Any, Final

from pydantic import BaseModel

from .log import Log
from .snapshot import ATOMS, attribute_names, has_fields

__all__ = ["same"]

_ABSENT: Final = object()
_EQUAL: Final = frozenset(
    {
        bool,
        int,
        str,
        bytes,
        bytearray,
        datetime.date,
        datetime.timedelta,
        fractions.Fraction,
        uuid.UUID,
        re.Pattern,
    }
)
"""Types of which `==` tells everything."""
_PRINTED: Final = frozenset(
    {
        float, complex, decimal.Decimal, datetime.datetime, datetime.time, datetime.timezone,
        pathlib.PurePath, pathlib.PurePosixPath, pathlib.PureWindowsPath,
        pathlib.Path, pathlib.PosixPath, pathlib.WindowsPath,
    }
)  # fmt: skip
"""Types whose text tells more than `==`: signs of zero, exponents, zones, folds, the case of names."""

_Seen = set[tuple[int, int]]
"""The pairs that are being compared, or were: a value that holds itself comes by again."""


def same(left: Any, right: Any) -> bool:
    """Return whether two values are the same in value and in type, all the way down."""
    return left is right or _same(left, right, set())


def _same(left: Any, right: Any, seen: _Seen) -> bool:
    if left is right:
        return True
    kind = type(left)
    if kind is not type(right):
        return False
    if kind in _EQUAL:
        return bool(left == right)
    if kind in _PRINTED:
        return repr(left) == repr(right)
    if (pair := (id(left), id(right))) in seen:
        return True
    seen.add(pair)
    return _same_within(kind, left, right, seen)


def _same_within(kind: type, left: Any, right: Any, seen: _Seen) -> bool:
    if issubclass(kind, Log):
        return left.is_same_view(right) or (len(left) == len(right) and _same_items(left, right, seen))
    if issubclass(kind, list | tuple | deque):
        return len(left) == len(right) and _same_items(left, right, seen) and _same_rest(left, right, seen)
    if issubclass(kind, dict):
        return _same_dict(left, right, seen) and _same_rest(left, right, seen)
    if issubclass(kind, set | frozenset):
        return _same_set(left, right, seen) and _same_rest(left, right, seen)
    if issubclass(kind, BaseModel):
        return _same_model(left, right, seen)
    if has_fields(kind):
        return _same_dataclass(left, right, seen)
    return issubclass(kind, bytearray) and bool(left == right) and _same_rest(left, right, seen)


def _same_items(left: Any, right: Any, seen: _Seen) -> bool:
    return all(map(is_, left, right)) or all(
        one is other or _same(one, other, seen) for one, other in zip(left, right, strict=True)
    )


def _same_dict(left: dict[Any, Any], right: dict[Any, Any], seen: _Seen) -> bool:
    return len(left) == len(right) and all(
        (key is other_key or _same(key, other_key, seen)) and (item is other or _same(item, other, seen))
        for (key, item), (other_key, other) in zip(left.items(), right.items(), strict=True)
    )


def _same_set(left: Any, right: Any, seen: _Seen) -> bool:
    if len(left) != len(right):
        return False
    others = {item: item for item in right}
    unmatched = []
    for item in left:
        other = others.pop(item, _ABSENT)
        if other is not _ABSENT:
            if not _same(item, other, seen):
                return False
        elif type(item) in ATOMS:
            return False
        else:
            unmatched.append(item)
    return all(_taken(item, others, seen) for item in unmatched)


def _taken(item: Any, others: dict[Any, Any], seen: _Seen) -> bool:
    """Take the same out of `others`, where equality does not find it: members that hash by identity."""
    for other in others:
        trial = set(seen)
        if _same(item, other, trial):
            seen |= trial
            del others[other]
            return True
    return False


def _same_rest(left: Any, right: Any, seen: _Seen) -> bool:
    """Compare what containers of a class of their own hold beside their items."""
    if type(left) in (list, dict, tuple, set, frozenset):
        return True
    return (
        getattr(left, "maxlen", None) == getattr(right, "maxlen", None)
        and getattr(left, "default_factory", None) is getattr(right, "default_factory", None)
        and _same(getattr(left, "__dict__", None), getattr(right, "__dict__", None), seen)
    )


def _same_model(left: BaseModel, right: BaseModel, seen: _Seen) -> bool:
    held, other = left.__dict__, right.__dict__
    return (
        all(_same(held.get(name, _ABSENT), other.get(name, _ABSENT), seen) for name in left.__class__.model_fields)
        and left.__pydantic_fields_set__ == right.__pydantic_fields_set__
        and _same(left.__pydantic_private__, right.__pydantic_private__, seen)
        and _same(left.__pydantic_extra__, right.__pydantic_extra__, seen)
    )


def _same_dataclass(left: Any, right: Any, seen: _Seen) -> bool:
    names = dict.fromkeys((*attribute_names(left), *attribute_names(right)))
    return all(
        _same(getattr(left, name, _ABSENT), getattr(right, name, _ABSENT), seen)
        for name in names
        if not isinstance(getattr(left.__class__, name, None), cached_property)
    )
