"""The shape of a state type: how its drafts are made, compared, checked and turned back into values."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import types
import typing
import uuid
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, Protocol, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from ..errors import ContractError
from ..types import adapter_of, type_name
from .draft import draft_class, written
from .snapshot import ATOMS, same, snapshot

__all__ = ["HasPath", "Shape", "Values", "is_state_type", "shape_of"]

Values = dict[str, Any]
"""A committed state: its fields by name. Never changed in place."""


class HasPath(Protocol):
    """Whatever knows its path: it is asked for it only when something is wrong."""

    @property
    def path(self) -> str:
        """The path of a visit."""
        ...


_EAGER: Final = frozenset(
    {
        type(None), bool, int, float, complex, str, bytes, uuid.UUID, decimal.Decimal,
        datetime.date, datetime.datetime, datetime.time, datetime.timedelta,
    }
)  # fmt: skip


def is_state_type(cls: object) -> bool:
    """Return whether `cls` can be a state: a pydantic model or a dataclass."""
    return isinstance(cls, type) and (issubclass(cls, BaseModel) or dataclasses.is_dataclass(cls))


class Shape:
    """What is known of one state type."""

    __slots__ = ("_adapters", "_draft", "_lazy", "_own_dict", "_plain", "cls", "is_model", "names")

    def __init__(self, cls: type[Any]) -> None:
        self.cls = cls
        self.is_model = issubclass(cls, BaseModel)
        hints = _hints(cls)
        self.names = tuple(hints)
        self._lazy = tuple(name for name, hint in hints.items() if not _is_eager(hint))
        self._plain = {name: hint for name, hint in hints.items() if hint in _EAGER and _is_unchecked(cls, name)}
        self._adapters: dict[str, TypeAdapter[Any]] = {}
        self._draft, self._own_dict = draft_class(cls, self.names)

    def values(self, state: Any) -> Values:
        """Return the fields of a state, copied, so that later changes to it are not seen."""
        return {name: snapshot(getattr(state, name)) for name in self.names if hasattr(state, name)}

    def draft(self, values: Values) -> Any:
        """Return a draft of committed values."""
        made = _new(self._draft)
        own = values.copy()
        for name in self._lazy:
            own.pop(name, None)
        self._own_dict.__set__(made, own)
        object.__setattr__(made, "__flowcore_base__", values)
        if self.is_model:
            _fill_slots(made, self.cls, set(values))
        return made

    def build(self, values: Values) -> Any:
        """Return an ordinary instance of the state type that shares nothing mutable with `values`."""
        made = _new(self.cls)
        for name, value in values.items():
            object.__setattr__(made, name, snapshot(value))
        if self.is_model:
            _fill_slots(made, self.cls, set(values))
        return made

    def difference(self, state: Any, values: Values, where: HasPath) -> Values | None:
        """Return the fields that a draft (or a state put in its place) changed, checked and copied, or None.

        Raises `ContractError` for a value that does not fit its field.
        """
        if type(state) is self._draft:
            held = written(state, self._own_dict)
        elif isinstance(state, self.cls):
            held = {name: getattr(state, name) for name in self.names if hasattr(state, name)}
        else:
            raise ContractError(
                f"{where.path}: step.state was set to {type_name(type(state))}, not {self.cls.__name__}"
            )
        changed: Values | None = None
        for name, value in held.items():
            before = values.get(name, self)
            if value is before or name not in self.names:
                continue
            if before is self or not same(before, value):
                if changed is None:
                    changed = {}
                changed[name] = value
        return None if changed is None else self._check(changed, values, where)

    def _check(self, changed: Values, values: Values, where: HasPath) -> Values:
        if all(self._plain.get(name) is type(value) for name, value in changed.items()):
            return changed
        if self.is_model:
            return self._check_model(changed, values, where)
        return {name: self._check_field(name, value, where) for name, value in changed.items()}

    def _check_field(self, name: str, value: Any, where: HasPath) -> Any:
        adapter = self._adapters.get(name)
        if adapter is None:
            adapter = self._adapters[name] = adapter_of(_hints(self.cls)[name])
        try:
            return snapshot(adapter.validate_python(value))
        except ValidationError as error:
            raise _misfit(self.cls, name, error, where) from None

    def _check_model(self, changed: Values, values: Values, where: HasPath) -> Values:
        merged = {**values, **changed}
        model = _new(self.cls)
        object.__setattr__(model, "__dict__", merged.copy())
        _fill_slots(model, self.cls, set(merged))
        for name, value in changed.items():
            try:
                self.cls.__pydantic_validator__.validate_assignment(model, name, value)
            except ValidationError as error:
                raise _misfit(self.cls, name, error, where) from None
        result = model.__dict__
        return {
            name: snapshot(value)
            for name, value in result.items()
            if name in self.names and (name in changed or value is not values.get(name))
        }


@lru_cache(maxsize=512)
def shape_of(cls: type[Any]) -> Shape:
    """Return the shape of a state type. Raises `ContractError` for what is no pydantic model or dataclass."""
    if not is_state_type(cls):
        raise ContractError(f"{type_name(cls)} is no state type: use a pydantic model or a dataclass")
    return Shape(cls)


def _hints(cls: Any) -> dict[str, Any]:
    if issubclass(cls, BaseModel):
        return {name: entry.annotation for name, entry in cls.model_fields.items()}
    resolved = _resolved(cls)
    return {entry.name: resolved.get(entry.name, Any) for entry in dataclasses.fields(cls)}


@lru_cache(maxsize=512)
def _resolved(cls: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except (NameError, TypeError):  # names that only the type checker sees: those fields go unchecked
        return {name: hint for name, hint in cls.__annotations__.items() if not isinstance(hint, str)}


def _is_eager(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        return _is_eager(get_args(hint)[0])
    if get_origin(hint) in (Union, types.UnionType):
        return all(_is_eager(member) for member in get_args(hint))
    if get_origin(hint) is Literal:
        return True
    return isinstance(hint, type) and (hint in _EAGER or hint in ATOMS or issubclass(hint, enum.Enum))


def _is_unchecked(cls: Any, name: str) -> bool:
    """Return whether a value of exactly the annotated class is valid in this field, whatever it is."""
    if not issubclass(cls, BaseModel):
        return True
    made = cls.__pydantic_decorators__
    if made.field_validators or made.model_validators or made.validators or made.root_validators:
        return False
    shapes_text = any(key.startswith("str_") for key in cls.model_config)
    return not shapes_text and not cls.model_fields[name].metadata


def _new(cls: Any) -> Any:
    return cls.__new__(cls)


def _fill_slots(model: Any, cls: Any, names: set[str]) -> None:
    private = {name: entry.get_default() for name, entry in cls.__private_attributes__.items()}
    object.__setattr__(model, "__pydantic_fields_set__", names)
    object.__setattr__(model, "__pydantic_extra__", {} if cls.model_config.get("extra") == "allow" else None)
    object.__setattr__(model, "__pydantic_private__", private or None)


def _misfit(cls: type, name: str, error: ValidationError, where: HasPath) -> ContractError:
    first = error.errors(include_url=False)[0]
    inner = "".join(f"[{part!r}]" if not isinstance(part, str) else f".{part}" for part in first["loc"])
    place = inner.removeprefix(".") if inner.startswith(f".{name}") else f"{name}{inner}"
    return ContractError(f"{where.path}: {cls.__name__}.{place} does not fit: {first['msg']}")
