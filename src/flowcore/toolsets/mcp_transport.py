"""The watched transport: tells at once when an MCP server has said its last."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Self, cast

import anyio
from mcp.client._transport import TransportStreams

__all__ = ["Watched"]


class Watched:
    """A transport of mcp whose reading side tells when it ends."""

    def __init__(self, inner: AbstractAsyncContextManager[TransportStreams], ended: Callable[[], None]) -> None:
        self._inner = inner
        self._ended = ended

    async def __aenter__(self) -> TransportStreams:
        read, write = await self._inner.__aenter__()
        return cast(TransportStreams, (_Reading(read, self._ended), write))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, trace)


class _Reading:
    def __init__(self, inner: Any, ended: Callable[[], None]) -> None:
        self._inner = inner
        self._ended = ended

    @property
    def last_context(self) -> Any:
        """The context that the last message was sent in, where the transport knows it."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> Any:
        try:
            return await self._inner.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._ended()
            raise

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
