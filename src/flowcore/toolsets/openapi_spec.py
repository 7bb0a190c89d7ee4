"""The OpenAPI document: read, its references followed inside it alone, its schemas made into JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ..errors import ContractError

__all__ = ["Spec"]

_MOST_STEPS = 50
_KEPT_APART = frozenset(("properties", "$defs", "patternProperties"))
_NOT_READ = frozenset(("example", "examples", "enum", "const", "default"))


class Spec:
    """An OpenAPI document of version 3. Raises `ContractError` for what is none."""

    def __init__(self, where: str, given: Mapping[str, Any] | str | Path) -> None:
        self._where = where
        self.document = self._read(given)
        version = self.document.get("openapi")
        if not str(version).startswith("3."):
            raise ContractError(
                f"{where}, spec: it says openapi={version!r}, and 3.0 or 3.1 is read; convert it first"
            )
        if not isinstance(self.document.get("paths"), Mapping):
            raise ContractError(f"{where}, spec: it has no paths")

    def resolved(self, value: Any) -> Any:
        """Return what a value, which may be a reference, means."""
        for _ in range(_MOST_STEPS):
            if not (isinstance(value, Mapping) and isinstance(value.get("$ref"), str)):
                return value
            value = self._at(value["$ref"])
        raise ContractError(f"{self._where}, spec: a reference leads back to itself")

    def schema(self, value: Any, parts: dict[str, Any]) -> Any:
        """Return a schema whose references lead to `$defs`; what they lead to is added to `parts`."""
        if isinstance(value, list):
            return [self.schema(inner, parts) for inner in value]
        if not isinstance(value, Mapping):
            return value
        if isinstance(reference := value.get("$ref"), str):
            name = self._part(reference, parts)
            rest = {key: inner for key, inner in value.items() if key == "description"}
            return {"$ref": f"#/$defs/{name}", **rest}
        made = {
            key: self._inner(key, inner, parts)
            for key, inner in value.items()
            if key not in ("xml", "discriminator")
        }
        return _of_today(made)

    def _inner(self, key: str, value: Any, parts: dict[str, Any]) -> Any:
        if key in _NOT_READ:
            return value
        if key in _KEPT_APART and isinstance(value, Mapping):
            return {name: self.schema(inner, parts) for name, inner in value.items()}
        return self.schema(value, parts)

    def _part(self, reference: str, parts: dict[str, Any]) -> str:
        name = "".join(
            letter if letter.isalnum() else "_" for letter in reference.rpartition("schemas/")[2].strip("#/")
        )
        if name not in parts:
            parts[name] = True  # so that a circle ends here
            parts[name] = self.schema(self._at(reference), parts)
        return name

    def _at(self, reference: str) -> Any:
        if not reference.startswith("#/"):
            raise ContractError(
                f"{self._where}, spec: {reference!r} leads outside of it; bundle it into one document"
            )
        found: Any = self.document
        for step in reference[2:].split("/"):
            key = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping) and key in found:
                found = found[key]
            else:
                raise ContractError(f"{self._where}, spec: {reference!r} leads nowhere")
        return found

    def _read(self, given: Mapping[str, Any] | str | Path) -> Mapping[str, Any]:
        if isinstance(given, Mapping):
            return given
        try:
            is_text = isinstance(given, str) and given.lstrip().startswith("{")
            read = json.loads(str(given) if is_text else Path(given).read_text("utf-8"))
        except OSError as error:
            raise ContractError(f"{self._where}, spec: {given} cannot be read: {error.strerror}") from None
        except (ValueError, RecursionError) as error:
            raise ContractError(f"{self._where}, spec: it is no JSON ({error}); convert YAML first") from None
        if not isinstance(read, dict):
            raise ContractError(f"{self._where}, spec: it is no object")
        return read


def _of_today(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema of OpenAPI 3.0 as JSON Schema says it today."""
    nullable = schema.pop("nullable", False)
    for limit, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(strict := schema.get(limit), bool):
            del schema[limit]
            if strict and bound in schema:
                schema[limit] = schema.pop(bound)
    if nullable is True and isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
        if isinstance(values := schema.get("enum"), list) and None not in values:
            schema["enum"] = [*values, None]
    elif nullable is True:
        return {"anyOf": [schema, {"type": "null"}]}
    return schema
