"""Type variables of the public API, and whether a value of one type may stand where another is wanted."""

from __future__ import annotations

import collections.abc
import types
import typing
from functools import lru_cache
from typing import Annotated, Any, Literal, Never, Union, cast, get_args, get_origin

from pydantic import ConfigDict, InstanceOf, PydanticUserError, TypeAdapter, ValidationError
from typing_extensions import TypeAliasType, TypeVar

__all__ = [
    "DepsT",
    "GivenT",
    "LabelT",
    "ResultT",
    "StateT",
    "adapter_of",
    "as_class",
    "is_a",
    "is_assignable",
    "is_error_type",
    "is_open",
    "is_value_of",
    "type_name",
    "union_members",
]

StateT = TypeVar("StateT")
"""The state that a node works on. Invariant: a node for one state type cannot stand in a flow for another."""
DepsT = TypeVar("DepsT", contravariant=True, default=object)
"""What a node wants from outside. `object` for a node that wants nothing."""
GivenT = TypeVar("GivenT", covariant=True, default=object)
"""What a step hands to its node as deps."""
LabelT = TypeVar("LabelT", covariant=True, default=None)
"""The labels a node may continue with; `None` for a node that continues without a label."""
ResultT = TypeVar("ResultT", covariant=True, default=Any)
"""What a node or flow completes with; `Never` for a node that only continues."""

_COVARIANT: frozenset[object] = frozenset(
    {
        collections.abc.Sequence,
        collections.abc.Iterable,
        collections.abc.Iterator,
        collections.abc.Collection,
        collections.abc.Container,
        collections.abc.Reversible,
        collections.abc.Set,
        collections.abc.Awaitable,
        frozenset,
        tuple,
        type,
    }
)


def type_name(hint: object) -> str:
    """Return a type as a reader would write it: `list[Cat]`, `int | None`."""
    if hint is type(None):
        return "None"
    if isinstance(hint, type) and not get_args(hint):
        return hint.__qualname__.rsplit("<locals>.", 1)[-1]
    if isinstance(hint, typing.ForwardRef):
        return repr(hint.__forward_arg__)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " | ".join(type_name(argument) for argument in arguments)
    if origin is Literal:
        return f"Literal[{', '.join(repr(argument) for argument in arguments)}]"
    if origin is not None and arguments:
        inner = ", ".join("..." if argument is Ellipsis else type_name(argument) for argument in arguments)
        return f"{type_name(origin)}[{inner}]"
    return str(hint).removeprefix("typing.")


@lru_cache(maxsize=2048)
def _assignable(source: Any, target: Any) -> bool:
    source, target = _bare(source), _bare(target)
    if target in (Any, object) or source in (Any, Never, typing.NoReturn) or source == target:
        return True
    if isinstance(target, TypeVar | typing.TypeVar) or isinstance(source, TypeVar | typing.TypeVar):
        return True
    if (members := _members(source)) is not None:
        return all(_assignable(member, target) for member in members)
    if get_origin(source) is Literal:
        return all(_literal_fits(value, target) for value in get_args(source))
    if (members := _members(target)) is not None:
        return any(_assignable(source, member) for member in members)
    if get_origin(target) is Literal:
        return False
    return _class_fits(source, target)


def as_class(hint: Any) -> type | None:
    """Return the class whose instances an annotation wants, or None where it does not name one.

    Parameters are left out: `Page` for `Page[int]`, where `Page` is a pydantic model too.
    """
    if hint is object:
        return None
    hint = _bare(hint)
    while hasattr(hint, "__supertype__"):
        hint = _bare(hint.__supertype__)
    hint = _origin(hint) or hint
    return hint if isinstance(hint, type) and hint not in (Any, object, types.UnionType) else None


def is_open(hint: Any) -> bool:
    """Return whether an annotation allows anything, or what only a type checker knows."""
    hint = _bare(hint)
    return hint in (Any, object) or isinstance(hint, TypeVar | typing.TypeVar)


def union_members(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union, or the annotation alone."""
    hint = _bare(hint)
    return _members(hint) or (hint,)


def is_a(value: object, kind: type) -> bool:
    """Return whether a value given by a user is what its annotation asks for."""
    return isinstance(value, kind)


def is_error_type(kind: object) -> bool:
    """Return whether `kind` is a class of ordinary errors: a subclass of `Exception`."""
    return isinstance(kind, type) and issubclass(kind, Exception)


def is_assignable(source: Any, target: Any) -> bool:
    """Return whether a value of type `source` may be given where `target` is wanted.

    Follows the rules of the type checkers: unions by member, read-only containers covariant, writable ones
    invariant, `int` where `float` is wanted. What cannot be told at run time (type variables, protocols
    without run-time check) is taken as fitting.
    """
    try:
        return bool(_assignable(source, target))
    except TypeError:  # an unhashable or uncheckable annotation says nothing
        return True


def _bare(hint: Any) -> Any:
    while True:
        if get_origin(hint) is Annotated:
            hint = get_args(hint)[0]
        elif isinstance(hint, TypeAliasType) or type(hint).__name__ == "TypeAliasType":
            hint = hint.__value__
        elif hasattr(hint, "__supertype__"):
            return hint
        else:
            return type(None) if hint is None else hint


def _origin(hint: Any) -> Any:
    """Return what an annotation gives arguments to: a generic pydantic model makes a class of its own of them."""
    generic = getattr(hint, "__pydantic_generic_metadata__", None)
    return generic["origin"] if isinstance(generic, dict) else get_origin(hint)


def _arguments(hint: Any) -> tuple[Any, ...]:
    generic = getattr(hint, "__pydantic_generic_metadata__", None)
    return tuple(generic["args"]) if isinstance(generic, dict) else get_args(hint)


def _members(hint: Any) -> tuple[Any, ...] | None:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else None


def _literal_fits(value: object, target: Any) -> bool:
    if (members := _members(target)) is not None:
        return any(_literal_fits(value, _bare(member)) for member in members)
    if get_origin(target) is Literal:
        return any(value == other and type(value) is type(other) for other in get_args(target))
    return is_assignable(value.__class__, target)


def _class_fits(source: Any, target: Any) -> bool:
    if hasattr(source, "__supertype__"):
        return _assignable(source.__supertype__, target)
    if hasattr(target, "__supertype__"):
        return False
    source_class, target_class = _origin(source) or source, _origin(target) or target
    if not (isinstance(source_class, type) and isinstance(target_class, type)):
        return True
    if target_class is float and source_class is int:
        return True
    if target_class is complex and source_class in (int, float):
        return True
    if not issubclass(source_class, target_class):
        return False
    return _arguments_fit(source, target, source_class, target_class)


def _arguments_fit(source: Any, target: Any, source_class: type, target_class: type) -> bool:
    wanted, given = _arguments(target), _arguments(source)
    if not wanted or not given:
        return True
    if target_class is tuple:
        return _tuple_fits(given, wanted)
    if source_class is tuple and len(wanted) == 1:
        return all(_assignable(member, wanted[0]) for member in given if member is not Ellipsis)
    if len(wanted) != len(given):
        return True
    if target_class is collections.abc.Mapping:
        return _same(given[0], wanted[0]) and _assignable(given[1], wanted[1])
    if target_class in _COVARIANT:
        return all(_assignable(a, b) for a, b in zip(given, wanted, strict=True))
    return all(_same(a, b) for a, b in zip(given, wanted, strict=True))


def _tuple_fits(given: tuple[Any, ...], wanted: tuple[Any, ...]) -> bool:
    if len(wanted) == 2 and wanted[1] is Ellipsis:
        return all(_assignable(member, wanted[0]) for member in given if member is not Ellipsis)
    if Ellipsis in given or len(given) != len(wanted):
        return False
    return all(_assignable(a, b) for a, b in zip(given, wanted, strict=True))


def _same(left: Any, right: Any) -> bool:
    return bool(_assignable(left, right) and _assignable(right, left))


@lru_cache(maxsize=1024)
def adapter_of(hint: Any) -> TypeAdapter[Any]:
    """Return what validates values of a type, classes that pydantic does not know included."""
    for config in (ConfigDict(arbitrary_types_allowed=True), None):
        try:
            adapter: TypeAdapter[Any] = TypeAdapter(hint, config=config)
        except PydanticUserError:  # a type with a configuration of its own, or one that pydantic cannot know
            continue
        if adapter.pydantic_complete:
            return adapter
    cls, instance_of = as_class(hint), cast("Any", InstanceOf)
    return TypeAdapter(Any if cls is None else instance_of[cls])


def is_value_of(value: object, hint: Any) -> bool:
    """Return whether `value` is of the type that an annotation names. Nothing is converted."""
    hint = _bare(hint)
    if is_open(hint):
        return True
    if (members := _members(hint)) is not None:
        return any(is_value_of(value, member) for member in members)
    if isinstance(hint, type) and _origin(hint) is None:
        return _is_instance(value, hint)
    try:
        adapter_of(hint).validate_python(value, strict=True)
    except ValidationError:
        return False
    return True


def _is_instance(value: object, cls: type) -> bool:
    try:
        return isinstance(value, cls) or (cls is float and type(value) is int)
    except TypeError:  # a protocol that cannot be checked says nothing
        return True
