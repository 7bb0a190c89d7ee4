"""What the tests of chat models share: requests, answers, and a look at the connections."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import httpx
from tests.servers.faulty import Behaviour, Talk, head

from flowcore.messages import Chunk, Message, ModelReply, ModelRequest, ModelSettings
from flowcore.models.assembly import Assembly
from flowcore.models.chat import ChatModel

HELLO = ModelRequest((Message("user", "hello"),))


def answering(data: Any, status: int = 200, *headers: str) -> Behaviour:
    """Returns the behaviour of a server that answers everything with this JSON."""
    body = json.dumps(data).encode()

    def behave(talk: Talk) -> None:
        talk.send(head(status, "application/json", f"Content-Length: {len(body)}", *headers), body)

    return behave


def completion(message: dict[str, Any], finish: str | None = "stop", **more: Any) -> dict[str, Any]:
    return {
        "id": "c1",
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        **more,
    }


def as_sent(data: Any, status: int = 200) -> httpx.Response:
    """Returns a response that is read as it comes, as those of servers are."""
    body = httpx.ByteStream(json.dumps(data).encode())
    return httpx.Response(status, headers={"content-type": "application/json"}, stream=body)


def asking(**settings: Any) -> ModelRequest:
    return ModelRequest(HELLO.messages, settings=ModelSettings(**settings))


def assembled(chunks: Iterable[Chunk]) -> ModelReply[Any]:
    """Returns the reply that the pieces make."""
    assembly = Assembly()
    for chunk in chunks:
        assembly.add(chunk)
    return assembly.reply()


@asynccontextmanager
async def watched(base_url: str, **options: Any) -> AsyncIterator[tuple[ChatModel, httpx.AsyncClient]]:
    """A model with a client that can be looked at."""
    async with httpx.AsyncClient(trust_env=False) as client:
        yield ChatModel("m", base_url=base_url, client=client, **options), client


def busy(client: httpx.AsyncClient) -> list[str]:
    """Returns the connections of a client that are at work, and its requests that wait for one."""
    pool = client._transport._pool  # type: ignore[attr-defined]
    held = [one for one in pool.connections if not (one.is_idle() or one.is_closed())]
    return [*map(repr, held), *map(repr, pool._requests)]
