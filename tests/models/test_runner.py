"""The runner: what it sends, who pays, and what comes back."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import anyio
import httpx
import pytest
from pydantic import BaseModel
from tests.models.chats import as_sent

from flowcore import Budget, BudgetExhausted, ContractError, Scope
from flowcore.errors import FlowcoreError, ModelRequestError, ModelTimeout
from flowcore.messages import Message, ModelReply, ModelRequest, ModelSettings, TokenUsage, ToolCall, ToolSchema
from flowcore.models import ChatModel, ModelRunner
from flowcore.testing import FakeClock, ScriptedLine, ScriptedModel
from flowcore.tools import ToolCatalog

CLOCK = ToolSchema("clock", "Says what time it is.", {"type": "object", "properties": {}})
KEY = "sk-this-is-the-key"


class City(BaseModel):
    name: str
    people: int


def used(scope: Scope) -> tuple[int, int, float]:
    return scope.used.requests, scope.used.tokens, scope.used.cost


# ---- Without a flow ----------------------------------------------------------------------------------------


@pytest.mark.behaviour("S2-15", "S2-44")
async def test_a_model_is_asked_in_a_bare_scope_without_any_flow_or_preparation() -> None:
    model = ScriptedModel([ModelReply("yes", TokenUsage(10, 5), cost=0.25)])
    async with Scope(Budget(requests=3)) as scope:
        reply = await ModelRunner(model).invoke("hello")
    assert (reply.text, reply.value, reply.usage.total, reply.cost) == ("yes", "yes", 15, 0.25)
    assert used(scope) == (1, 15, 0.25)
    assert model.requests == [ModelRequest((Message("user", "hello"),))]


async def test_outside_of_every_scope_nothing_is_sent() -> None:
    model = ScriptedModel(["yes"])
    runner = ModelRunner(model)
    prepared = runner.prepare()
    with pytest.raises(LookupError, match="no scope here"):
        await runner.invoke("hello")
    with pytest.raises(LookupError, match="no scope here"):
        await runner.invoke("hello", prepared=prepared)
    assert model.requests == []
    async with Scope():
        assert (await runner.invoke("hello", prepared=prepared)).text == "yes"


async def test_a_scope_that_is_given_pays_instead_of_the_one_around() -> None:
    given = Scope(Budget(requests=1))
    async with Scope(Budget(requests=1)) as around:
        await ModelRunner(ScriptedModel(["yes"])).invoke("hello", scope=given)
    assert (used(given)[0], used(around)[0]) == (1, 0)


async def test_a_request_without_quota_is_not_sent() -> None:
    model = ScriptedModel(["yes", "yes"])
    async with Scope(Budget(requests=1)):
        await ModelRunner(model).invoke("hello")
        with pytest.raises(BudgetExhausted) as caught:
            await ModelRunner(model).invoke("hello")
    assert caught.value.dimension == "requests"
    assert len(model.requests) == 1


async def test_a_request_is_charged_before_it_is_sent() -> None:
    seen: list[int] = []

    class Looking:
        async def complete(self, request: ModelRequest) -> ModelReply[Any]:
            seen.append(scope.used.requests)
            return ModelReply("yes")

    async with Scope() as scope:
        await ModelRunner(Looking()).invoke("hello")
    assert seen == [1]


async def test_an_answer_that_overran_the_tokens_is_kept_and_the_next_request_refused() -> None:
    model = ScriptedModel([ModelReply("long", TokenUsage(10, 500)), "never"])
    async with Scope(Budget(tokens=100)):
        assert (await ModelRunner(model).invoke("hello")).text == "long"
        with pytest.raises(BudgetExhausted, match="tokens"):
            await ModelRunner(model).invoke("hello")
    assert len(model.requests) == 1


async def test_unknown_usage_is_estimated_from_what_was_sent_and_said() -> None:
    runner = ModelRunner(ScriptedModel(["four bytes and more"]))
    measure = runner.prepare().measure("hello")
    async with Scope() as scope:
        reply = await runner.invoke("hello")
    assert reply.usage == TokenUsage(measure.tokens, 5, estimated=True)
    assert scope.used.tokens == measure.tokens + 5


# ---- What is sent ------------------------------------------------------------------------------------------


async def test_settings_of_a_call_stand_over_those_of_the_runner() -> None:
    model = ScriptedModel(["yes", "yes"])
    base = ModelSettings(temperature=0.5, seed=1, stop=("a",), extra={"a": 1, "b": 1})
    runner = ModelRunner(model, settings=base)
    async with Scope():
        await runner.invoke("hello")
        over = ModelSettings(temperature=0.0, max_tokens=9, extra={"b": 2})
        await runner.invoke("hello", settings=over)
    assert model.requests[0].settings == base
    wanted = ModelSettings(0.0, max_tokens=9, stop=("a",), seed=1, extra={"a": 1, "b": 2})
    assert model.requests[1].settings == wanted


@pytest.mark.behaviour("S3-29")
async def test_a_reasoning_effort_that_the_model_has_not_is_left_out_with_one_warning() -> None:
    lines = [ConnectionError("lost"), "no JSON", '{"name": "Bonn", "people": 3}']
    model = ScriptedModel(lines, features=("tools",))
    asked = ModelSettings(reasoning_effort="high", seed=3)
    clock = FakeClock()
    async with Scope(), anyio.create_task_group() as group:
        group.start_soon(clock.advance, 60)
        runner = ModelRunner(model, clock=clock)
        reply = await runner.invoke("hello", output=City, settings=asked)
    assert [request.settings for request in model.requests] == [ModelSettings(seed=3)] * 3
    assert reply.warnings == ("reasoning_effort was left out: the model has no such setting",)
    async with Scope():
        able = ScriptedModel(["yes"])
        assert (await ModelRunner(able).invoke("hello", settings=asked)).warnings == ()
    assert able.requests[0].settings == asked


async def test_tools_are_offered_and_calls_come_back_as_they_were_written() -> None:
    proposed = ModelReply("", tool_calls=(ToolCall("1", "clock", '{"zone": '),), finish_reason="tool_calls")
    model = ScriptedModel([proposed, proposed])
    async with Scope():
        plain = await ModelRunner(model).invoke("what time is it?", tools=[CLOCK])
        typed = await ModelRunner(model).invoke("what time is it?", tools=[CLOCK], output=City)
    assert model.requests[0].tools == (CLOCK,)
    assert plain.tool_calls == typed.tool_calls == proposed.tool_calls
    assert (plain.value, typed.value) == ("", None)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tools": [CLOCK, CLOCK]}, "two tools are called 'clock'"),
        (
            {"tools": ToolCatalog([])},
            r"the tools are a ToolCatalog: give what `await catalog.for_request\(\)` returns",
        ),
        ({"tools": "clock"}, "the tools are a str"),
        ({"tools": [print]}, "a tool is a builtin_function_or_method: give what"),
        ({"settings": {"temperature": 0}}, r"the settings are a dict: give ModelSettings\(...\)"),
        (
            {"output": {"type": "object"}},
            "output={'type': 'object'}: give a type, or a TypeAdapter of one: Unknown",
        ),
        ({"output": City(name="Bonn", people=1)}, "output=City.*: give a type, or a TypeAdapter of one: Unable"),
        ({"messages": []}, "there is no message to send"),
        ({"messages": [{"role": "user", "content": "hello"}]}, "a message is a dict"),
    ],
)
async def test_what_cannot_be_sent_is_told_before_anything_is_charged(given: Any, said: str) -> None:
    model = ScriptedModel(["yes"])
    async with Scope() as scope:
        with pytest.raises(ContractError, match=said):
            await ModelRunner(model).invoke(**{"messages": "hello", **given})
    assert (model.requests, scope.used.requests) == ([], 0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"retry": 3}, r"ModelRunner\(retry=3\): give Retry\(attempts=...\), or None"),
        ({"settings": {"seed": 1}}, r"ModelRunner\(settings={'seed': 1}\): give ModelSettings\(...\)"),
        ({"features": "tools"}, "give a set of output_schema, reasoning_effort, tools"),
        ({"features": {"tool"}}, r"ModelRunner\(features={'tool'}\): give a set of"),
    ],
)
def test_a_runner_of_something_else_than_is_meant_is_not_made(given: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ModelRunner(ScriptedModel([]), **given)


def test_a_model_has_no_features_that_nobody_knows() -> None:
    with pytest.raises(ValueError, match=r"ChatModel\(features=.*\): give a set of"):
        ChatModel("small", features="tools")  # type: ignore[arg-type]


async def test_tools_for_a_model_that_takes_none_are_refused() -> None:
    async with Scope():
        with pytest.raises(ContractError, match="the model takes no tools"):
            await ModelRunner(ScriptedModel(["yes"]), features=()).invoke("hello", tools=[CLOCK])


# ---- Time, and how many at once ----------------------------------------------------------------------------


async def test_an_answer_that_is_late_is_a_model_timeout() -> None:
    clock = FakeClock()
    model = ScriptedModel([ScriptedLine("late", wait=31)], clock=clock)
    runner = ModelRunner(model, clock=clock, timeout=30, retry=None)
    async with Scope() as scope, anyio.create_task_group() as group:
        group.start_soon(clock.advance, 40)
        with pytest.raises(ModelTimeout, match="no answer within 30 s") as caught:
            await runner.invoke("hello")
    assert (caught.value.seconds, model.open, used(scope)) == (30, 0, (1, 0, 0.0))


async def test_real_time_ends_a_request_too() -> None:
    model = ScriptedModel([ScriptedLine("late", wait=60)])
    async with Scope():
        with pytest.raises(ModelTimeout, match=r"no answer within 0\.01 s"):
            await ModelRunner(model, timeout=0.01, retry=None).invoke("hello")
    assert model.open == 0


async def test_no_more_requests_are_under_way_at_once_than_the_runner_may() -> None:
    clock = FakeClock()
    most = 0

    def look(request: ModelRequest) -> str:
        nonlocal most
        most = max(most, model.open + 1)
        return "yes"

    model = ScriptedModel([ScriptedLine("yes", wait=1)] * 7 + [look] * 0, clock=clock)
    runner = ModelRunner(model, clock=clock, concurrency=3)
    async with Scope(Budget(requests=7)) as scope, anyio.create_task_group() as group:
        for _ in range(7):
            group.start_soon(runner.invoke, "hello")
        under_way = []
        for _ in range(3):
            await anyio.wait_all_tasks_blocked()
            under_way.append((model.open, scope.used.requests))
            await clock.advance(1)
    assert under_way == [(3, 3), (3, 6), (1, 7)]


# ---- What is never shown -----------------------------------------------------------------------------------


def test_a_runner_shows_the_model_and_the_host_and_no_more() -> None:
    runner = ModelRunner("gpt", base_url="https://models.example.org:8080/v1/private", api_key=KEY)
    assert repr(runner) == "<ModelRunner gpt at models.example.org>"
    assert runner.name == "gpt"
    assert repr(ModelRunner(ScriptedModel([]))) == "<ModelRunner ScriptedModel>"


async def test_a_named_model_is_asked_over_http_and_its_key_is_in_no_error() -> None:
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return as_sent({"error": {"message": f"wrong key {KEY}"}}, 401)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client, Scope():
        runner = ModelRunner("m", base_url="http://a.example/v1", api_key=KEY, client=client)
        with pytest.raises(ModelRequestError) as caught:
            await runner.invoke("hello")
        await runner.aclose()
    assert [request.headers["authorization"] for request in sent] == [f"Bearer {KEY}"]
    error: BaseException | None = caught.value
    while error is not None:
        assert KEY not in f"{error!r} {error} {vars(error)}"
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize(
    "wrong",
    [{"repairs": -1}, {"context_limit": 0}, {"concurrency": 0}, {"timeout": 0}, {"piece_timeout": -1.0}],
)
def test_numbers_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"ModelRunner\\({next(iter(wrong))}="):
        ModelRunner(ScriptedModel([]), **wrong)


def test_the_runner_loads_no_http_library_until_a_model_is_named() -> None:
    code = "import sys, flowcore.models; print('httpx' in sys.modules, 'genai_prices' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "False"]


# ---- Other models ------------------------------------------------------------------------------------------


@pytest.mark.behaviour("S2-06")
async def test_replies_messages_and_errors_are_those_of_the_core() -> None:
    model = ScriptedModel(["yes", ModelRequestError("no", status=400)])
    async with Scope(), Scope():
        reply = await ModelRunner(model).invoke("hello")
        again = Message("assistant", reply.text)
        with pytest.raises(FlowcoreError):
            await ModelRunner(model).invoke([Message("user", "hello"), again, Message("user", "again")])
    assert type(reply) is ModelReply
    assert type(reply.usage) is TokenUsage
    assert model.requests[1].messages[1] is again
