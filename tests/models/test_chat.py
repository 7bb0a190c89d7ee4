"""A chat model against a server that others wrote: answers, streams, tools, keys, faults, limits."""

from __future__ import annotations

import json
from contextlib import aclosing, suppress

import anyio
import pytest
from tests.models.chats import HELLO, assembled, watched
from tests.servers.katan import KEY, Katan

from flowcore.errors import ModelRequestError, ModelTimeout
from flowcore.messages import Message, ModelRequest, TokenUsage, ToolSchema
from flowcore.models.chat import ChatModel

FIND = ToolSchema(
    "find",
    "Find a page.",
    {"type": "object", "properties": {"title": {"type": "string"}, "page": {"type": "integer"}}},
)
ASKED = ModelRequest(HELLO.messages, tools=(FIND,))


async def test_it_answers_whole(katan: Katan) -> None:
    async with ChatModel("small", base_url=katan().base_url, api_key=KEY) as model:
        reply = await model.complete(HELLO)

    assert reply.text.startswith("[echo] model=echo ")
    assert reply.text.endswith("\nUser: hello")
    assert (reply.finish_reason, reply.model, reply.warnings) == ("stop", "small", ())
    assert reply.usage == TokenUsage(1, 9)
    assert reply.id.startswith("chatcmpl-")


async def test_it_answers_in_pieces_what_it_answers_whole(katan: Katan) -> None:
    async with ChatModel("small", base_url=katan().base_url, api_key=KEY) as model:
        whole = await model.complete(HELLO)
        chunks = [chunk async for chunk in model.stream(HELLO)]
    reply = assembled(chunks)

    assert len(chunks) > 20
    assert reply.text.partition("\n")[2] == whole.text.partition("\n")[2] == "User: hello"
    assert (reply.usage, reply.finish_reason, reply.model) == (whole.usage, "stop", "small")
    assert [chunk.finish_reason for chunk in chunks if chunk.finish_reason] == ["stop"]
    assert chunks[-1].finish_reason == "stop"


@pytest.mark.behaviour("S3-31")
async def test_a_tool_call_is_proposed_and_nothing_runs(katan: Katan) -> None:
    async with ChatModel("small", base_url=katan().base_url, api_key=KEY) as model:
        whole = await model.complete(ASKED)
        streamed = assembled([chunk async for chunk in model.stream(ASKED)])

    for reply in (whole, streamed):
        assert reply.finish_reason == "tool_calls"
        (call,) = reply.tool_calls
        assert (call.name, json.loads(call.arguments)) == ("find", {"title": "test_title", "page": 1})
        assert call.id.startswith("call_")


async def test_the_answer_to_a_tool_call_is_sent_along(katan: Katan) -> None:
    async with ChatModel("small", base_url=katan().base_url, api_key=KEY) as model:
        proposal = await model.complete(ASKED)
        call = proposal.tool_calls[0]
        reply = await model.complete(
            ModelRequest(
                (
                    *HELLO.messages,
                    Message("assistant", "", tool_calls=(call,)),
                    Message("tool", "page 7", tool_call_id=call.id),
                )
            )
        )

    assert "messages=3" in reply.text


async def test_one_connection_serves_one_request_after_the_other(katan: Katan) -> None:
    async with watched(katan().base_url, api_key=KEY) as (model, client):
        for _ in range(3):
            await model.complete(HELLO)
            async with aclosing(model.stream(HELLO)) as chunks:
                assert [chunk.finish_reason async for chunk in chunks][-1] == "stop"
        pool = client._transport._pool  # type: ignore[attr-defined]
        assert [connection.is_idle() for connection in pool.connections] == [True]


async def test_a_closed_model_answers_again(katan: Katan) -> None:
    model = ChatModel("small", base_url=katan().base_url, api_key=KEY)
    for _ in range(2):
        async with model:
            assert (await model.complete(HELLO)).finish_reason == "stop"


def test_one_model_serves_one_event_loop_after_the_other(katan: Katan) -> None:
    model = ChatModel("small", base_url=katan().base_url, api_key=KEY)

    async def ask() -> str:
        async with model:
            return (await model.complete(HELLO)).finish_reason

    assert [anyio.run(ask, backend=backend) for backend in ("asyncio", "trio", "asyncio")] == ["stop"] * 3


@pytest.mark.behaviour("S0-43")
@pytest.mark.parametrize(
    ("key", "said"),
    [(None, "missing Authorization header"), ("sk-a-wrong-key-4711", "invalid API key for openai: got '***'")],
)
async def test_a_wrong_key_is_refused_and_never_shown(katan: Katan, key: str | None, said: str) -> None:
    server = katan("--validate-keys", "--api-keys", f"openai={KEY}")
    async with ChatModel("small", base_url=server.base_url, api_key=key) as model:
        with pytest.raises(ModelRequestError, match="answered 401: ") as caught:
            await model.complete(HELLO)
        with pytest.raises(ModelRequestError, match="answered 401: "):
            await anext(model.stream(HELLO))

    error = caught.value
    assert (error.status, error.retryable, error.retry_after) == (401, False, None)
    assert said in str(error)
    assert "check api_key" in str(error)
    assert "4711" not in repr(error)


@pytest.mark.behaviour("S0-42")
@pytest.mark.parametrize(
    ("options", "status"),
    [
        (("--rate-limit-after", "1"), 429),
        (("--timeout-after", "1"), 504),
        (("--error-rate", "1.0"), 500),
    ],
)
async def test_a_server_that_is_troubled_may_be_asked_again(
    katan: Katan, options: tuple[str, ...], status: int
) -> None:
    async with watched(katan(*options).base_url, api_key=KEY) as (model, client):
        with suppress(ModelRequestError):  # the first one is answered
            await model.complete(HELLO)
        for _ in range(2):
            with pytest.raises(ModelRequestError) as caught:
                await model.complete(HELLO)
            assert (caught.value.status, caught.value.retryable) == (status, True)
        with pytest.raises(ModelRequestError) as caught:
            await anext(model.stream(HELLO))
        assert caught.value.status == status
        assert len(client._transport._pool.connections) <= 1  # type: ignore[attr-defined]


async def test_an_address_without_v1_is_told(katan: Katan) -> None:
    async with ChatModel("small", base_url=f"http://127.0.0.1:{katan().port}", api_key=KEY) as model:
        with pytest.raises(ModelRequestError) as caught:
            await model.complete(HELLO)
    assert str(caught.value).endswith(
        "/chat/completions answered 404: Not Found (the server has no chat completions there; check base_url: "
        "does it end in /v1?)"
    )
    assert (caught.value.status, caught.value.retryable) == (404, False)


async def test_a_server_slower_than_the_timeout_is_late(katan: Katan) -> None:
    slow = katan("--latency-ms", "3000")
    async with ChatModel("small", base_url=slow.base_url, api_key=KEY, timeout=1.0) as model:
        with pytest.raises(ModelTimeout, match=r"no answer within 1 s$") as caught:
            await model.complete(HELLO)
    assert caught.value.seconds == 1.0


async def test_a_stream_that_falls_silent_is_late_and_keeps_what_came(katan: Katan) -> None:
    slow = katan("--chunk-delay-ms", "3000")
    async with watched(slow.base_url, api_key=KEY, timeout=1.0) as (model, client):
        with pytest.raises(ModelTimeout, match=r"no further piece of the answer within 1 s$") as caught:
            await anext(model.stream(HELLO))
        assert caught.value.text == ""
        assert client._transport._pool.connections == []  # type: ignore[attr-defined]
