"""Fitting: whether stored fields, read again, are a state of today. A pure function of values and type."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel, ValidationError

from ..state import Log, Shape, Values, field_types, redacted_fields, same, shape_of
from ..state.shape import is_state_type
from ..types import adapter_of, type_name
from ..value_text import ValuePrinter

__all__ = ["Fitted", "fitted"]

_PRINTER = ValuePrinter(longest=60, most=5)
_MISSING: Any = object()


class Fitted(NamedTuple):
    """Fields that fit a type, those that are new in it with their defaults; or what keeps them from that."""

    values: Values
    faults: tuple[str, ...] = ()
    is_filled: bool = False


def fitted(shape: Shape, values: Values, then: Mapping[str, str] | None) -> Fitted:
    """Return stored fields as a state of today has them. `then` is what the fields were declared as, if known.

    A field whose type is written as it was then, and leads to no class that may have changed, is not looked at:
    code may hold in it what it likes.
    """
    cls: Any = shape.cls
    now = field_types(cls)
    faults = [f"{name} is no field of {type_name(cls)} any more" for name in values if name not in now]
    found = {**values}
    for name in shape.names:
        if name not in found:
            found[name] = _default(cls, name, found)
            if found[name] is _MISSING:
                del found[name]
                if then is not None and name not in then:
                    faults.append(f"{name} is new in {type_name(cls)} and has no default")
    secret = redacted_fields(cls)
    for name, value in values.items():
        if name not in now or name in secret:
            continue
        is_changed = then is not None and then.get(name) != now[name]
        if is_changed or (value is not None and _may_change(shape.hints[name])):
            was = f", was {then.get(name)}" if is_changed and then is not None else ""
            faults += [f"{place} {words}{was}" for place, words in _unfit(value, shape.hints[name], name)]
    return Fitted(found, tuple(faults), len(found) > len(values))


def _default(cls: type[Any], name: str, values: Values) -> Any:
    """Return what a field holds that nothing is said of."""
    try:
        if issubclass(cls, BaseModel):
            entry = cls.model_fields[name]
            if entry.is_required():
                return _MISSING
            return entry.get_default(call_default_factory=True, validated_data=dict(values))
        field = cls.__dataclass_fields__[name]
        if field.default_factory is not dataclasses.MISSING:
            return field.default_factory()
        return _MISSING if field.default is dataclasses.MISSING else field.default
    except Exception:  # the code of a default: then there is none
        return _MISSING


def _may_change(hint: Any) -> bool:
    """Return whether an annotation leads to a class with fields, whose name does not tell what they are."""
    if isinstance(hint, type) and (is_state_type(hint) or hasattr(hint, "_fields") or hasattr(hint, "__total__")):
        return True
    return any(_may_change(argument) for argument in get_args(hint))


def _unfit(value: Any, hint: Any, place: str) -> Iterator[tuple[str, str]]:
    """Yield the places where a value, or what is in it, is not of the type that is annotated there."""
    if isinstance(value, Log):
        value = list(value)
        items = [argument for argument in get_args(hint) if argument is not None][:1]
        hint = list[items[0]] if items else Any  # type: ignore[valid-type]
    try:
        loaded = adapter_of(hint).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        inner = "".join(f".{part}" if isinstance(part, str) else f"[{part}]" for part in first["loc"])
        yield f"{place}{inner}", f"holds {_PRINTER.text(value)}, which is no {type_name(hint)} ({first['msg']})"
        return
    except Exception:  # code of a validator, or a type of which pydantic knows nothing
        return
    if not same(loaded, value):
        was, now = (f"{type_name(type(one))} {_PRINTER.text(one)}" for one in (value, loaded))
        yield place, f"holds {was}, which loads as {now}"
        return
    for where, inner in _instances(value, place):
        kind: Any = type(inner)
        secret, hints = redacted_fields(kind), shape_of(kind).hints
        for name, held in _held(inner).items():
            if name in hints and name not in secret:
                yield from _unfit(held, hints[name], f"{where}.{name}")


def _instances(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Yield the outermost instances of models and dataclasses in a value."""
    if is_state_type(type(value)):
        yield place, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _instances(key, f"{place}: a key")
            yield from _instances(item, f"{place}[{key!r}]")
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes | bytearray):
        for index, item in enumerate(value):
            yield from _instances(item, f"{place}[{index}]")


def _held(value: Any) -> dict[str, Any]:
    if isinstance(value, BaseModel):
        return dict(value.__dict__)
    return {
        field.name: getattr(value, field.name) for field in dataclasses.fields(value) if hasattr(value, field.name)
    }
