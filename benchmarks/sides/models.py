"""A chat model beside bare requests of httpx to the same server, and a streamed piece beside bare bytes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from functools import cache

import httpx

from flowcore.messages import Message, ModelRequest, ModelSettings
from flowcore.models.chat import ChatModel

Job = Callable[[], Awaitable[int]]
VERSIONS = ("httpx",)
_ASKED = "A question of some forty words. " * 8


@cache
def _url() -> str:
    """Start the server, which ends with this process, and return where it is."""
    server = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.answers"], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    _kept.append(server)
    assert server.stdout is not None  # it is a pipe
    return f"http://127.0.0.1:{int(server.stdout.readline())}/v1"


_kept: list[subprocess.Popen[str]] = []


def _client() -> httpx.AsyncClient:
    # Without certificates, whose reading would be most of the work.
    return httpx.AsyncClient(verify=False, trust_env=False)


def _body(**more: object) -> dict[str, object]:
    return {"model": "m", "messages": [{"role": "user", "content": _ASKED}], **more}


def _request(count: int | None = None) -> ModelRequest:
    return ModelRequest((Message("user", _ASKED),), settings=ModelSettings(max_tokens=count))


def bare_call(size: int) -> Job:
    url = f"{_url()}/chat/completions"

    async def job() -> int:
        said = 0
        async with _client() as client:
            for _ in range(size):
                reply = (await client.post(url, json=_body())).json()
                said += bool(reply["choices"][0]["message"]["content"])
        return said

    return job


def call(size: int) -> Job:
    url = _url()

    async def job() -> int:
        said = 0
        async with _client() as client:
            model = ChatModel("m", base_url=url, client=client)
            for _ in range(size):
                said += bool((await model.complete(_request())).text)
        return said

    return job


def bare_stream(size: int) -> Job:
    url = f"{_url()}/chat/completions"

    async def job() -> int:
        said = 0
        body = json.dumps(_body(stream=True, max_tokens=size))
        async with _client() as client, client.stream("POST", url, content=body) as response:
            async for part in response.aiter_bytes():
                said += part.count(b"word ")
        return said

    return job


def stream(size: int) -> Job:
    url = _url()

    async def job() -> int:
        said = 0
        async with _client() as client:
            async for chunk in ChatModel("m", base_url=url, client=client).stream(_request(size)):
                said += bool(chunk.text)
        return said

    return job
