"""Drafts: what a node holds in `step.state`. A field is copied when it is first read; the rest costs nothing.

The class of a draft is made once per state type. It is a subclass, so that methods, properties and `isinstance`
work as on the state itself. Fields that cannot change stand in the draft's dict from the start. Each other field
has a descriptor that yields to the dict: found there, the dict wins; missing, the descriptor puts a copy there.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from .snapshot import snapshot

__all__ = ["draft_class", "frozen_fields", "written"]

_BASE = "__flowcore_base__"
_PRIVATE = "__pydantic_private__"
_OWN_PRIVATE = "__flowcore_private__"


class _Quiet:
    """Keeps the class of drafts from the `__init_subclass__` of users: it is no class of theirs."""

    __slots__ = ()

    def __init_subclass__(cls, **_: Any) -> None:
        pass


class _Private:
    """The private attributes of a model's draft: made when first asked for, as they are when a model is made."""

    def __init__(self, made: Callable[[Any], Any]) -> None:
        self._made = made

    def __get__(self, draft: Any, owner: type) -> Any:
        if draft is None:
            raise AttributeError(_PRIVATE)
        try:
            return object.__getattribute__(draft, _OWN_PRIVATE)
        except AttributeError:
            private = self._made(object.__getattribute__(draft, _BASE))
            object.__setattr__(draft, _OWN_PRIVATE, private)
            return private

    def __set__(self, draft: Any, private: Any) -> None:
        object.__setattr__(draft, _OWN_PRIVATE, private)


class _Field:
    """A field that is copied from the committed state when it is first read."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, draft: Any, owner: type) -> Any:
        if draft is None:
            raise AttributeError(self._name)
        base: dict[str, Any] = object.__getattribute__(draft, _BASE)
        if self._name not in base:
            raise AttributeError(f"{owner.__name__!r} object has no attribute {self._name!r}")
        value = snapshot(base[self._name])
        object.__setattr__(draft, self._name, value)
        return value


def draft_class(cls: type, names: tuple[str, ...], private: Callable[[dict[str, Any]], Any]) -> tuple[type, Any]:
    """Return the class of drafts of `cls`, and the descriptor through which their own dict is reached.

    `private` makes the private attributes of a model from its fields.
    """
    base = cls if _dict_of(cls) is not None else _subclass(cls, cls, {})
    own_dict = _dict_of(base)
    assert own_dict is not None

    def whole(draft: Any) -> dict[str, Any]:
        for name in names:
            getattr(draft, name, None)
        held: dict[str, Any] = own_dict.__get__(draft)
        declared = {name: held[name] for name in names if name in held}
        if tuple(held)[: len(declared)] != tuple(declared):
            declared.update(held)
            held.clear()
            held.update(declared)
        return held

    body: dict[str, Any] = {name: _Field(name) for name in names}
    body["__slots__"] = (_BASE,)
    if getattr(cls, "__private_attributes__", None):
        body["__slots__"] = (_BASE, _OWN_PRIVATE)
        body[_PRIVATE] = _Private(private)

    if issubclass(cls, BaseModel) and cls.model_config.get("extra") != "allow":
        body.setdefault(_PRIVATE, None)
        body["__pydantic_extra__"] = None
        body["__pydantic_fields_set__"] = property(lambda draft: set(object.__getattribute__(draft, _BASE)))

    def named(_: Any) -> type:
        return cls

    def copied(draft: Any, *_: Any) -> Any:
        return snapshot(draft)

    def reduced(draft: Any, protocol: Any) -> Any:
        return snapshot(draft).__reduce_ex__(protocol)

    body["__dict__"] = property(whole, lambda draft, values: own_dict.__set__(draft, values))
    body["__class__"] = property(named)
    own_setter: object = cls.__setattr__
    if own_setter is not object.__setattr__:
        body["__setattr__"] = _setter(cls, frozenset(names))
    body["__copy__"] = body["__deepcopy__"] = copied
    body["__reduce_ex__"] = reduced
    return _subclass(cls, base, body), own_dict


def written(draft: Any, own_dict: Any) -> dict[str, Any]:
    """Return the fields that a draft holds itself: the unchangeable ones and what was read or written."""
    values: dict[str, Any] = own_dict.__get__(draft)
    return values


def _dict_of(cls: type) -> Any:
    for base in cls.__mro__:
        found = base.__dict__.get("__dict__")
        if found is not None and base is not object:
            return found
    return None


def _subclass(cls: type, base: type, body: dict[str, Any]) -> type:
    """Make a subclass that looks like `cls`, past what a metaclass of users does with new classes."""
    metaclass = type(base)
    make = ABCMeta.__new__ if issubclass(metaclass, ABCMeta) else type.__new__
    names = {"__module__": cls.__module__, "__qualname__": cls.__qualname__}
    bases = (base,) if issubclass(base, _Quiet) else (_Quiet, base)
    return make(metaclass, cls.__name__, bases, {**names, **body})


def _setter(cls: type, names: frozenset[str]) -> Callable[[Any, str, Any], None]:
    free = frozenset() if _is_frozen(cls) else names - frozen_fields(cls)
    own_setter: Any = cls.__setattr__

    def set_attribute(draft: Any, name: str, value: Any) -> None:
        if name in free:
            object.__setattr__(draft, name, value)
        else:
            own_setter(draft, name, value)

    return set_attribute


def _is_frozen(cls: type) -> bool:
    if issubclass(cls, BaseModel):
        return bool(cls.model_config.get("frozen"))
    parameters = getattr(cls, "__dataclass_params__", None)
    return bool(parameters and parameters.frozen)


def frozen_fields(cls: type) -> frozenset[str]:
    """Return the fields of a model that are declared as frozen, each by itself."""
    fields = cls.model_fields if issubclass(cls, BaseModel) else {}
    return frozenset(name for name, entry in fields.items() if entry.frozen)
