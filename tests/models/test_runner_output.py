"""Structured output: a schema for the model, a value of the type for the caller, a repair in between."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator

from flowcore import Budget, BudgetExhausted, Scope
from flowcore.errors import OutputInvalid
from flowcore.messages import Message, OutputSchema
from flowcore.models import ModelRunner
from flowcore.models.output import Misfit, form_of
from flowcore.testing import ScriptedModel


class City(BaseModel):
    name: str
    people: int = Field(ge=0)


class Exact(City):
    model_config = ConfigDict(extra="forbid")


class Tree(BaseModel):
    branches: list[Tree] = []


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


BONN = '{"name": "Bonn", "people": 3}'


async def answered(lines: list[Any], output: Any, **options: Any) -> tuple[Any, ScriptedModel]:
    model = ScriptedModel(lines)
    async with Scope(options.pop("budget", None)):
        return (await ModelRunner(model, **options).invoke("hello", output=output)).value, model


async def test_the_schema_goes_with_the_request_and_the_value_is_of_the_type() -> None:
    value, model = await answered([BONN], City)
    assert value == City(name="Bonn", people=3)
    assert model.requests[0].output == OutputSchema("City", City.model_json_schema())
    assert model.requests[0].messages == (Message("user", "hello"),)


async def test_a_model_that_takes_no_schema_is_told_it_in_one_system_message() -> None:
    model = ScriptedModel([BONN], features=("tools",))
    runner = ModelRunner(model)
    prepared = runner.prepare(instructions="Be short.", output=City)
    async with Scope():
        reply = await runner.invoke("hello", prepared=prepared)
    request = model.requests[0]
    assert reply.value == City(name="Bonn", people=3)
    assert request.output is None
    assert [message.role for message in request.messages] == ["system", "user"]
    instructions, _, schema = request.messages[0].content.rpartition("\n")
    assert instructions.startswith("Be short.\n\nAnswer with JSON alone")
    assert json.loads(schema) == City.model_json_schema()


@pytest.mark.parametrize(
    ("kind", "said", "value"),
    [
        (list[int], "[1, 2]", [1, 2]),
        (int, "7", 7),
        (bool, "false", False),
        (Literal["yes", "no"], '"no"', "no"),
        (TypeAdapter(Cat | Dog), '{"kind": "dog"}', Dog(kind="dog")),
        (TypeAdapter(Annotated[int, Field(gt=3)]), "4", 4),
        (tuple[Decimal, date], '["1.10", "2020-01-02"]', (Decimal("1.10"), date(2020, 1, 2))),
        (Tree, '{"branches": [{"branches": []}]}', Tree(branches=[Tree()])),
        (TypeAdapter(int | None), "null", None),
    ],
    ids=str,
)
async def test_what_is_no_object_stands_in_one(kind: Any, said: str, value: Any) -> None:
    got, model = await answered([f'{{"value": {said}}}'], kind)
    assert got == value
    assert type(got) is type(value)
    output = model.requests[0].output
    assert output is not None
    assert output.schema["type"] == "object"
    assert output.schema["required"] == ["value"]
    with pytest.raises(OutputInvalid):
        await answered([said, f'{{"value": {said}, "more": 1}}'], kind)


@pytest.mark.parametrize(
    "text",
    [
        BONN,
        f"\n {BONN}\n",
        f"```json\n{BONN}\n```",
        f"```\n{BONN}\n```",
        f"```JSON\n{BONN}```",
        f"Here it is:\n```json\n{BONN}\n```\nAnything else?",
    ],
)
async def test_json_may_stand_in_a_fence(text: str) -> None:
    assert (await answered([text], City, repairs=0))[0] == City(name="Bonn", people=3)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Bonn has 3 people.",
        BONN[:-1],
        f"{BONN} {BONN}",
        f"The answer is {BONN}",
        f"```json\n{BONN}\n```\nor\n```json\n{BONN}\n```",
        '{"name": "Bonn"}',
        '{"name": "Bonn", "people": null}',
        '{"name": "Bonn", "people": -1}',
        "null",
        "[" * 100_000,
    ],
)
async def test_nothing_is_made_up_for_an_answer_that_does_not_fit(text: str) -> None:
    with pytest.raises(OutputInvalid) as caught:
        await answered([text], City, repairs=0)
    assert caught.value.text == text
    assert "\n" not in str(caught.value)


@given(st.integers(0, len(BONN) - 1))
def test_an_answer_that_was_cut_anywhere_is_no_answer(length: int) -> None:
    form = form_of(City)
    assert form is not None
    with pytest.raises(Misfit):
        form.read(BONN[:length])


async def test_a_misfit_is_repaired_once_and_the_model_sees_what_was_wrong() -> None:
    budget = Budget(requests=2)
    value, model = await answered(['{"name": "Bonn", "people": "many"}', BONN], City, budget=budget)
    assert value == City(name="Bonn", people=3)
    first, second = model.requests
    assert second.messages[:2] == (*first.messages, Message("assistant", '{"name": "Bonn", "people": "many"}'))
    (complaint,) = second.messages[2:]
    assert complaint.role == "user"
    assert "people: Input should be a valid integer" in complaint.content
    assert second.output == first.output


@pytest.mark.parametrize("repairs", [0, 1, 3])
async def test_repairs_are_bounded_and_paid(repairs: int) -> None:
    model = ScriptedModel([f"wrong {number}" for number in range(9)])
    async with Scope() as scope:
        with pytest.raises(OutputInvalid) as caught:
            await ModelRunner(model, repairs=repairs).invoke("hello", output=City)
    assert len(model.requests) == scope.used.requests == repairs + 1
    assert caught.value.text == f"wrong {repairs}"
    after = {0: "for:", 1: "for after 1 repair:", 3: "for after 3 repairs:"}[repairs]
    assert str(caught.value).startswith(
        f"the answer is not of the type that was asked {after} the answer: Invalid JSON"
    )


async def test_without_quota_there_is_no_repair() -> None:
    model = ScriptedModel(["wrong", BONN])
    async with Scope(Budget(requests=1)) as scope:
        with pytest.raises(BudgetExhausted):
            await ModelRunner(model).invoke("hello", output=City)
    assert (len(model.requests), scope.used.requests) == (1, 1)


async def test_the_reply_has_the_usage_of_all_its_requests() -> None:
    model = ScriptedModel(["wrong", BONN])
    async with Scope() as scope:
        reply = await ModelRunner(model).invoke("hello", output=City)
    assert reply.text == BONN
    assert reply.usage.total == scope.used.tokens


async def test_checks_of_the_type_itself_are_told_to_the_model_too() -> None:
    class Even(BaseModel):
        number: int

        @field_validator("number")
        @classmethod
        def is_even(cls, number: int) -> int:
            if number % 2:
                raise ValueError("it must be even")
            return number

    value, model = await answered(['{"number": 3}', '{"number": 4}'], Even)
    assert value == Even(number=4)
    assert "number: Value error, it must be even" in model.requests[1].messages[-1].content


async def test_many_faults_are_told_in_part() -> None:
    with pytest.raises(OutputInvalid, match="and 15 more"):
        await answered([json.dumps({"value": ["x"] * 25})], list[int], repairs=0)


async def test_text_needs_no_form() -> None:
    value, model = await answered(["plain"], str)
    assert (value, model.requests[0].output) == ("plain", None)


@pytest.mark.parametrize(
    "said", ["```json\r\n{0}\r\n```", "Here:\r\n```\r\n{0}\r\n```\r\n", "\ufeff{0}", " \ufeff {0}"]
)
async def test_line_ends_and_a_mark_of_bytes_make_no_answer_unreadable(said: str) -> None:
    answer = said.replace("{0}", '{"name": "Bonn", "people": 3}')
    async with Scope():
        reply = await ModelRunner(ScriptedModel([answer]), repairs=0).invoke("hello", output=City)
    assert reply.value == City(name="Bonn", people=3)


async def test_a_fault_is_told_to_the_model_in_short_whatever_it_names() -> None:
    answer = '{"name": "Bonn", "people": 3, "%s": 1}' % ("k" * 100_000)
    model = ScriptedModel([answer, answer])
    async with Scope():
        with pytest.raises(OutputInvalid) as caught:
            await ModelRunner(model).invoke("hello", output=Exact)
    assert len(str(caught.value)) < 700
    assert "kkk…kkk" in model.requests[1].messages[-1].content.replace("\n", "")
    assert "Extra inputs are not permitted" in model.requests[1].messages[-1].content
