"""The connection to an MCP server: held by one task, shared by all calls, opened again when it was lost."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio
import httpx2
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from ..errors import SignInNeeded, ToolError
from ..models.secrets import Secrets
from ..tools import ToolOutput
from ..value_text import escaped
from .last_words import LastWords
from .mcp_output import output_of
from .mcp_transport import Watched
from .places import Command, Endpoint

__all__ = ["Connection", "Offer"]

_ATTEMPTS = 3
_MOST_TOOLS = 500
_LONGEST = 300
_LARGEST = 16_000_000
"""Bytes that one message may have."""
_statuses: ContextVar[list[int] | None] = ContextVar("mcp_statuses", default=None)
"""The HTTP statuses that the requests of the current call were answered with."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as a server offers it. `reads` says that it changes nothing, as far as the server tells."""

    name: str
    description: str
    schema: dict[str, Any]
    reads: bool


class Connection:
    """Opens a server when it is first needed, and again when it was lost. `keep` holds it, in a task of its own.

    All that a call of it raises is `ToolError`, or `ConnectionError` where nobody answered.
    """

    def __init__(self, place: Command | Endpoint) -> None:
        self._place = place
        self._secrets = Secrets(())
        self._client: Client | None = None
        self._opening: anyio.Event | None = None
        self._wanted = anyio.Event()
        self._left = anyio.Event()
        self._closed = False
        self._calls: set[anyio.CancelScope] = set()
        self._fault: Callable[[], ToolError] | None = None

    async def keep(self) -> None:
        """Hold the server open whenever it is wanted, until it is closed."""
        while True:
            await self._wanted.wait()
            if self._closed:
                return
            self._wanted, self._left = anyio.Event(), anyio.Event()
            await self._hold()

    def close(self) -> None:
        """Let go of the server, for good."""
        self._closed = True
        self._left.set()
        self._wanted.set()

    async def offers(self) -> Sequence[Offer]:
        """Return what the server offers. Raises `ToolError` if it offers too much, or cannot tell."""
        client = await self._opened()
        offers: list[Offer] = []
        cursor = None
        seen: list[int] = []
        token = _statuses.set(seen)
        try:
            while True:
                page = await client.list_tools(cursor=cursor)
                offers += map(_offer, page.tools)
                if (cursor := page.next_cursor) is None:
                    return offers
                if len(offers) > _MOST_TOOLS or not page.tools:
                    raise ToolError(f"{self._place.shown} offers more than {_MOST_TOOLS} tools, or has no end")
        except MCPError as error:
            raise self._refusal(error, seen) from None
        finally:
            _statuses.reset(token)

    async def call(self, name: str, arguments: dict[str, Any], tell: Callable[[object], None]) -> ToolOutput:
        """Return what a tool answers.

        Raises `ToolError` if it failed, and `ConnectionError` if there was no answer.
        """
        client = await self._opened()

        async def tell_progress(progress: float, total: float | None, message: str | None) -> None:
            tell({"progress": progress, "total": total, "message": message})

        seen: list[int] = []
        token = _statuses.set(seen)
        scope = anyio.CancelScope()
        self._calls.add(scope)
        try:
            with scope:
                result = await client.call_tool(name, arguments, progress_callback=tell_progress)
                return output_of(result, self._secrets)
        except MCPError as error:
            if error.code != types.CONNECTION_CLOSED:
                raise self._refusal(error, seen) from None
        except (ValueError, RuntimeError) as error:  # an answer that is none
            raise ToolError(f"{self._place.shown} answered what it may not: {self._words(error)}") from None
        finally:
            self._calls.discard(scope)
            _statuses.reset(token)
        raise ConnectionError(f"{self._place.shown} went away before it answered; the next call opens it again")

    async def _opened(self) -> Client:
        for _ in range(_ATTEMPTS):
            if (client := self._client) is not None:
                return client
            if self._closed:
                raise ToolError(f"{self._place.shown} was closed")
            if self._opening is None or self._opening.is_set():
                self._opening, self._fault = anyio.Event(), None
                self._wanted.set()
            await self._opening.wait()
            if self._fault is not None:
                raise self._fault()
        raise ToolError(f"{self._place.shown} goes away as soon as it is opened")

    async def _hold(self) -> None:
        opening, seen = self._opening, list[int]()
        _statuses.set(seen)
        words: list[LastWords] = []
        try:
            enter = (
                self._process(self._place, words) if isinstance(self._place, Command) else self._web(self._place)
            )
            async with enter as client:
                self._client = client
                if opening is not None:
                    opening.set()
                await self._left.wait()
                self._client = None
        except Exception as error:
            self._fault = partial(self._why, error, seen, words[0].text() if words else "")
        finally:
            self._client = None
            if opening is not None:
                opening.set()
            for scope in self._calls:
                scope.cancel()

    @asynccontextmanager
    async def _process(self, place: Command, words: list[LastWords]) -> AsyncGenerator[Client]:
        self._secrets = place.secrets
        program, *arguments = place.words
        parameters = StdioServerParameters(command=program, args=arguments, env=dict(place.env), cwd=place.cwd)
        with LastWords() as last:
            words.append(last)
            transport = Watched(stdio_client(parameters, errlog=last.file), self._lost)
            async with Client(transport, cache=None) as client:
                last.started()
                yield client

    @asynccontextmanager
    async def _web(self, place: Endpoint) -> AsyncGenerator[Client]:
        headers = place.current_headers()
        self._secrets = Secrets.of("", headers)
        timeout = httpx2.Timeout(30.0, read=None)  # how long a call may take is decided by who makes it
        hooks = {"response": [_note_status]}
        async with httpx2.AsyncClient(headers=headers, timeout=timeout, event_hooks=hooks) as http:
            stream = streamable_http_client(place.url, http_client=http, max_sse_event_size=_LARGEST)
            async with Client(Watched(stream, self._lost), cache=None) as client:
                yield client

    def _lost(self) -> None:
        self._client = None
        self._left.set()

    def _refusal(self, error: MCPError, seen: Sequence[int]) -> ToolError:
        """Return the error for what a server says in the place of a result."""
        status = seen[-1] if seen else 0
        if status == 401:
            if isinstance(self._place, Endpoint) and callable(self._place.headers):
                self._lost()  # the next call asks for headers anew
            return SignInNeeded(self._place.shown)
        if status == 404 and error.code == types.INVALID_REQUEST:
            self._lost()
            return ToolError(f"{self._place.shown} has ended the session; the next call opens a new one")
        what = f"{self._place.shown} answered {status}" if status >= 400 else f"{self._place.shown} refused"
        return ToolError(f"{what}: {self._words(error)}")

    def _why(self, error: BaseException, seen: Sequence[int], last_words: str) -> ToolError:
        """Return the error for a server that cannot be opened."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        shown = self._place.shown
        if isinstance(error, ToolError):
            return type(error)(*error.args) if not isinstance(error, SignInNeeded) else SignInNeeded(error.server)
        if isinstance(self._place, Endpoint):
            if isinstance(error, MCPError):
                return self._refusal(error, seen)
            return ToolError(f"{shown} cannot be reached: {self._words(error)}")
        if isinstance(error, OSError):
            return ToolError(f"{shown} cannot be started: {error.strerror or self._words(error)}")
        said = self._clean(last_words)
        return ToolError(
            f"{shown} ended before it was ready" + (f": {said}" if said else f": {self._words(error)}")
        )

    def _words(self, error: BaseException) -> str:
        return self._clean(str(error)) or type(error).__name__

    def _clean(self, text: str) -> str:
        return escaped(self._secrets.scrub(" ".join(text.split())))[:_LONGEST]


async def _note_status(response: httpx2.Response) -> None:
    if (seen := _statuses.get()) is not None:
        seen.append(response.status_code)


def _offer(tool: types.Tool) -> Offer:
    reads = tool.annotations is not None and tool.annotations.read_only_hint is True
    return Offer(tool.name, tool.description or tool.title or "", {**tool.input_schema, "type": "object"}, reads)
