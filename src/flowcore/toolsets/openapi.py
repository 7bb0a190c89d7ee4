"""The OpenAPI toolset: the operations of an HTTP API that is described by an OpenAPI document."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..errors import ContractError, OutcomeUnknown, ToolError
from ..models.secrets import Secrets, checked_headers
from ..tools import Arguments, Tool, ToolContext, ToolOutput
from .extras import must_be_there
from .naming import checked_settings, must_have, tool_name
from .openapi_operation import Operation, operations_of
from .openapi_reply import output_of, read_reply
from .openapi_request import request_of
from .openapi_spec import Spec
from .schema_check import schema_check

if TYPE_CHECKING:
    import httpx

__all__ = ["OpenAPIToolset"]

_CONNECT = 10.0


class OpenAPIToolset:
    """The operations of an HTTP API, each one a tool. Needs the extra `openapi`.

    GET, HEAD, OPTIONS and TRACE change nothing. Every other operation has effects: it is never repeated, and its
    outcome is unknown if it was interrupted. Arguments that carry a key, as the document says, are no arguments of
    the tools: give them with `headers` or `client`. Nothing is fetched to read the document.

    Args:
        name: What the toolset is known by.
        spec: The document, version 3: as data, as JSON text, or the path of a JSON file.
        base_url: Where the API is; by default what the document says.
        client: The client that sends; it stays open. By default one is opened with the toolset.
        headers: Headers of every request, such as a token.
        operations: The ids of the operations that are taken; None is all.
        timeout: Seconds that a call may take; None leaves it to the executor.
        timeouts: The same for single operations, by their id.
        read_only: More operations that change nothing, by their id, such as a search that is a POST.
        prefix: What stands before the name of each tool.

    Raises:
        ContractError: The document cannot be read, or the settings make no sense.
        ToolError: The extra is missing, or there is no operation of a name that is given.
    """

    def __init__(
        self,
        name: str,
        spec: Mapping[str, Any] | str | Path,
        *,
        base_url: str | None = None,
        client: httpx.AsyncClient | None = None,
        headers: Mapping[str, str] | None = None,
        operations: Collection[str] | None = None,
        timeout: float | None = None,
        timeouts: Mapping[str, float] | None = None,
        read_only: Collection[str] = (),
        prefix: str = "",
    ) -> None:
        checked_settings("OpenAPIToolset", name, timeout, timeouts or {})
        must_be_there("jsonschema", "openapi", "OpenAPI documents")
        where = f"OpenAPIToolset({name!r})"
        try:
            self._headers = checked_headers(headers or {})
        except ValueError as error:
            raise ContractError(f"{where}, {error}") from None
        self._name = name
        self._timeout = timeout
        self._timeouts = dict(timeouts or {})
        self._client = client
        self._read_only = frozenset(read_only)
        self._prefix = prefix
        document = Spec(where, spec)
        sent = {**self._headers, **(dict(client.headers) if client is not None else {})}
        self._secrets = Secrets.of("", sent)
        self._base_url = _base_url(where, document, base_url, client)
        found = _by_id(where, document, frozenset(sent))
        must_have([*(operations or ()), *self._timeouts, *self._read_only], found, where)
        taken = [each for each in found.values() if operations is None or each.id in operations]
        self._operations = [(each, schema_check(each.id, each.schema)) for each in taken]

    @property
    def name(self) -> str:
        """What the toolset is known by."""
        return self._name

    @property
    def timeout(self) -> float | None:
        """Seconds that a call may take where `timeouts` does not say."""
        return self._timeout

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Sequence[Tool]]:
        """Hold the client open, and yield the tools."""
        if self._client is not None:
            yield self._tools(self._client)
            return
        import httpx  # noqa: PLC0415 - loaded with the first API

        limits = httpx.Limits(
            max_keepalive_connections=0
        )  # a kept one that the server left makes an outcome unknown
        async with httpx.AsyncClient(timeout=httpx.Timeout(None, connect=_CONNECT), limits=limits) as client:
            yield self._tools(client)

    def __repr__(self) -> str:
        return f"OpenAPIToolset({self._name!r}, {self._base_url!r}, operations={len(self._operations)})"

    def _tools(self, client: httpx.AsyncClient) -> Sequence[Tool]:
        return tuple(self._tool(client, operation, fits) for operation, fits in self._operations)

    def _tool(self, client: httpx.AsyncClient, operation: Operation, fits: Any) -> Tool:
        has_effects = not operation.reads and operation.id not in self._read_only

        def check(arguments: Arguments) -> Arguments:
            checked: Arguments = fits(arguments)
            request_of(operation, checked)
            return checked

        async def call(context: ToolContext[Any], arguments: Arguments) -> ToolOutput:
            return await self._send(client, operation, arguments, has_effects)

        return Tool(
            name=tool_name(operation.id, self._prefix),
            description=operation.description,
            parameters=operation.schema,
            call=call,
            check=check,
            effects=has_effects,
            timeout=self._timeouts.get(operation.id),
        )

    async def _send(
        self, client: httpx.AsyncClient, operation: Operation, arguments: Arguments, has_effects: bool
    ) -> ToolOutput:
        import httpx  # noqa: PLC0415 - loaded with the first API

        sent = request_of(operation, arguments)
        body = dict(sent.body)
        headers = {**self._headers, **sent.headers, **body.pop("headers", {})}
        if sent.cookies:
            headers["cookie"] = "; ".join(f"{name}={value}" for name, value in sent.cookies.items())
        url = f"{self._base_url}{sent.path}"
        shown = f"{operation.method} {self._base_url}{operation.path}"
        params = httpx.QueryParams(tuple(sent.query)) if sent.query else None
        try:
            async with client.stream(operation.method, url, params=params, headers=headers, **body) as response:
                data, cut = await read_reply(response)
                return output_of(response, data, cut, shown, self._secrets, has_effects)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol) as error:
            raise ToolError(f"{shown} cannot be reached: {self._words(error)}") from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            said = f"{shown} broke off: {self._words(error)}"
            raise (OutcomeUnknown(said) if has_effects else ToolError(said)) from None

    def _words(self, error: Exception) -> str:
        return self._secrets.scrub(" ".join(str(error).split()))[:300] or type(error).__name__


def _by_id(where: str, spec: Spec, hidden: frozenset[str]) -> dict[str, Operation]:
    """Return the operations. Raises `ContractError` for a document that cannot be understood."""
    try:
        operations = list(operations_of(spec, hidden))
    except (AttributeError, IndexError, KeyError, TypeError, RecursionError) as error:
        raise ContractError(f"{where}, spec: it is no OpenAPI document: {type(error).__name__}: {error}") from None
    ids = [operation.id for operation in operations]
    if twice := sorted({id for id in ids if ids.count(id) > 1}):
        raise ContractError(f"{where}, spec: several operations have one id: {', '.join(twice)}")
    return dict(zip(ids, operations, strict=True))


def _base_url(where: str, spec: Spec, given: str | None, client: httpx.AsyncClient | None) -> str:
    servers = spec.document.get("servers") or [{}]
    told = servers[0] if isinstance(servers, list) and isinstance(servers[0], Mapping) else {}
    url = given if given is not None else str(told.get("url", ""))
    if given is None:
        for name, variable in dict(told.get("variables", {})).items():
            url = url.replace("{" + str(name) + "}", str(variable.get("default", "")))
        if not urlsplit(url).scheme and client is not None and str(client.base_url):
            url = str(client.base_url).rstrip("/") + "/" + url.lstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ContractError(f"{where}, base_url: the document does not say where the API is; give base_url=")
    if parts.username is not None or parts.query:
        raise ContractError(f"{where}, base_url: put what is secret into headers, and not into the URL")
    return url.rstrip("/")
