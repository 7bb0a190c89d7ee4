"""What is too large: not sent, and never shortened by the runner itself."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from flowcore import Budget, BudgetExhausted, Scope
from flowcore.errors import ContextOverflow
from flowcore.messages import Chunk, Message, ModelSettings
from flowcore.models import ModelRunner
from flowcore.testing import ScriptedLine, ScriptedModel

LONG = [Message("user", "one"), Message("assistant", "two"), Message("user", "three")]
TOO_LONG = ContextOverflow("maximum context length is 10 tokens")


def last(messages: Sequence[Message], error: ContextOverflow) -> Sequence[Message]:
    return messages[-1:]


@pytest.mark.behaviour("S2-40")
async def test_what_is_over_the_limit_is_not_sent_and_what_is_within_it_arrives_as_it_is() -> None:
    model = ScriptedModel(["yes"])
    runner = ModelRunner(model, context_limit=100, reducer=last)
    large = [*LONG, Message("user", "  spaced \n\t" + "x" * 400)]
    async with Scope() as scope:
        with pytest.raises(ContextOverflow, match=r"about 140 tokens, and ScriptedModel reads 100") as caught:
            await runner.invoke(large)
        assert (model.requests, scope.used.requests) == ([], 0)
        small = [*LONG, Message("user", "  spaced \n\t" + "x" * 100)]
        await runner.invoke(small)
    assert (caught.value.limit, caught.value.needed) == (100, runner.prepare().measure(large).needed)
    assert list(model.requests[0].messages) == small


async def test_the_room_for_the_answer_is_counted() -> None:
    runner = ModelRunner(ScriptedModel(["yes"]), context_limit=100)
    async with Scope():
        with pytest.raises(ContextOverflow, match="and 95 for the answer"):
            await runner.invoke("hello", settings=ModelSettings(max_tokens=95))
        await runner.invoke("hello", settings=ModelSettings(max_tokens=50))


@pytest.mark.behaviour("S0-40")
async def test_an_overflow_of_the_provider_is_reduced_and_sent_once_more() -> None:
    model = ScriptedModel([TOO_LONG, "yes", TOO_LONG, TOO_LONG, "never"])
    runner = ModelRunner(model, reducer=last)
    async with Scope() as scope:
        assert (await runner.invoke(LONG)).text == "yes"
        assert [list(request.messages) for request in model.requests] == [LONG, LONG[-1:]]
        with pytest.raises(ContextOverflow):
            await runner.invoke(LONG)
    assert len(model.requests) == scope.used.requests == 4


@pytest.mark.behaviour("S0-40")
async def test_messages_are_reduced_once_though_the_answer_has_to_be_repaired() -> None:
    reduced: list[int] = []

    def shorten(messages: Sequence[Message], error: ContextOverflow) -> Sequence[Message]:
        reduced.append(len(messages))
        return messages[-1:]

    model = ScriptedModel([TOO_LONG, "no number", TOO_LONG, "never"])
    async with Scope() as scope:
        with pytest.raises(ContextOverflow):
            await ModelRunner(model, reducer=shorten).invoke(LONG, output=int)
    assert reduced == [3]
    assert len(model.requests) == scope.used.requests == 3


async def test_a_reducer_may_wait_and_must_shorten() -> None:
    async def same(messages: Sequence[Message], error: ContextOverflow) -> Sequence[Message]:
        return list(messages)

    model = ScriptedModel([TOO_LONG])
    async with Scope():
        with pytest.raises(ContextOverflow):
            await ModelRunner(model, reducer=same).invoke(LONG)
    assert len(model.requests) == 1


async def test_the_request_that_was_reduced_is_charged_too() -> None:
    model = ScriptedModel([TOO_LONG])
    async with Scope(Budget(requests=1)):
        with pytest.raises(BudgetExhausted):
            await ModelRunner(model, reducer=last).invoke(LONG)
    assert len(model.requests) == 1


async def test_an_overflow_after_pieces_were_handed_on_is_not_sent_again() -> None:
    seen: list[Chunk] = []

    async def sink(chunk: Chunk) -> None:
        seen.append(chunk)

    model = ScriptedModel([ScriptedLine("so far", breaks=TOO_LONG)])
    async with Scope():
        with pytest.raises(ContextOverflow):
            await ModelRunner(model, reducer=last).invoke(LONG, sink=sink)
    assert "".join(chunk.text for chunk in seen) == "so far"
    assert len(model.requests) == 1
