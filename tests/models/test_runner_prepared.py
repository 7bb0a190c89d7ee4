"""Prepared requests: a snapshot, measured at will, sent once."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.models.chats import as_sent

from flowcore import Budget, BudgetExhausted, ContractError, Scope
from flowcore.errors import ContextOverflow
from flowcore.messages import Attachment, Chunk, Message, ModelRequest, ModelSettings, ToolSchema
from flowcore.models import ModelRunner
from flowcore.testing import ScriptedModel


class City(BaseModel):
    name: str
    people: int


ANSWER = '{"name": "Bonn", "people": 3}'


class Wire:
    """A server that keeps the bytes it got, and a runner for it."""

    def __init__(self, **options: Any) -> None:
        self.bodies: list[bytes] = []
        self.client = httpx.AsyncClient(transport=httpx.MockTransport(self._answer))
        self.runner = ModelRunner("m", base_url="http://a.example/v1", client=self.client, **options)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(request.content)
        message = {"role": "assistant", "content": ANSWER}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return as_sent({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 3}})


async def nothing(chunk: Chunk) -> None: ...


@pytest.mark.behaviour("S2-45")
async def test_a_prepared_request_is_sent_as_it_was_whatever_becomes_of_its_sources() -> None:
    parameters: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}}
    tools = [ToolSchema("find", "Finds a city.", parameters)]
    extra: dict[str, Any] = {"metadata": {"tries": [1]}}
    history = [Message("user", "before")]
    model = ScriptedModel(["yes", "yes"])
    runner = ModelRunner(model)
    prepared = runner.prepare(
        instructions="Be short.", tools=tools, settings=ModelSettings(extra=extra), messages=history
    )
    before = prepared.measure("hello")
    wanted = ModelRequest(
        (Message("system", "Be short."), Message("user", "before"), Message("user", "hello")),
        (ToolSchema("find", "Finds a city.", {"type": "object", "properties": {"city": {"type": "string"}}}),),
        settings=ModelSettings(extra={"metadata": {"tries": [1]}}),
    )
    parameters["properties"]["city"]["type"] = "integer"
    extra["metadata"]["tries"].append(2)
    tools.clear()
    history.append(Message("user", "more"))
    async with Scope():
        assert prepared.measure("hello") == before
        await runner.invoke("hello", prepared=prepared)
    assert model.requests == [wanted]


@pytest.mark.behaviour("S2-46")
async def test_a_hundred_measures_are_equal_and_cost_nothing() -> None:
    model = ScriptedModel(["yes"])
    prepared = ModelRunner(model, context_limit=1000).prepare(instructions="Be short.", output=City)
    async with Scope(Budget(requests=1)) as scope:
        measures = {prepared.measure([Message("user", "hello")]) for _ in range(100)}
    assert len(measures) == 1
    assert (model.requests, scope.used.requests, scope.remaining["requests"]) == ([], 0, 1)


@pytest.mark.behaviour("S2-47")
async def test_a_prepared_request_is_used_once_and_by_its_own_runner() -> None:
    model = ScriptedModel([ANSWER, "never"])
    runner, other = ModelRunner(model), ModelRunner(model)
    prepared = runner.prepare(output=City)
    async with Scope() as scope:
        with pytest.raises(ContractError, match="prepared by another runner"):
            await other.invoke("hello", prepared=prepared)
        reply = await runner.invoke("hello", prepared=prepared)
        with pytest.raises(ContractError, match="was used already"):
            await runner.invoke("hello", prepared=prepared)
        with pytest.raises(ContractError, match="give them to `prepare`"):
            await runner.invoke("hello", prepared=runner.prepare(), settings=ModelSettings())  # type: ignore[call-overload]
    assert reply.value == City(name="Bonn", people=3)
    assert (len(model.requests), scope.used.requests) == (1, 1)


@pytest.mark.behaviour("S2-48")
async def test_the_measure_is_that_of_the_bytes_that_are_sent() -> None:
    wire = Wire()
    runner = wire.runner
    plain = runner.prepare().measure("hello")
    typed = runner.prepare(output=City).measure("hello")
    instructed = runner.prepare(instructions="Be short.", output=City)
    assert plain.size < typed.size < instructed.measure("hello").size
    assert plain.tokens < typed.tokens < instructed.measure("hello").tokens
    streamed = instructed.measure("hello", streaming=True)
    async with wire.client, Scope():
        await runner.invoke("hello")
        await runner.invoke("hello", output=City)
        await runner.invoke("hello", prepared=instructed)
        await runner.invoke("hello", prepared=runner.prepare(instructions="Be short.", output=City), sink=nothing)
    sizes = [len(body) for body in wire.bodies]
    assert sizes == [plain.size, typed.size, instructed.measure("hello").size, streamed.size]
    assert json.loads(wire.bodies[2])["messages"][0] == {"role": "system", "content": "Be short."}


@pytest.mark.behaviour("S2-48", "S2-49")
async def test_what_a_stream_sends_beside_is_within_the_limit_too() -> None:
    prepared = Wire().runner.prepare()
    whole, streamed = (prepared.measure("hello", streaming=streaming).tokens for streaming in (False, True))
    assert whole < streamed
    wire = Wire(context_limit=whole)
    async with wire.client, Scope():
        with pytest.raises(ContextOverflow, match=f"about {streamed} tokens, and m reads {whole}"):
            await wire.runner.invoke("hello", sink=nothing)
        assert wire.bodies == []
        await wire.runner.invoke("hello")
    assert len(wire.bodies) == 1


texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), texts), min_size=1, max_size=5), texts)
def test_whatever_is_said_the_measure_is_that_of_what_is_sent(
    said: list[tuple[Any, str]], instructions: str
) -> None:
    messages = [Message(role, text) for role, text in said]
    runner = ModelRunner("m", base_url="http://a.example/v1")
    prepared = runner.prepare(instructions=instructions, output=City)
    measure = prepared.measure(messages)
    plain = runner.prepare(instructions=instructions).measure(messages)
    more = prepared.measure([*messages, Message("user", "x")])
    assert plain.size < measure.size < more.size
    assert measure.tokens == -(-measure.size // 4)


@pytest.mark.behaviour("S2-49")
async def test_what_was_measured_is_checked_once_more_when_it_is_sent() -> None:
    model = ScriptedModel(["yes"])
    runner = ModelRunner(model, context_limit=30)
    async with Scope(Budget(requests=1)) as scope:
        first, second = runner.prepare(), runner.prepare()
        assert first.measure("hello").fits
        with pytest.raises(ContextOverflow):
            await runner.invoke("hello" * 30, prepared=first)
        assert scope.used.requests == 0
        assert second.measure("hello").fits
        scope.charge(requests=1)
        with pytest.raises(BudgetExhausted):
            await runner.invoke("hello", prepared=second)
    assert model.requests == []


@pytest.mark.behaviour("S2-50")
async def test_preparing_keeps_no_quota_back() -> None:
    model = ScriptedModel(["yes"])
    runner = ModelRunner(model)
    async with Scope(Budget(requests=1)) as scope:
        first, second = runner.prepare(), runner.prepare()
        assert scope.remaining["requests"] == 1
        assert (await runner.invoke("hello", prepared=first)).text == "yes"
        with pytest.raises(BudgetExhausted):
            await runner.invoke("hello", prepared=second)
    assert len(model.requests) == 1


def test_a_model_that_counts_is_believed() -> None:
    class Counting(ScriptedModel):
        def count_tokens(self, request: ModelRequest) -> int:
            return 7

    measure = ModelRunner(Counting([]), context_limit=10).prepare().measure("hello")
    assert (measure.tokens, measure.estimated, measure.fits, measure.limit) == (7, False, True, 10)
    full = (
        ModelRunner(Counting([]), context_limit=10, settings=ModelSettings(max_tokens=4))
        .prepare()
        .measure("hello")
    )
    assert (full.needed, full.fits) == (11, False)


def test_an_attachment_is_a_thousand_tokens_whatever_its_size() -> None:
    prepared = ModelRunner(ScriptedModel([])).prepare()
    small, large = (
        prepared.measure([Message("user", "look", attachments=(Attachment("image/png", b"x" * size),))])
        for size in (1, 100_000)
    )
    assert large.size > small.size + 100_000
    assert large.tokens == small.tokens == 1_000 + prepared.measure("look").tokens
