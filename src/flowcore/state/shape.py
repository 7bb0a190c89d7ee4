"""The shape of a state type: how its drafts are made, compared, checked and turned back into values."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import types
import typing
import uuid
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, Protocol, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from ..errors import ContractError
from ..types import adapter_of, type_name
from .draft import draft_class, frozen_fields, written
from .log import Log
from .merge import Merge, merge_of, merged
from .sameness import same
from .snapshot import ATOMS, snapshot

__all__ = ["HasPath", "Shape", "Values", "as_change", "field_types", "is_state_type", "shape_of"]

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
_TOLD_BY_VALUE: Final = frozenset({int, str, bool, bytes})
"""Types of which two equal values cannot be told apart."""


def is_state_type(cls: object) -> bool:
    """Return whether `cls` can be a state: a pydantic model or a dataclass."""
    return isinstance(cls, type) and (issubclass(cls, BaseModel) or dataclasses.is_dataclass(cls))


class Shape:
    """What is known of one state type."""

    __slots__ = (
        "_adapters",
        "_draft",
        "_frozen",
        "_keeps_extra",
        "_lazy",
        "_logs",
        "_own_dict",
        "_plain",
        "_rules",
        "cls",
        "hints",
        "is_model",
        "names",
    )

    def __init__(self, cls: type[Any]) -> None:
        self.cls = cls
        self.is_model = issubclass(cls, BaseModel)
        self.hints = hints = _hints(cls)
        self._rules = {name: _rule(cls, name, hint) for name, hint in hints.items()}
        self._logs = {name: items for name, hint in hints.items() if (items := _log_items(hint)) is not None}
        self.names = tuple(hints)
        self._lazy = tuple(name for name, hint in hints.items() if not _is_eager(hint))
        self._plain = {name: hint for name, hint in hints.items() if hint in _EAGER and _is_unchecked(cls, name)}
        self._adapters: dict[str, TypeAdapter[Any]] = {}
        self._frozen = frozen_fields(cls)
        self._keeps_extra = self.is_model and cls.model_config.get("extra") == "allow"
        self._draft, self._own_dict = draft_class(cls, self.names, self._private)

    def values(self, state: Any) -> Values:
        """Return the fields of a state, copied, so that later changes to it are not seen.

        Raises `ContractError` for a value that can change in a field whose annotation says that it cannot.
        """
        given = {name: getattr(state, name) for name in self.names if hasattr(state, name)}
        values = {name: snapshot(value) for name, value in given.items()}
        for name, value in values.items():
            if value is not given[name] and name not in self._lazy:
                kind = type_name(type(value))
                raise ContractError(
                    f"{self.cls.__name__}.{name} does not fit: its annotation does not allow a {kind}"
                )
        return values

    def draft(self, values: Values) -> Any:
        """Return a draft of committed values."""
        made: Any = object.__new__(self._draft)
        own = values.copy()
        for name in self._lazy:
            own.pop(name, None)
        self._own_dict.__set__(made, own)
        object.__setattr__(made, "__flowcore_base__", values)
        if self._keeps_extra:
            _fill_slots(made, self.cls, set(values))
            if not self.cls.__private_attributes__:
                object.__setattr__(made, "__pydantic_private__", None)
        return made

    def build(self, values: Values) -> Any:
        """Return an ordinary instance of the state type that shares nothing mutable with `values`."""
        made: Any = object.__new__(self.cls)
        if self.is_model:
            _fill_slots(made, self.cls, set(values))
            object.__setattr__(made, "__pydantic_private__", self._private(values))
        for name in self.names:
            if name in values:
                object.__setattr__(made, name, snapshot(values[name]))
        return made

    def _private(self, values: Values) -> Any:
        """Return the private attributes that a model with these fields has when it is made."""
        if not self.cls.__private_attributes__:
            return None
        made: Any = object.__new__(self.cls)
        object.__setattr__(made, "__dict__", {name: snapshot(value) for name, value in values.items()})
        _fill_slots(made, self.cls, set(values))
        object.__setattr__(made, "__pydantic_private__", None)
        made.model_post_init(None)
        return made.__pydantic_private__

    def can_merge(self, field: str) -> bool:
        """Return whether branches may change the same field: it has a merge rule, or is a log."""
        return self._rules[field] is not None or field in self._logs

    def merge(self, field: str, before: Any, values: Sequence[Any], where: HasPath) -> Any:
        """Return what the values that branches gave a field become. Raises `ContractError` as rules do."""
        try:
            value = merged(self._rules[field], before, values)
            if self._rules[field] is None:
                return as_change(value, before)  # a log, whose items were checked when the branches appended them
        except ContractError as error:
            raise ContractError(f"{where.path}: {self.cls.__name__}.{field}: {error}") from None
        return snapshot(self._check_field(field, value, where))

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
        changed: Values = {}
        valid = True
        for name, value in held.items():
            before = values.get(name, self)
            if value is before:
                continue
            kind = type(value)
            plain = self._plain.get(name) is kind
            if plain and kind in _TOLD_BY_VALUE:
                if value != before or type(before) is not kind:
                    changed[name] = value
            elif name in self.names and (before is self or not same(before, value)):
                changed[name] = value
                valid = valid and plain
        return changed if valid else self._check(changed, values, where)

    def _check(self, changed: Values, values: Values, where: HasPath) -> Values | None:
        logs = {
            name: self._check_log(name, changed.pop(name), values, where) for name in self._logs if name in changed
        }
        if not changed:
            return logs or None
        if not self.is_model:
            found = {name: self._check_field(name, value, where) for name, value in changed.items()}
        elif self._frozen.isdisjoint(changed):
            found = self._check_model(changed, values, where)
        else:
            found = self._check_whole(changed, values, where)
        patch = {name: snapshot(value) for name, value in found.items() if not same(values.get(name, self), value)}
        return {**patch, **logs} or None

    def _check_log(self, name: str, value: Any, values: Values, where: HasPath) -> Any:
        """Check what was appended to a log, and only that."""
        before = values.get(name)
        added = value.appended(before) if isinstance(value, Log) and isinstance(before, Log) else None
        if not isinstance(value, Log) or added is None:
            return snapshot(self._check_field(name, value, where))
        try:
            checked = adapter_of(list[self._logs[name]]).validate_python(added)  # type: ignore[name-defined]
        except ValidationError as error:
            raise _misfit(self.cls, name, error, where) from None
        log = before.draft() if isinstance(before, Log) else Log()
        log.extend(checked)
        return log.settled()

    def _check_field(self, name: str, value: Any, where: HasPath) -> Any:
        adapter = self._adapters.get(name)
        if adapter is None:
            adapter = self._adapters[name] = adapter_of(self.hints[name])
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            raise _misfit(self.cls, name, error, where) from None

    def _check_model(self, changed: Values, values: Values, where: HasPath) -> Values:
        model: Any = object.__new__(self.cls)
        object.__setattr__(model, "__dict__", {**values, **changed})
        _fill_slots(model, self.cls, {*values, *changed})
        object.__setattr__(model, "__pydantic_private__", self._private(values))
        for name, value in changed.items():
            try:
                self.cls.__pydantic_validator__.validate_assignment(model, name, value)
            except ValidationError as error:
                raise _misfit(self.cls, name, error, where) from None
        return self._fields(model)

    def _check_whole(self, changed: Values, values: Values, where: HasPath) -> Values:
        """Check a state that was put in the place of the other: a frozen field is not checked by itself."""
        try:
            model = self.cls.__pydantic_validator__.validate_python(
                {**values, **changed}, by_alias=False, by_name=True
            )
        except ValidationError as error:
            raise _misfit(self.cls, "", error, where) from None
        return self._fields(model)

    def _fields(self, model: Any) -> Values:
        return {name: value for name, value in model.__dict__.items() if name in self.names}


def as_change(value: Any, before: Any) -> Any:
    """Return a value as a patch has it: a log that goes on from `before` tells all that was appended since."""
    if isinstance(value, Log) and isinstance(before, Log):
        return value.since(before)
    return value


@lru_cache(maxsize=512)
def shape_of(cls: type[Any]) -> Shape:
    """Return the shape of a state type. Raises `ContractError` for what is no pydantic model or dataclass."""
    if not is_state_type(cls):
        raise ContractError(f"{type_name(cls)} is no state type: use a pydantic model or a dataclass")
    return Shape(cls)


def field_types(cls: Any) -> dict[str, str]:
    """Return the fields of a state type with their types, as a reader would write them; {} for other types."""
    return {name: type_name(hint) for name, hint in _hints(cls).items()} if is_state_type(cls) else {}


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


def _rule(cls: Any, name: str, hint: Any) -> Merge | None:
    if issubclass(cls, BaseModel):
        found = [extra for extra in cls.model_fields[name].metadata if isinstance(extra, Merge)]
        return found[0] if found else merge_of(hint)
    return merge_of(hint)


def _log_items(hint: Any) -> Any:
    """Return the type of the items if the annotation is a log's."""
    if get_origin(hint) is Annotated:
        return _log_items(get_args(hint)[0])
    if hint is Log:
        return Any
    return get_args(hint)[0] if get_origin(hint) is Log else None


def _is_unchecked(cls: Any, name: str) -> bool:
    """Return whether a value of exactly the annotated class is valid in this field, whatever it is."""
    if not issubclass(cls, BaseModel):
        return True
    made = cls.__pydantic_decorators__
    if made.field_validators or made.model_validators or made.validators or made.root_validators:
        return False
    shapes_text = any(key.startswith("str_") for key in cls.model_config)
    return not shapes_text and all(isinstance(extra, Merge) for extra in cls.model_fields[name].metadata)


def _fill_slots(model: Any, cls: Any, names: set[str]) -> None:
    object.__setattr__(model, "__pydantic_fields_set__", names)
    object.__setattr__(model, "__pydantic_extra__", {} if cls.model_config.get("extra") == "allow" else None)


def _misfit(cls: type, name: str, error: ValidationError, where: HasPath) -> ContractError:
    first = error.errors(include_url=False)[0]
    inner = "".join(f"[{part!r}]" if not isinstance(part, str) else f".{part}" for part in first["loc"])
    place = inner.removeprefix(".") if inner.startswith(f".{name}") else f"{name}{inner}"
    field = f"{cls.__name__}.{place}".rstrip(".")
    return ContractError(f"{where.path}: {field} does not fit: {first['msg']}")
