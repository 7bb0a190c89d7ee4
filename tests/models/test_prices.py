"""Prices: public ones by the address of the model, your own, or none and a warning."""

from __future__ import annotations

import httpx
import pytest
from genai_prices import Usage, calc_price
from tests.models.chats import as_sent

from flowcore import Budget, BudgetExhausted, Scope
from flowcore.messages import ModelReply, TokenUsage
from flowcore.models import ModelRunner
from flowcore.testing import ScriptedModel

UNKNOWN = "the price of {!r} is not known, so its cost is counted as 0: give `prices=`"


def served(model: str, base_url: str | None) -> ModelRunner:
    def answer(request: httpx.Request) -> httpx.Response:
        choice = {"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}
        used = {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 200}}
        return as_sent({"model": model, "choices": [choice], "usage": used})

    return ModelRunner(model, base_url=base_url, client=httpx.AsyncClient(transport=httpx.MockTransport(answer)))


@pytest.mark.parametrize("base_url", [None, "https://api.openai.com/v1"])
async def test_a_provider_is_paid_its_public_prices(base_url: str | None) -> None:
    wanted = calc_price(
        Usage(input_tokens=1000, output_tokens=100, cache_read_tokens=200), "gpt-4o", provider_id="openai"
    )
    async with Scope() as scope:
        reply = await served("gpt-4o", base_url).invoke("hello")
    assert reply.cost == scope.used.cost == pytest.approx(float(wanted.total_price))
    assert (reply.cost > 0, reply.warnings) == (True, ())


@pytest.mark.parametrize(
    ("model", "base_url"), [("gpt-4o", "http://127.0.0.1:8000/v1"), ("llm-katan", "https://api.openai.com/v1")]
)
async def test_an_unknown_price_is_not_made_up(model: str, base_url: str) -> None:
    async with Scope(Budget(cost=1.0)) as scope:
        reply = await served(model, base_url).invoke("hello")
    assert (reply.cost, scope.used.cost, scope.used.tokens) == (0, 0, 1100)
    assert reply.warnings == (UNKNOWN.format(model),)


async def test_prices_of_your_own_come_first() -> None:
    asked: list[tuple[str, TokenUsage]] = []

    def price(model: str, usage: TokenUsage) -> float | None:
        asked.append((model, usage))
        return usage.total / 100 if model == "mine" else None

    lines = [ModelReply("yes", TokenUsage(30, 20))] * 3
    async with Scope(Budget(cost=0.6)) as scope:
        runner = ModelRunner(ScriptedModel(lines, name="mine"), prices=price)
        assert (await runner.invoke("hello")).cost == 0.5
        await runner.invoke("hello")
        with pytest.raises(BudgetExhausted, match="cost"):
            await runner.invoke("hello")
    assert scope.used.cost == 1.0
    assert asked == [("mine", TokenUsage(30, 20))] * 2
    async with Scope():
        reply = await ModelRunner(ScriptedModel(lines, name="other"), prices=price).invoke("hello")
    assert (reply.cost, reply.warnings) == (0, (UNKNOWN.format("other"),))


async def test_a_cost_that_the_model_tells_is_taken_and_a_model_without_a_name_has_no_price() -> None:
    model = ScriptedModel([ModelReply("yes", TokenUsage(1, 1), cost=0.25), "yes"])
    async with Scope() as scope:
        first, second = [await ModelRunner(model).invoke("hello") for _ in range(2)]
    assert (first.cost, second.cost, scope.used.cost) == (0.25, 0, 0.25)
    assert first.warnings == second.warnings == ()
