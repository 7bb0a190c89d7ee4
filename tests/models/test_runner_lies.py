"""Models, prices and sinks that do not keep to what they promise: one clear error, and what was used is paid."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable
from decimal import Decimal
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from flowcore import Budget, Message, ModelReply, Retry, Scope
from flowcore.errors import ContextOverflow, ContractError, ModelRequestError
from flowcore.messages import Chunk, ModelRequest, TokenUsage
from flowcore.models import ModelRunner
from flowcore.testing import ScriptedLine, ScriptedModel

WRONG: Any = None


class Says:
    """A model that returns whatever it is given."""

    def __init__(self, said: Any) -> None:
        self.said = said

    async def complete(self, request: ModelRequest) -> Any:
        return self.said


class Streams(Says):
    async def stream(self, request: ModelRequest) -> AsyncIterator[Any]:
        for piece in self.said:
            yield piece


class Returns(Says):
    """A model whose `stream` lacks its yield."""

    async def stream(self, request: ModelRequest) -> Any:
        return self.said


async def swallow(chunk: Chunk) -> None:
    pass


@pytest.mark.parametrize(
    ("said", "what"),
    [
        (None, "a NoneType"),
        ("text", "a str"),
        ({"text": "x"}, "a dict"),
        (ModelReply(WRONG), "text of the model's reply is a NoneType"),
        (ModelReply("x", usage=WRONG), "usage of the model's reply is a NoneType"),
        (ModelReply("x", tool_calls=WRONG), "tool_calls of the model's reply is a NoneType"),
        (ModelReply("x", warnings=WRONG), "warnings of the model's reply is a NoneType"),
    ],
)
async def test_what_is_no_reply_is_named(said: Any, what: str) -> None:
    async with Scope():
        with pytest.raises(ContractError, match=what):
            await ModelRunner(Says(said)).invoke("hello")


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (Streams(["x"]), "yielded a str"),
        (Streams([None]), "yielded a NoneType"),
        (Streams([Chunk(WRONG)]), "is a NoneType"),
        (Returns([]), "returned a coroutine"),
    ],
)
async def test_what_is_no_stream_is_named(model: Any, what: str) -> None:
    async with Scope():
        with pytest.raises(ContractError, match=what):
            await ModelRunner(model).invoke("hello", sink=swallow)


USAGES = [TokenUsage(-5, 2), TokenUsage(5, -2), TokenUsage(5, 2, cached=-1), TokenUsage(WRONG, 3)]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("usage", USAGES)
async def test_a_usage_that_cannot_be_is_estimated(usage: TokenUsage, streaming: bool) -> None:
    model: Any = (
        Streams([Chunk("x", usage=usage, finish_reason="stop")]) if streaming else Says(ModelReply("x", usage))
    )
    async with Scope() as scope:
        reply = await ModelRunner(model).invoke("hello", sink=swallow if streaming else None)
    assert reply.usage.estimated
    assert scope.used.tokens == reply.usage.total > 0
    assert reply.warnings == ("the model told a usage that cannot be, so it was estimated",)


@pytest.mark.parametrize("cost", [-1.0, math.nan, math.inf, "much"])
async def test_a_cost_that_cannot_be_is_not_counted(cost: Any) -> None:
    async with Scope() as scope:
        reply = await ModelRunner(Says(ModelReply("x", TokenUsage(1, 1), cost=cost))).invoke("hello")
    assert (reply.cost, scope.used.cost, scope.used.tokens) == (0.0, 0.0, 2)
    assert reply.warnings == ("the model told a cost that cannot be, so it was not counted",)


@pytest.mark.parametrize("price", [-1.0, math.nan, math.inf, "5"])
async def test_a_price_that_cannot_be_is_named_and_the_tokens_are_paid(price: Any) -> None:
    async with Scope() as scope:
        with pytest.raises(ContractError, match="the price of 'ScriptedModel' is"):
            await ModelRunner(
                ScriptedModel([ModelReply("x", TokenUsage(1, 2))]), prices=lambda name, usage: price
            ).invoke("hello")
    assert (scope.used.tokens, scope.used.cost) == (3, 0.0)


async def test_a_price_may_be_of_any_number() -> None:
    price: Any = Decimal("0.25")
    async with Scope() as scope:
        runner = ModelRunner(ScriptedModel(["x"]), prices=lambda name, usage: price)
        assert (await runner.invoke("hello")).cost == scope.used.cost == 0.25


async def test_a_price_that_raises_takes_the_place_of_no_cancellation() -> None:
    def price(name: str, usage: TokenUsage) -> float:
        raise KeyError(name)

    async with Scope() as scope:
        with anyio.CancelScope() as region:

            async def sink(chunk: Chunk) -> None:
                region.cancel()
                await anyio.lowlevel.checkpoint()

            await ModelRunner(ScriptedModel(["a b"]), prices=price).invoke("hello", sink=sink)
    assert region.cancelled_caught
    assert scope.used.tokens > 0


async def test_a_sink_that_cannot_be_awaited_is_named() -> None:
    plain: Any = lambda chunk: None  # noqa: E731
    number: Any = 5
    model = ScriptedModel(["a", "b"])
    async with Scope():
        with pytest.raises(ContractError, match="the sink returned a NoneType and cannot be awaited"):
            await ModelRunner(model).invoke("hello", sink=plain)
        with pytest.raises(ContractError, match="the sink is a int: give an async function"):
            await ModelRunner(model).invoke("hello", sink=number)
    assert len(model.requests) == 1


@pytest.mark.parametrize("slots", [1, 3])
async def test_a_sink_that_asks_its_own_runner_is_told_so_and_waits_for_nothing(slots: int) -> None:
    runner = ModelRunner(ScriptedModel(["a b", "c"]), concurrency=slots)

    async def inside() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(runner.invoke, "again")

    async def sink(chunk: Chunk) -> None:
        await runner.invoke("again")

    async with Scope(Budget(requests=9)) as scope:
        for ask in (sink, lambda chunk: inside()):
            with anyio.fail_after(5), pytest.raises((ContractError, ExceptionGroup)) as caught:
                await ModelRunner.invoke(runner, "hello", sink=ask)
            error = caught.value.exceptions[0] if isinstance(caught.value, ExceptionGroup) else caught.value
            assert f"with concurrency={slots} the two could wait for each other" in str(error)
    assert scope.used.requests == 2


async def test_a_sink_may_ask_another_runner_and_its_own_without_slots_and_afterwards() -> None:
    other, free = ModelRunner(ScriptedModel(["x"] * 9), concurrency=1), ModelRunner(ScriptedModel(["y"] * 9))

    async def ask_free(chunk: Chunk) -> None:
        if chunk.text:
            await free.invoke("inside")

    async def ask_other(chunk: Chunk) -> None:
        await other.invoke("inside")

    async with Scope():
        await ModelRunner(ScriptedModel(["a"]), concurrency=1).invoke("hello", sink=ask_other)
        await free.invoke("hello", sink=ask_free)
        await other.invoke("hello", sink=ask_free)
        assert (await other.invoke("afterwards")).text == "x"


@pytest.mark.parametrize("said", [None, 5, Message("user", "hello")])
async def test_messages_that_are_none_are_named(said: Any) -> None:
    async with Scope() as scope:
        with pytest.raises(ContractError, match=f"the messages are a {type(said).__name__}"):
            await ModelRunner(ScriptedModel(["x"])).invoke(said)
    assert scope.used.requests == 0


async def test_a_reducer_that_returns_nothing_is_named() -> None:
    reducer: Any = lambda messages, error: None  # noqa: E731
    async with Scope():
        with pytest.raises(ContractError, match="the messages are a NoneType"):
            await ModelRunner(ScriptedModel([ContextOverflow("too long")]), reducer=reducer).invoke("hello")


async def test_half_a_character_is_measured_and_sent() -> None:
    half = "\ud800"
    async with Scope():
        reply = await ModelRunner(ScriptedModel([half]), context_limit=1000).invoke(half)
    assert reply.text == half
    assert reply.usage.estimated


async def test_repairs_end_whatever_number_they_are() -> None:
    repairs: Any = 1.5
    model = ScriptedModel(["no"] * 9)
    async with Scope():
        with pytest.raises(Exception, match="after 2 repairs"):
            await ModelRunner(model, repairs=repairs).invoke("hello", output=int)
    assert len(model.requests) == 3


async def test_thousands_of_attempts_are_made() -> None:
    busy = ModelRequestError("busy", status=500, retryable=True)
    retry = Retry(attempts=1100, wait=1e-9, max_wait=1e-9)
    async with Scope() as scope:
        with pytest.raises(ModelRequestError, match="busy"):
            await ModelRunner(ScriptedModel([busy] * 1200), retry=retry).invoke("hello")
    assert scope.used.requests == 1100


LINES: list[tuple[Callable[[], Any], str]] = [
    (lambda: None, "line 1 of the scripted model is a NoneType"),
    (lambda: 5, "line 1 of the scripted model is a int"),
    (lambda: lambda request: 5, "line 1 of the scripted model is a int"),
    (lambda: swallow, "line 1 of the scripted model is a coroutine"),
]


@pytest.mark.parametrize(("line", "what"), LINES)
async def test_a_line_that_is_none_is_named(line: Callable[[], Any], what: str) -> None:
    async with Scope():
        with pytest.raises(TypeError, match=what):
            await ModelRunner(ScriptedModel([line()])).invoke("hello")


async def test_a_function_may_say_how_its_line_comes_and_one_text_is_no_list_of_lines() -> None:
    async with Scope():
        model = ScriptedModel([lambda request: ScriptedLine("late", wait=0.001)])
        assert (await ModelRunner(model).invoke("hello")).text == "late"
    with pytest.raises(TypeError, match="the lines of a scripted model are a list"):
        ScriptedModel("Paris.")
