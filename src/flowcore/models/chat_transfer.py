"""The transfer: one request to a server and its answer, read piece by piece. The one file that knows httpx."""

from __future__ import annotations

import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import cast

import anyio
import httpx

from ..errors import ModelError
from .chat_faults import Place, causes
from .hush import hushed
from .secrets import Covered

__all__ = ["Transfer", "open_client"]

_CONNECT_SECONDS = 10.0
"""How long to wait for a connection, if the timeout is not shorter."""
_DRAIN_SECONDS = 0.25
"""How long to wait for the end of an answer that has said all, so that its connection can be used again."""
_CLOSE_SECONDS = 5.0
_LEFT_OVER = 2**16
"""How many pieces are taken from an answer that was closed, to bring it to its end."""
_FAULT_BYTES = 2**16
"""How much of an error's body is read."""
_FAULTS = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, ssl.SSLError, OSError, UnicodeError)
_BROKEN = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError, httpx.CloseError)


def open_client(place: Place) -> httpx.AsyncClient:
    """Return a client of its own for a model. It waits for a free connection as long as its caller does.

    Raises `ModelRequestError` if the environment asks for what cannot be had.
    """
    try:
        return httpx.AsyncClient(follow_redirects=False)
    except Exception as error:  # whatever the environment says of proxies and certificates
        fault = place.unset(str(error) or type(error).__name__)
    raise fault


class _Body(httpx.AsyncByteStream):
    """The body of a request, in one piece. No generator: trio warns of those that a cancellation leaves behind."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __aiter__(self) -> AsyncIterator[bytes]:
        return _Once(self._data)


class _Once(AsyncIterator[bytes]):
    """Gives its data once."""

    def __init__(self, data: bytes) -> None:
        self._left = [data]

    async def __anext__(self) -> bytes:
        if not self._left:
            raise StopAsyncIteration
        return self._left.pop()


class Transfer:
    """A request that was sent. Every failure is a `ModelError` that no exception of the transport hangs on.

    Those say in their own words what was sent and received, and that may be the key.
    """

    def __init__(self, client: httpx.AsyncClient, place: Place, timeout: float | None, max_bytes: int) -> None:
        self._client = client
        self._place = place
        self._timeout = timeout
        self._connect = _CONNECT_SECONDS if timeout is None else min(timeout, _CONNECT_SECONDS)
        self._left = self._max = max_bytes
        self._response: httpx.Response

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self._response.status_code

    @property
    def kind(self) -> str:
        """The content type of the answer."""
        kind: str = self._response.headers.get("content-type", "")
        return kind

    @property
    def _encoding(self) -> str:
        encoding: str = self._response.headers.get("content-encoding", "").strip().lower()
        return "" if encoding == "identity" else encoding

    async def send(self, body: bytes, headers: Covered) -> None:
        """Send the request and wait for the head of the answer. Raises `ModelError` when it is a refusal."""
        timeout = httpx.Timeout(self._timeout, connect=self._connect, pool=None)
        if self._client.is_closed:
            raise self._place.closed()
        try:
            request = self._client.build_request(
                "POST", self._place.url, content=body, headers=headers, timeout=timeout
            )
            request.stream = _Body(body)
            with hushed(self._place.secrets):
                self._response = await self._client.send(request, stream=True, follow_redirects=False)
        except _FAULTS as error:
            fault = self._fault(error)
        else:
            self._parts = self._response.aiter_bytes()
            if self._response.is_success and not self._encoding:
                return
            try:
                fault = await self._refusal()
            finally:
                await self.aclose()
        raise fault

    async def next(self) -> bytes | None:
        """Return the next bytes, None after the last."""
        try:
            part = await anext(self._parts)
        except StopAsyncIteration:
            return None
        except _FAULTS as error:
            fault: ModelError = self._fault(error)
        else:
            self._left -= len(part)
            if self._left >= 0:
                return part
            fault = self._place.too_large(self._max)
        raise fault

    async def read(self) -> bytes:
        """Return the whole body."""
        parts: list[bytes] = []
        while (part := await self.next()) is not None:
            parts.append(part)
        return b"".join(parts)

    async def drain(self) -> None:
        """Read to the end, if that is near: only a connection whose answer was read whole is used again."""
        with anyio.move_on_after(_DRAIN_SECONDS), suppress(ModelError):
            while await self.next() is not None:
                pass

    async def aclose(self) -> None:
        """Close the answer; a server that is still at work sees it. A cancellation waits until it is done."""
        with anyio.move_on_after(_CLOSE_SECONDS, shield=True):
            await self._response.aclose()
            # The generators of the transport are brought to their end: trio warns of those left to the collector.
            # A stream of a test's own may have none, and never wait.
            with suppress(Exception):
                for _ in range(_LEFT_OVER):
                    await anext(self._parts)
                await cast("AsyncGenerator[bytes]", self._parts).aclose()

    async def _refusal(self) -> ModelError:
        if self._response.is_success:
            return self._place.encoded(self._encoding)
        body = bytearray()
        with suppress(ModelError):
            # What is encoded was not asked for, and is not read.
            while not self._encoding and len(body) < _FAULT_BYTES and (part := await self.next()) is not None:
                body += part
        return self._refused(self._response, bytes(body))

    def _refused(self, response: httpx.Response, body: bytes) -> ModelError:
        headers = {name.lower(): value for name, value in response.headers.items()}
        return self._place.refused(response.status_code, headers, body, time.time())

    def _fault(self, error: Exception) -> ModelError:
        place = self._place
        if self._client.is_closed:
            return place.closed()
        if isinstance(error, httpx.StreamError):
            return place.consumed()
        if isinstance(error, httpx.HTTPStatusError):  # of a client that looks at each answer by itself
            return self._refused(error.response, b"")
        if isinstance(error, httpx.ConnectTimeout):
            return place.late("no connection", self._connect)
        if isinstance(error, httpx.TimeoutException):
            what = "no further piece of the answer" if hasattr(self, "_parts") else "no answer"
            return place.late(what, self._timeout or 0.0)
        if isinstance(error, _BROKEN):
            why = next((str(cause) for cause in causes(error) if str(cause)), type(error).__name__)
            return place.cut(why)
        return place.unreachable(error)
