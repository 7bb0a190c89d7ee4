"""The output form: the type that an answer must fit, as a schema for the model and as a check of what it says."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, Generic, TypeVar

from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import SchemaError, SchemaValidator, core_schema

from ..errors import ContractError
from ..messages import OutputSchema

__all__ = ["Misfit", "OutputForm", "form_of"]

T = TypeVar("T")
_FENCED = re.compile(r"```(?:json)?[ \t]*\r?\n(.*?)\n?[ \t]*```", re.DOTALL | re.IGNORECASE)
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_WRAP = "value"
"""The field of the object around an answer that is no object: providers take schemas of objects only."""
_MOST_FAULTS = 10
_LONGEST_FAULT = 500
"""How much is told of one fault: a field that should not be there may have a name without end."""


class Misfit(Exception):
    """An answer does not fit; the message says to the model where and why."""


class OutputForm(Generic[T]):
    """A type, its JSON Schema, and how an answer is read as a value of it."""

    def __init__(self, kind: type[T] | TypeAdapter[T]) -> None:
        self._adapter: TypeAdapter[T] = kind if isinstance(kind, TypeAdapter) else TypeAdapter(kind)
        schema = self._adapter.json_schema()
        name = _NO_NAME.sub("_", str(schema.get("title") or getattr(kind, "__name__", ""))).strip("_")
        self._wrapper: SchemaValidator | None = None
        if schema.get("type") != "object":
            self._wrapper = _wrapper(self._adapter)
            schema = _wrapped(schema)
        self.schema = OutputSchema(name[:64] or "answer", schema)

    @property
    def instructions(self) -> str:
        """What is said to a model that takes no schema."""
        schema = json.dumps(self.schema.schema, ensure_ascii=False, separators=(",", ":"))
        return f"Answer with JSON alone, without any other text. It must fit this JSON Schema:\n{schema}"

    def read(self, text: str) -> T:
        """Return the answer as a value; the JSON may stand in a fence.

        Raises `Misfit` for anything else. What is missing is never filled in.
        """
        json_text = _json_in(text)
        try:
            if self._wrapper is None:
                return self._adapter.validate_json(json_text)
            value: T = self._wrapper.validate_json(json_text)[_WRAP]
            return value
        except ValidationError as error:
            raise Misfit(_faults(error)) from None


def _wrapped(schema: dict[str, Any]) -> dict[str, Any]:
    definitions = {"$defs": schema.pop("$defs")} if "$defs" in schema else {}
    inside = {"type": "object", "properties": {_WRAP: schema}, "required": [_WRAP], "additionalProperties": False}
    return {**inside, **definitions}


def _wrapper(adapter: TypeAdapter[Any]) -> SchemaValidator:
    field = core_schema.typed_dict_field(adapter.core_schema, required=True)
    return SchemaValidator(core_schema.typed_dict_schema({_WRAP: field}, extra_behavior="forbid"))


def _json_in(text: str) -> str:
    """Return the JSON of an answer: all of it, or the one fenced block in it."""
    bare = text.strip().removeprefix("\ufeff").lstrip()
    blocks = [] if bare.startswith(("{", "[", '"')) else _FENCED.findall(bare)
    return str(blocks[0]) if len(blocks) == 1 else bare


def _faults(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [_shortened(f"{'.'.join(map(str, fault['loc'])) or 'the answer'}: {fault['msg']}") for fault in faults]
    if len(lines) > _MOST_FAULTS:
        lines[_MOST_FAULTS:] = [f"and {len(lines) - _MOST_FAULTS} more"]
    return "\n".join(lines)


def _shortened(line: str) -> str:
    half = _LONGEST_FAULT // 2
    return line if len(line) <= _LONGEST_FAULT else f"{line[:half]}…{line[-half:]}"


def form_of(kind: Any) -> OutputForm[Any] | None:
    """Return the form of a type, or None for text, which needs none. Raises `ContractError` for no type."""
    if kind is None or kind is str:
        return None
    try:
        return _kept(kind)
    except (PydanticUserError, SchemaError) as error:
        fault = str(error).partition("\n")[0]
        raise ContractError(f"output={kind!r}: give a type, or a TypeAdapter of one: {fault}") from None


def _kept(kind: Any) -> OutputForm[Any]:
    try:
        return _known(kind)
    except TypeError:  # of a type that cannot be hashed
        return OutputForm(kind)


@lru_cache(maxsize=256)
def _known(kind: Any) -> OutputForm[Any]:
    return OutputForm(kind)
