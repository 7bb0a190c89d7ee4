"""The request of an operation: its arguments written where the document says, and as it says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from ..tools import Arguments
from .openapi_operation import Operation, Parameter

__all__ = ["Request", "request_of"]

_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|"}


class Request(NamedTuple):
    """What is sent: `body` are the arguments for httpx that hold the body."""

    path: str
    query: list[tuple[str, str]]
    headers: dict[str, str]
    cookies: dict[str, str]
    body: dict[str, Any]


def request_of(operation: Operation, arguments: Arguments) -> Request:
    """Return the request. Raises `ValueError` for arguments that would lead to another place."""
    path, query = operation.path, list[tuple[str, str]]()
    headers, cookies = dict[str, str](), dict[str, str]()
    for parameter in operation.parameters:
        if parameter.argument not in arguments or (value := arguments[parameter.argument]) is None:
            continue
        if parameter.place == "path":
            path = path.replace("{" + parameter.name + "}", _segment(parameter, value))
        elif parameter.place == "query":
            query += _pairs(parameter, value)
        elif parameter.place == "header":
            headers[parameter.name] = _header(parameter, value)
        else:
            cookies[parameter.name] = quote(_joined(parameter, value), safe="")
    has_body = bool(operation.body) and operation.body in arguments
    return Request(path, query, headers, cookies, _body(operation, arguments[operation.body]) if has_body else {})


def _segment(parameter: Parameter, value: Any) -> str:
    text = _joined(parameter, value)
    if text in ("", ".", ".."):
        raise ValueError(f"{parameter.argument}: {text!r} leads to another path")
    return quote(text, safe=",")


def _header(parameter: Parameter, value: Any) -> str:
    text = _joined(parameter, value)
    if not text.isascii() or not text.isprintable():
        raise ValueError(f"{parameter.argument}: no header can carry its line ends or letters")
    return text


def _pairs(parameter: Parameter, value: Any) -> Iterator[tuple[str, str]]:
    if parameter.as_json or not isinstance(value, list | Mapping):
        yield parameter.name, _joined(parameter, value)
    elif isinstance(value, list):
        if parameter.explode:
            yield from ((parameter.name, _text(item)) for item in value)
        else:
            yield parameter.name, _SEPARATORS.get(parameter.style, ",").join(map(_text, value))
    elif parameter.style == "deepObject":
        yield from ((f"{parameter.name}[{key}]", _text(item)) for key, item in value.items())
    elif parameter.explode:
        yield from ((key, _text(item)) for key, item in value.items())
    else:
        yield parameter.name, _joined(parameter, value)


def _joined(parameter: Parameter, value: Any) -> str:
    if parameter.as_json:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return ",".join(map(_text, value))
    if isinstance(value, Mapping):
        between = "=" if parameter.explode else ","
        return ",".join(f"{key}{between}{_text(item)}" for key, item in value.items())
    return _text(value)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _body(operation: Operation, value: Any) -> dict[str, Any]:
    kind = operation.body_type
    fields = value if isinstance(value, Mapping) else {}
    if kind == "application/x-www-form-urlencoded":
        return {"data": {key: _text(item) for key, item in fields.items()}}
    if kind == "multipart/form-data":
        return {"files": {key: (None, _text(item).encode()) for key, item in fields.items()}}
    is_text = isinstance(value, str) and "json" not in kind
    content = str(value) if is_text else json.dumps(value, ensure_ascii=False)
    return {"content": content.encode("utf-8", "backslashreplace"), "headers": {"content-type": kind}}
