"""Immutable types: of which values nothing can be changed, as far as an annotation tells."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from .log import Log
from .snapshot import ATOMS

__all__ = ["is_immutable_type"]


def is_immutable_type(hint: Any) -> bool:
    """Return whether nothing can be changed in a value of this type, as far as its annotation tells."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return is_immutable_type(arguments[0])
    if origin is Literal or hint is None:
        return True
    if origin in (Union, types.UnionType, tuple, frozenset):
        return all(argument is Ellipsis or is_immutable_type(argument) for argument in arguments)
    cls = origin or hint
    if not isinstance(cls, type):
        return True  # a type variable or another name that says nothing
    if cls in ATOMS or issubclass(cls, enum.Enum):
        return True
    if issubclass(cls, BaseModel):
        return bool(cls.model_config.get("frozen")) and all(
            is_immutable_type(field.annotation) for field in cls.model_fields.values()
        )
    if dataclasses.is_dataclass(cls):
        return bool(getattr(cls, "__dataclass_params__").frozen) and all(  # noqa: B009
            is_immutable_type(hint) for hint in _hints(cls)
        )
    return cls not in (list, dict, set, bytearray, tuple, frozenset, Log)


def _hints(cls: type) -> list[Any]:
    try:
        resolved = typing.get_type_hints(cls, include_extras=True)
    except (NameError, TypeError):  # names that only the type checker sees say nothing
        return []
    return [resolved[field.name] for field in dataclasses.fields(cls) if field.name in resolved]
