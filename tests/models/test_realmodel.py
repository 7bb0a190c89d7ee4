"""A chat model against a real model: `scripts/setup-realmodel` once, then `scripts/test -m realmodel`."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace

import anyio
import pytest
from tests.models.chats import assembled
from tests.servers.process import Served
from tests.servers.smollm import CONTEXT, smollm

from flowcore.errors import ContextOverflow, ModelError
from flowcore.messages import Message, ModelRequest, ModelSettings, OutputSchema
from flowcore.models.chat import ChatModel

__all__ = ["smollm"]

pytestmark = [pytest.mark.realmodel, pytest.mark.timeout(300)]

HELLO = ModelRequest(
    (Message("user", "Say hello."),), settings=ModelSettings(temperature=0.0, max_tokens=24, seed=1)
)
STORY = ModelRequest(
    (Message("user", "Tell a very long story."),), settings=ModelSettings(temperature=0.0, max_tokens=400, seed=1)
)


@pytest.fixture
async def model(smollm: Served) -> AsyncIterator[ChatModel]:
    async with ChatModel("smollm2", base_url=smollm.base_url, timeout=200, schema_as="json_object") as model:
        yield model


async def test_it_answers(model: ChatModel) -> None:
    reply = await model.complete(HELLO)

    assert reply.text.strip()
    assert reply.finish_reason in ("stop", "length")
    assert not reply.usage.estimated
    assert 5 < reply.usage.input < 60
    assert 0 < reply.usage.output <= 24


async def test_a_streamed_answer_is_the_whole_answer(model: ChatModel) -> None:
    whole = await model.complete(HELLO)
    chunks = [chunk async for chunk in model.stream(HELLO)]
    streamed = assembled(chunks)

    assert (streamed.text, streamed.finish_reason) == (whole.text, whole.finish_reason)
    assert sum(bool(chunk.text) for chunk in chunks) > 3
    assert streamed.usage.output > 0


async def test_an_answer_fits_its_schema(model: ChatModel) -> None:
    schema = {
        "type": "object",
        "properties": {"colour": {"type": "string", "maxLength": 12}, "warm": {"type": "boolean"}},
        "required": ["colour", "warm"],
        "additionalProperties": False,
    }
    asked = ModelRequest(
        (Message("user", "Name a colour, as JSON."),),
        output=OutputSchema("colour", schema),
        settings=replace(HELLO.settings, max_tokens=60),
    )
    answer = json.loads((await model.complete(asked)).text)
    assert isinstance(answer["colour"], str)
    assert isinstance(answer["warm"], bool)
    assert len(answer) == 2


async def test_leaving_a_stream_ends_the_work_of_the_server(model: ChatModel, smollm: Served) -> None:
    gone = smollm.log().count("Disconnected from client")
    async with aclosing(model.stream(STORY)) as chunks:
        async for chunk in chunks:
            if chunk.text:
                break
    await model.complete(HELLO)
    assert smollm.log().count("Disconnected from client") == gone + 1


async def test_cancelling_a_stream_ends_the_work_of_the_server(model: ChatModel, smollm: Served) -> None:
    gone = smollm.log().count("Disconnected from client")
    async with anyio.create_task_group() as group:

        async def listen() -> None:
            async for chunk in model.stream(STORY):
                if chunk.text:
                    group.cancel_scope.cancel()

        group.start_soon(listen)
    await model.complete(HELLO)
    assert smollm.log().count("Disconnected from client") == gone + 1


async def test_an_overflow_of_its_window_is_recognised(model: ChatModel) -> None:
    long = ModelRequest((Message("user", "word " * 900),), settings=HELLO.settings)
    with pytest.raises(ContextOverflow) as caught:
        await model.complete(long)
    assert caught.value.limit == CONTEXT
    assert caught.value.needed is not None
    assert caught.value.needed > 900


async def test_an_overflow_while_streaming_is_an_error_at_least(model: ChatModel) -> None:
    """This server begins the stream, finds out, and breaks it off without a word."""
    long = ModelRequest((Message("user", "word " * 900),), settings=HELLO.settings)
    with pytest.raises(ModelError, match="was cut"):
        await anext(model.stream(long))
