"""The chat model: any server that speaks OpenAI's chat completions."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncGenerator, Collection, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

import anyio
from anyio.lowlevel import RunVar

from ..errors import ContractError
from ..messages import Chunk, ModelReply, ModelRequest
from ..wire import fault_of, read_reply
from .assembly import pieces_of
from .chat_faults import Place
from .chat_reply import reply_of
from .chat_request import Asked, SchemaForm, asked_of
from .chat_stream import ChatStream
from .chat_veil import veiled
from .features import features_of
from .measure import estimated_usage
from .model import EVERY_FEATURE, Feature
from .secrets import Covered, Secrets, checked_headers, checked_key

if TYPE_CHECKING:
    import httpx

    from .chat_transfer import Transfer

__all__ = ["ChatModel"]

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_numbers = itertools.count()


class ChatModel:
    """A model behind a server that speaks OpenAI's chat completions. Streams, too.

    `base_url` is what stands before `/chat/completions`. The `api_key` is what you give; no environment variable
    is read, and the key is never shown. `timeout` is how many seconds the server may be silent, `max_bytes` how
    large an answer may be. `features` are what the model has; the rest of a request is left out, with a warning in
    the reply. `schema_as="json_object"` is for servers that want the schema of an answer beside that word, such as
    llama-cpp-python's. Connections are kept in a client of the model's own, or in `client`, which you then close
    yourself. Closing the model ends its connections; a later request opens new ones. Raises `ValueError` for a
    `base_url`, key or header that cannot be used.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = "https://api.openai.com/v1",
        api_key: str | None = None,
        client: httpx.AsyncClient | None = None,
        timeout: float | None = 60.0,
        headers: Mapping[str, str] = _NO_HEADERS,
        features: Collection[Feature] = EVERY_FEATURE,
        schema_as: SchemaForm = "json_schema",
        max_bytes: int = 64 * 2**20,
    ) -> None:
        if not model:
            raise ValueError("model is empty; name a model that the server has")
        if timeout is not None and not timeout > 0:
            raise ValueError(f"timeout is {timeout:g}; give seconds above zero, or None to wait without end")
        key = checked_key(api_key)
        self._base_url = _checked_url(base_url)
        self._headers = Covered(
            {"content-type": "application/json", "accept-encoding": "identity"} | checked_headers(headers)
        )
        if key:
            self._headers["authorization"] = f"Bearer {key}"
        shared = {} if client is None else dict(client.headers)
        self._place = Place(f"{self._base_url}/chat/completions", model, Secrets.of(key, {**shared, **headers}))
        self._model = model
        self._client = client
        # Connections belong to the event loop that they were made in.
        self._own: RunVar[httpx.AsyncClient | None] = RunVar(f"client of chat model {next(_numbers)}", None)
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._schema_as: SchemaForm = schema_as
        self.features = features_of("ChatModel", features)

    @property
    def name(self) -> str:
        """The name of the model, as the server knows it."""
        return self._model

    @property
    def base_url(self) -> str:
        """Where the server is."""
        return self._base_url

    def payload(self, request: ModelRequest, *, streaming: bool = False) -> bytes:
        """Return the body of the request, byte for byte as it would be sent."""
        return _json(self._asked(request, streaming))

    async def complete(self, request: ModelRequest) -> ModelReply[Any]:
        """Return the whole answer. Raises `ModelError` when there is none."""
        asked = self._asked(request, False)
        transfer = await self._send(asked, "application/json")
        try:
            body = await transfer.read()
        finally:
            await transfer.aclose()
        return self._reply(request, asked, transfer, body)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk, None]:
        """Yield the answer in pieces, the last one with usage and `finish_reason`. Closing it ends the request.

        Raises `ModelError` when there is none, or when it breaks off; its `text` is what was said until then.
        """
        asked = self._asked(request, True)
        transfer = await self._send(asked, "text/event-stream, application/json")
        try:
            if "event-stream" in transfer.kind:
                pieces = ChatStream(transfer, self._place)
                while (chunk := await pieces.next()) is not None:
                    yield chunk
                usage = pieces.usage or estimated_usage(self, request, pieces.reply())
                yield Chunk(usage=usage, finish_reason=pieces.finish_reason, warnings=asked.warnings)
                await transfer.drain()
            else:
                reply = self._reply(request, asked, transfer, await transfer.read())
                for chunk in pieces_of(reply):
                    yield chunk
        finally:
            await transfer.aclose()

    async def aclose(self) -> None:
        """Close the connections of the model's own client, those of this event loop."""
        client = self._own.get()
        self._own.set(None)
        if client is not None:
            with anyio.CancelScope(shield=True):
                await client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"ChatModel({self._model!r}, base_url={self._base_url!r})"

    def _asked(self, request: ModelRequest, streaming: bool) -> Asked:
        return asked_of(self._model, request, self.features, self._schema_as, streaming=streaming)

    async def _send(self, asked: Asked, accept: str) -> Transfer:
        from .chat_transfer import Transfer, open_client  # noqa: PLC0415 - httpx is loaded by the first request

        client = self._client or self._own.get()
        if client is None:
            client = open_client(self._place)
            self._own.set(client)
        transfer = Transfer(client, self._place, self._timeout, self._max_bytes)
        await transfer.send(_json(asked), Covered(self._headers, accept=accept))
        return transfer

    def _reply(self, request: ModelRequest, asked: Asked, transfer: Transfer, body: bytes) -> ModelReply[Any]:
        try:
            answer = read_reply(body)
        except ValueError:
            answer = None
        if answer is not None and answer.error:
            raise self._place.said(fault_of({"error": answer.error}))
        reply = reply_of(answer) if answer is not None else None
        if reply is None:
            raise self._place.foreign(transfer.status, transfer.kind, body)
        reply = veiled(self._place.secrets, reply)
        usage = reply.usage if reply.usage.total else estimated_usage(self, request, reply)
        return replace(reply, usage=usage, warnings=asked.warnings, model=reply.model or self._model)


def _checked_url(url: str) -> str:
    """Return the URL without the slash at its end. Raises `ValueError`, without what may be secret."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises for a port that is none
    except ValueError:
        raise ValueError("base_url is no URL; it looks like http://127.0.0.1:8000/v1") from None
    if parts.username is not None or parts.password is not None:
        raise ValueError("base_url has a user name or a password in it; give the secret as api_key or in headers")
    if parts.query or parts.fragment:
        raise ValueError("base_url ends at its path; leave out what follows the ? or #")
    if parts.scheme not in ("http", "https") or not parts.hostname or any(one <= " " for one in url):
        raise ValueError(f"base_url is {url!r}; it begins with http:// or https:// and a host")
    if parts.path.rstrip("/").endswith("/chat/completions"):
        raise ValueError(f"base_url is {url!r}; leave out /chat/completions, which is added to it")
    return url.rstrip("/")


def _json(asked: Asked) -> bytes:
    try:
        text = json.dumps(asked.body, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
    except (TypeError, ValueError) as error:
        raise ContractError(f"the request cannot be written as JSON: {error}") from None
    return text.encode(errors="replace")


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")
