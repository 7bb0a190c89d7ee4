"""Secrets: fields whose values are never written."""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
import typing
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, get_args

from pydantic import BaseModel

__all__ = ["Secret", "annotations_of", "redacted_fields"]


class Secret:
    """The mark of a field whose value is never stored: `token: Annotated[str, Secret]`.

    In a store a mark stands in its place, and what comes back is `"[secret not kept]"` for a text and None for
    other values. A run that is resumed must get its real secrets through deps.
    """

    __slots__ = ()


@lru_cache(maxsize=1024)
def redacted_fields(cls: Any) -> frozenset[str]:
    """Return the names of the fields of a model, a dataclass or a named tuple whose values are never stored."""
    found = {name for name, hint in annotations_of(cls).items() if _is_secret(hint)}
    if issubclass(cls, BaseModel) and cls is not BaseModel:
        for name, entry in cls.model_fields.items():
            if _is_secret(entry.annotation) or any(_is_mark(extra) for extra in entry.metadata):
                found.add(name)
    return frozenset(found)


def annotations_of(cls: type[Any]) -> dict[str, Any]:
    """Return the annotations of a class and its bases, with what is marked in them. Some may stay text."""
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except Exception:  # a name that only the type checker sees: the others are still worth knowing
        return {name: _resolved(cls, name, hint) for name, hint in _written(cls).items()}


def _written(cls: type[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        found.update(inspect.get_annotations(base))
    if dataclasses.is_dataclass(cls):
        found.update({entry.name: found.get(entry.name, entry.type) for entry in dataclasses.fields(cls)})
    return found


def _resolved(cls: type[Any], name: str, hint: Any) -> Any:
    module = sys.modules.get(cls.__module__)
    alone: Any = SimpleNamespace(__annotations__={name: hint})
    try:
        return typing.get_type_hints(alone, vars(module) if module else {}, include_extras=True)[name]
    except Exception:
        return hint


def _is_mark(extra: Any) -> bool:
    return extra is Secret or isinstance(extra, Secret)


def _is_secret(hint: Any) -> bool:
    """Return whether the mark stands anywhere in an annotation, or is named in one that cannot be read."""
    if isinstance(hint, str | typing.ForwardRef):
        return re.search(r"\bSecret\b", hint if isinstance(hint, str) else hint.__forward_arg__) is not None
    if any(_is_mark(extra) for extra in getattr(hint, "__metadata__", ())):
        return True
    if type(hint).__name__ == "TypeAliasType":
        return _is_secret(hint.__value__)
    if hasattr(hint, "__supertype__"):
        return _is_secret(hint.__supertype__)
    return any(_is_secret(argument) for argument in get_args(hint) if argument is not hint)
