"""Clients of one's own: stood in for by a mock, closed too early, or not to be had in this environment."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

import anyio
import httpx
import pytest
from anyio.lowlevel import checkpoint
from tests.models.chats import HELLO, assembled, completion
from tests.servers.faulty import Talk, faulty, piece

from flowcore.errors import ModelError, ModelRequestError
from flowcore.models import ChatModel

HI = completion({"content": "hi"}, usage={"prompt_tokens": 3, "completion_tokens": 1})
EVENTS = b"".join((piece("h"), piece("i"), piece("", "stop"), b"data: [DONE]\n\n"))
STREAM = {"content-type": "text/event-stream"}


async def in_parts() -> AsyncIterator[bytes]:
    for place in range(0, len(EVENTS), 7):
        yield EVENTS[place : place + 7]


async def without_end() -> AsyncIterator[bytes]:
    while True:
        yield piece("again and again")


def mocked(response: Any, **options: Any) -> ChatModel:
    client = httpx.AsyncClient(transport=httpx.MockTransport(lambda request: response()))
    return ChatModel("m", base_url="http://mocked/v1", client=client, **options)


RESPONSES = {
    "json": lambda: httpx.Response(200, json=HI),
    "text": lambda: httpx.Response(200, text=json.dumps(HI), headers={"content-type": "application/json"}),
    "events": lambda: httpx.Response(200, content=EVENTS, headers=STREAM),
    "events as they come": lambda: httpx.Response(200, content=in_parts(), headers=STREAM),
    "identity": lambda: httpx.Response(200, json=HI, headers={"content-encoding": " Identity "}),
}


@pytest.mark.parametrize("response", RESPONSES)
async def test_every_kind_of_mocked_answer_is_read(response: str) -> None:
    model = mocked(RESPONSES[response])
    for _ in range(2):
        assert assembled([chunk async for chunk in model.stream(HELLO)]).text == "hi"
        if "events" not in response:
            assert (await model.complete(HELLO)).text == "hi"


@pytest.mark.parametrize("kind", ["json", "text"])
async def test_a_mocked_refusal_is_read(kind: str) -> None:
    body: Any = {"error": {"message": "busy"}}
    options: Any = {"json": body} if kind == "json" else {"text": json.dumps(body)}
    with pytest.raises(ModelRequestError, match="answered 503: busy"):
        await mocked(lambda: httpx.Response(503, **options)).complete(HELLO)


async def until_left(model: ChatModel, then: Callable[[], Awaitable[object]] = checkpoint) -> None:
    """Reads a stream, and does something after each piece."""
    async with aclosing(model.stream(HELLO)) as chunks:
        async for _ in chunks:
            await then()


async def with_bytes(count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield piece("again")


async def test_a_mocked_stream_that_goes_on_and_never_waits_is_left() -> None:
    response = lambda: httpx.Response(200, content=with_bytes(500), headers=STREAM)  # noqa: E731
    with anyio.fail_after(10), pytest.raises(ModelError, match="larger than 9,000 bytes"):
        await until_left(mocked(response, max_bytes=9_000))


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # trio warns of a generator that nobody can close
async def test_a_mocked_stream_without_an_end_is_left() -> None:
    response = lambda: httpx.Response(200, content=without_end(), headers=STREAM)  # noqa: E731
    with pytest.raises(ModelError, match="larger than 9,000 bytes"):
        await until_left(mocked(response, max_bytes=9_000))


@pytest.mark.behaviour("MODEL-3")
async def test_a_client_that_was_closed_is_named() -> None:
    client = httpx.AsyncClient()
    await client.aclose()
    with pytest.raises(ModelRequestError, match="the client was closed; keep it open until the end") as caught:
        await ChatModel("m", base_url="http://127.0.0.1:1/v1", client=client).complete(HELLO)
    assert not caught.value.retryable


@pytest.mark.behaviour("MODEL-3")
async def test_a_client_that_is_closed_amid_an_answer_is_named() -> None:
    def behave(talk: Talk) -> None:
        talk.stream(piece("so far"))
        talk.wait_until_left()

    with faulty(behave) as server:
        client = httpx.AsyncClient(trust_env=False)
        model = ChatModel("m", base_url=server.base_url, client=client)
        with pytest.raises(ModelRequestError, match="the client was closed") as caught:
            await until_left(model, client.aclose)
    assert (caught.value.text, caught.value.retryable) == ("so far", False)


@pytest.mark.behaviour("MODEL-3")
@pytest.mark.parametrize(
    ("name", "value"), [("ALL_PROXY", "odd://me:secret-4711@h:1"), ("SSL_CERT_FILE", "/not/there.pem")]
)
async def test_an_environment_that_asks_for_what_cannot_be_had_is_one_error(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    async with ChatModel("m", base_url="http://127.0.0.1:1/v1") as model:
        with pytest.raises(ModelRequestError, match=r"cannot be asked: .* \(see HTTPS_PROXY") as caught:
            await model.complete(HELLO)
    assert "4711" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None


async def test_a_mocked_answer_may_be_given_twice_but_not_its_stream() -> None:
    whole = httpx.Response(200, json=HI)
    model = mocked(lambda: whole)
    assert [(await model.complete(HELLO)).text for _ in range(2)] == ["hi", "hi"]

    once = httpx.Response(200, content=in_parts(), headers=STREAM)
    model = mocked(lambda: once)
    assert assembled([chunk async for chunk in model.stream(HELLO)]).text == "hi"
    with pytest.raises(ModelRequestError, match="was read before: a response with a stream") as caught:
        await until_left(model)
    assert not caught.value.retryable


async def raise_for_status(response: httpx.Response) -> None:
    response.raise_for_status()


@pytest.mark.parametrize(("status", "retryable"), [(401, False), (503, True)])
async def test_a_client_that_refuses_by_itself_is_understood(status: int, retryable: bool) -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(status, json={}))
    hooks: Any = {"response": [raise_for_status]}
    async with httpx.AsyncClient(transport=transport, event_hooks=hooks) as client:
        with pytest.raises(ModelRequestError, match=f"answered {status}") as caught:
            await ChatModel("m", base_url="http://mocked/v1", client=client).complete(HELLO)
    assert (caught.value.status, caught.value.retryable) == (status, retryable)
    assert caught.value.__cause__ is caught.value.__context__ is None
