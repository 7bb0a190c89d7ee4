"""Questions: the form that is filled in, wrong answers, several at once, and none."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel, field_validator
from tests.people.desk import Letter, Where, note_text, pending, question_flow, settled, told

from flowcore import ContractError
from flowcore.testing import FakeClock

NO_FLOOR: Any = "top"


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        (Where("Bonn"), "Bonn 0"),
        ({"city": "Bonn", "floor": 3}, "Bonn 3"),
    ],
)
async def test_a_question_is_answered_by_its_form(answer: Any, note: str) -> None:
    async with question_flow().start(Letter()) as run:
        (request,) = await pending(run)
        await run.answer(None, answer, by="bob")
        result = await run.wait()
    assert (result.value, result.state.notes) == ("sent", [note])
    assert (request.kind, request.question) == ("ask", "May this go out: Dear all?")
    assert set(json.loads(request.form)["properties"]) == {"city", "floor"}
    assert (result.trace[0].label, result.trace[0].why) == ("answered", {"by": "bob"})
    assert [(event.answer, event.by) for event in await told(run, "request.answered")] == [("answered", "bob")]


@pytest.mark.behaviour("PEOPLE-2")
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({}, "is answered by Where: city: Field required"),
        ({"city": 5}, "is answered by Where: city: Input should be a valid string"),
        ({"city": 5, "floor": "top"}, "is answered by Where: city: Input should be a valid string; floor: Input"),
        (True, "is answered by Where: Input should be an object"),
        ("Bonn", "is answered by Where: Input should be an object"),
        (Where("Bonn", NO_FLOOR), "is answered by Where: floor: Input should be a valid integer"),
        (object(), "is answered by Where: Input should be"),
    ],
)
async def test_a_wrong_answer_leaves_it_pending(answer: Any, said: str) -> None:
    async with question_flow().start(Letter()) as run:
        (request,) = await pending(run)
        with pytest.raises(ContractError) as caught:
            await run.answer(None, answer)
        assert str(caught.value).startswith(f"request {request.id!r} {said}")
        await settled(run)
        assert run.requests == (request,)
        await run.answer(None, Where("Bonn"))
        assert (await run.wait()).state.notes == ["Bonn 0"]


async def test_a_bare_text_answers_where_a_text_is_asked_for() -> None:
    async with question_flow(str, note_text).start(Letter()) as run:
        await pending(run)
        with pytest.raises(ContractError, match="is answered by text: Input should be a valid string"):
            await run.answer(None, 5)
        await run.answer(None, "in Bonn")
        assert (await run.wait()).state.notes == ["in Bonn"]


async def test_a_form_whose_own_code_breaks_leaves_it_pending() -> None:
    class Fragile(BaseModel):
        city: str

        @field_validator("city")
        @classmethod
        def look(cls, value: str) -> str:
            return str({"Bonn": "B"}[value])

    def take(draft: Letter, answer: Fragile) -> None:
        draft.notes.append(answer.city)

    async with question_flow(Fragile, take).start(Letter()) as run:
        await pending(run)
        with pytest.raises(ContractError, match="cannot be answered so: KeyError"):
            await run.answer(None, {"city": "Rome"})
        await run.answer(None, {"city": "Bonn"})
        assert (await run.wait()).state.notes == ["B"]


async def test_what_was_answered_is_not_changed_by_whoever_answered() -> None:
    @dataclass
    class Names:
        names: list[str]

    def take(draft: Letter, answer: Names) -> None:
        draft.notes = answer.names

    mine = Names(["ann"])
    async with question_flow(Names, take).start(Letter()) as run:
        await pending(run)
        await run.answer(None, mine)
        mine.names.append("bob")
        assert (await run.wait()).state.notes == ["ann"]


async def test_a_question_without_an_answer_expires() -> None:
    clock = FakeClock()
    async with question_flow(expires=20).start(Letter(), clock=clock) as run:
        await clock.advance(20)
        result = await run.wait()
    assert (result.value, result.state.notes) == ("late", [])
    assert result.trace[0].why == {"expired after": 20.0}
