"""The operation: one thing that an HTTP API can be asked, with the places of its arguments in a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .naming import tool_name
from .openapi_spec import Spec

__all__ = ["Operation", "Parameter", "operations_of"]

Place = Literal["path", "query", "header", "cookie"]
_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_IGNORED = frozenset(("accept", "content-type", "authorization"))
"""Headers that the document must not describe as parameters."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: what the model calls it, what it is called in the request, and how it is written there."""

    argument: str
    name: str
    place: Place
    style: str
    explode: bool
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation: its request, and the JSON Schema of its arguments. `body` is the argument that is the body."""

    id: str
    method: str
    path: str
    description: str
    parameters: tuple[Parameter, ...]
    schema: Mapping[str, Any]
    body: str = ""
    body_type: str = ""

    @property
    def reads(self) -> bool:
        """Whether it changes nothing, as HTTP says of its method."""
        return self.method in ("GET", "HEAD", "OPTIONS", "TRACE")


def operations_of(spec: Spec, hidden: frozenset[str]) -> Iterator[Operation]:
    """Yield every operation. `hidden` are headers, in lower case, that a model is not asked for."""
    secret = hidden | _IGNORED | _security_names(spec)
    for path, item in spec.document["paths"].items():
        item = spec.resolved(item)
        if not isinstance(item, Mapping):
            continue
        for method in _METHODS:
            if isinstance(described := item.get(method), Mapping):
                shared = item.get("parameters", ())
                yield _operation(spec, secret, str(path), method, described, shared)


def _operation(
    spec: Spec, secret: frozenset[str], path: str, method: str, described: Mapping[str, Any], shared: Sequence[Any]
) -> Operation:
    parts: dict[str, Any] = {}
    properties: dict[str, Any] = {}
    required: list[str] = []
    parameters: list[Parameter] = []
    for given in _unique(spec, [*shared, *described.get("parameters", ())]):
        if given["in"] != "path" and str(given["name"]).lower() in secret:
            continue
        parameter, described_as = _parameter(spec, given, properties, parts)
        parameters.append(parameter)
        properties[parameter.argument] = described_as
        if given.get("required") or parameter.place == "path":
            required.append(parameter.argument)
    body, body_type = "", ""
    if (wanted := spec.resolved(described.get("requestBody"))) is not None and (content := wanted.get("content")):
        body, body_type = _free("body", properties, "request_body"), _best(content)
        properties[body] = spec.schema(content[body_type].get("schema", {}), parts)
        if wanted.get("required"):
            required.append(body)
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    if parts:
        schema["$defs"] = parts
    id = str(described.get("operationId") or f"{method}_{path.strip('/') or 'root'}")
    said = "\n\n".join(filter(None, map(str, (described.get("summary", ""), described.get("description", "")))))
    fallback = f"{method.upper()} {path}"
    return Operation(id, method.upper(), path, said or fallback, tuple(parameters), schema, body, body_type)


def _unique(spec: Spec, given: Sequence[Any]) -> list[Mapping[str, Any]]:
    """Return the parameters; one of the operation stands above one of the path that has its name and place."""
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for parameter in map(spec.resolved, given):
        if isinstance(parameter, Mapping) and {"name", "in"} <= parameter.keys():
            found[str(parameter["name"]), str(parameter["in"])] = parameter
    return list(found.values())


def _parameter(
    spec: Spec, given: Mapping[str, Any], taken: Mapping[str, Any], parts: dict[str, Any]
) -> tuple[Parameter, dict[str, Any]]:
    name, place = str(given["name"]), given["in"]
    content = given.get("content")
    described = content[_best(content)].get("schema", {}) if content else given.get("schema", {})
    schema = spec.schema(described, parts)
    if said := given.get("description"):
        schema = {**schema, "description": str(said)}
    style = str(given.get("style", "form" if place in ("query", "cookie") else "simple"))
    argument = _free(tool_name(name), taken, tool_name(f"{name}_{place}"))
    explode = bool(given.get("explode", style == "form"))
    return Parameter(argument, name, place, style, explode, bool(content)), schema


def _best(content: Mapping[str, Any]) -> str:
    """Return the media type that is sent: JSON where it may be."""
    kinds = [str(kind) for kind in content]
    return next((kind for kind in kinds if "json" in kind), kinds[0])


def _free(name: str, taken: Mapping[str, Any], other: str) -> str:
    """Return a name that is not taken: the other one where the first is, else one with a number."""
    free = other if name in taken else name
    number = 2
    while free in taken:
        free, number = f"{other}_{number}", number + 1
    return free


def _security_names(spec: Spec) -> frozenset[str]:
    """Return the parameters that carry a key, in lower case: a model is neither asked for nor told of them."""
    schemes = spec.resolved(spec.document.get("components", {})).get("securitySchemes", {})
    found = map(spec.resolved, schemes.values())
    return frozenset(
        str(scheme["name"]).lower() for scheme in found if scheme.get("type") == "apiKey" and "name" in scheme
    )
