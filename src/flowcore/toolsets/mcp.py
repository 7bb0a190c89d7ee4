"""The MCP toolset: the tools of a server that speaks the Model Context Protocol."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio

from ..errors import ContractError, OutcomeUnknown, ToolError
from ..models.secrets import checked_headers
from ..tools import Arguments, Tool, ToolContext, ToolOutput
from ..types import is_a
from .extras import must_be_there
from .naming import checked_settings, must_have, tool_name
from .places import Command, Endpoint, Headers
from .schema_check import schema_check

if TYPE_CHECKING:
    from .mcp_connection import Connection, Offer

__all__ = ["MCPToolset"]


class MCPToolset:
    """The tools of one MCP server, started as a process or reached by streamable HTTP. Needs the extra `mcp`.

    A server that ends, or that cannot be reached, fails the calls that wait for it; the next call opens it again.

    Args:
        name: What the toolset is known by.
        command: The program and its arguments, for a server that is started and speaks on its standard streams.
        url: Where the server is, for one that is reached by HTTP: `url` or `command`.
        headers: Headers of every request, such as a token; or a function that returns them, asked anew each time.
        env: What the process has in its environment beside the little that is safe to pass on.
        cwd: The folder that the process starts in.
        timeout: Seconds that a call may take; None leaves it to the executor.
        timeouts: The same for single tools, by the name that the server gives them.
        allowed: The tools that are taken, by the name that the server gives them; None is all.
        read_only: The tools that change nothing outside; by default those of which the server says so. Every other
            one has effects: it is never repeated, and its outcome is unknown if it was interrupted.
        prefix: What stands before the name of each tool.

    Raises:
        ContractError: The settings make no sense.
        ToolError: The extra is missing.
    """

    def __init__(
        self,
        name: str,
        *,
        command: Sequence[str] | None = None,
        url: str | None = None,
        headers: Headers | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        timeout: float | None = None,
        timeouts: Mapping[str, float] | None = None,
        allowed: Collection[str] | None = None,
        read_only: Collection[str] | None = None,
        prefix: str = "",
    ) -> None:
        checked_settings("MCPToolset", name, timeout, timeouts or {})
        must_be_there("mcp", "mcp", "MCP servers")
        self._place = _place(name, command, url, headers, env, cwd)
        self._name = name
        self._timeout = timeout
        self._timeouts = dict(timeouts or {})
        self._allowed = None if allowed is None else frozenset(allowed)
        self._read_only = None if read_only is None else frozenset(read_only)
        self._prefix = prefix

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
        """Hold the server open, and yield its tools. Raises why it cannot be opened."""
        from .mcp_connection import Connection  # noqa: PLC0415 - loads mcp

        connection = Connection(self._place)
        async with anyio.create_task_group() as group:
            group.start_soon(connection.keep)
            try:
                yield self._tools(connection, await connection.offers())
            finally:
                connection.close()

    def __repr__(self) -> str:
        return f"MCPToolset({self._name!r}, {self._place.shown!r})"

    def _tools(self, connection: Connection, offers: Sequence[Offer]) -> Sequence[Tool]:
        there = {offer.name for offer in offers}
        must_have([*(self._allowed or ()), *(self._read_only or ()), *self._timeouts], there, self._place.shown)
        return tuple(
            self._tool(connection, offer)
            for offer in offers
            if self._allowed is None or offer.name in self._allowed
        )

    def _tool(self, connection: Connection, offer: Offer) -> Tool:
        has_effects = not offer.reads if self._read_only is None else offer.name not in self._read_only
        name = tool_name(offer.name, self._prefix)

        async def call(context: ToolContext[Any], arguments: Arguments) -> ToolOutput:
            try:
                return await connection.call(offer.name, dict(arguments), context.emit)
            except ConnectionError as error:  # it was sent, and there was no answer
                if has_effects:
                    raise OutcomeUnknown(str(error)) from error
                raise ToolError(str(error)) from error

        return Tool(
            name=name,
            description=offer.description,
            parameters=offer.schema,
            call=call,
            check=schema_check(name, offer.schema),
            effects=has_effects,
            timeout=self._timeouts.get(offer.name),
        )


def _place(
    name: str,
    command: Sequence[str] | None,
    url: str | None,
    headers: Headers | None,
    env: Mapping[str, str] | None,
    cwd: Path | str | None,
) -> Command | Endpoint:
    where = f"MCPToolset({name!r})"
    if (command is None) == (url is None):
        raise ContractError(f"{where}: give either a command or a url")
    if command is not None:
        if isinstance(command, str) or not command or not all(is_a(word, str) for word in command):
            raise ContractError(f"{where}, command: give a list of words, as in ['python', 'server.py']")
        if headers is not None:
            raise ContractError(f"{where}, headers: a process has none; give it what it needs with env")
        return Command(tuple(command), dict(env or {}), cwd)
    if env is not None or cwd is not None:
        raise ContractError(f"{where}: env and cwd belong to a command, and not to a url")
    parts = urlsplit(str(url))
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ContractError(f"{where}, url: give one such as 'https://host/mcp'")
    if parts.username is not None:
        raise ContractError(f"{where}, url: put what is secret into headers, and not into the URL")
    if headers is not None and not callable(headers):
        try:
            headers = checked_headers(headers)
        except ValueError as error:
            raise ContractError(f"{where}, {error}") from None
    return Endpoint(str(url), {} if headers is None else headers)
