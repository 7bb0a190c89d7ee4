"""The schema check: arguments held against a JSON Schema that somebody else wrote."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import ToolError
from ..tools import Arguments
from ..value_text import escaped

__all__ = ["schema_check"]

_LONGEST = 100_000
"""Characters of a schema beyond which no model would read it."""
_DEEPEST = 60
_MOST = 5
_SHORT = 200
_UNCHECKED = frozenset(("pattern", "patternProperties"))
"""Patterns of somebody else may take for ever; whoever wrote them checks them."""


def schema_check(tool: str, schema: Mapping[str, Any]) -> Callable[[Arguments], Arguments]:
    """Return a check of arguments, which raises `ValueError` with what to change.

    Raises `ToolError` for a schema that is none, or that is too large.
    """
    from jsonschema import SchemaError  # noqa: PLC0415 - it comes with the extras that need it
    from jsonschema.validators import validator_for  # noqa: PLC0415 - the same
    from referencing import Registry  # noqa: PLC0415 - the same

    checked = _without_patterns(schema, _DEEPEST, tool)
    if len(json.dumps(schema, default=str)) > _LONGEST:
        raise ToolError(f"the schema of {tool} is longer than {_LONGEST:,} characters; leave the tool out")
    kind = validator_for(checked)
    try:
        kind.check_schema(checked)
    except SchemaError as error:
        raise ToolError(f"the schema of {tool} is no JSON Schema: {escaped(error.message[:_SHORT])}") from None
    validator = kind(checked, registry=Registry())  # nothing is fetched

    def check(arguments: Arguments) -> Arguments:
        given = dict(arguments)
        try:
            faults = sorted(validator.iter_errors(given), key=lambda fault: list(map(str, fault.path)))
        except Exception:  # a reference that leads nowhere, or in a circle: the other side judges the arguments
            return given
        if faults:
            raise ValueError("; ".join(map(_words, faults[:_MOST])))
        return given

    return check


def _words(fault: Any) -> str:
    place = ".".join(map(str, fault.path))
    message = escaped(str(fault.message))
    short = message if len(message) <= _SHORT else f"{message[:_SHORT]}..."
    return f"{place}: {short}" if place else short


def _without_patterns(value: Any, depth: int, tool: str, in_names: bool = False) -> Any:
    if depth == 0:
        raise ToolError(f"the schema of {tool} is nested too deeply; leave the tool out")
    if isinstance(value, Mapping):
        return {
            key: _without_patterns(inner, depth - 1, tool, key in ("properties", "$defs") and not in_names)
            for key, inner in value.items()
            if in_names or key not in _UNCHECKED
        }
    if isinstance(value, list):
        return [_without_patterns(inner, depth - 1, tool) for inner in value]
    return value
