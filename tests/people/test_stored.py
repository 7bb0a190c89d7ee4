"""Stored runs that wait for a person: taken up with the same requests and the answers so far."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from tests.people.desk import Letter, in_words, note_text, pending, send, settled
from tests.people.test_waiting import branch, done, end

from flowcore import Approval, Continue, Flow, OpenRequest, Run, Step, approve, ask, node, parallel
from flowcore.errors import StoreError
from flowcore.store import MemoryRunStore
from flowcore.testing import FakeClock

NO_TIME = 10


class Process:
    """What a process has of a store: when it is dead, nothing is written any more."""

    def __init__(self, store: MemoryRunStore) -> None:
        self.name = store.name
        self.is_dead = False
        self._store = store

    def listen(self, run_id: str, call: Any) -> None:
        self._store.listen(run_id, call)

    def __getattr__(self, name: str) -> Any:
        def passed_on(*args: Any, **options: Any) -> Any:
            if self.is_dead:
                raise StoreError("this process is dead")
            return getattr(self._store, name)(*args, **options)

        return passed_on


class Twice:
    """A run of a flow, whose process dies once."""

    def __init__(self, flow: Flow[Letter, Any, Any]) -> None:
        self.flow = flow
        self.clock = FakeClock()
        self.store = MemoryRunStore()
        self.process: Any = Process(self.store)

    def start(self) -> Run[Any]:
        return self.flow.start(Letter(), clock=self.clock, run_id="r", store=self.process)

    async def die(self, run: Run[Any]) -> None:
        """Let nothing of the run be written any more, end its tasks, and let its lease run out."""
        await settled(run)
        self.process.is_dead = True
        await run.cancel("shutdown")
        await self.clock.advance(31)

    def again(self) -> Run[Any]:
        return self.flow.reopen("r", clock=self.clock, store=self.store)


async def waiting(run: Run[Any], count: int) -> tuple[OpenRequest, ...]:
    with anyio.fail_after(NO_TIME):
        return await pending(run, count)


async def ended(run: Run[Any]) -> Any:
    with anyio.fail_after(NO_TIME):
        return await run.wait()


@pytest.mark.behaviour("A83")
async def test_in_another_process_only_the_second_question_waits() -> None:
    one = ask("one", show=lambda state: "Q1", form=str, take=note_text)
    two = ask("two", show=lambda state: "Q2", form=str, take=note_text)
    inner = Flow("inner", one.to(answered=two, expired=done), two.to(answered=done, expired=done), done)
    world = Twice(Flow("outer", inner.as_node("inner").to(end), end))
    async with world.start() as run:
        (first,) = await waiting(run, 1)
        await run.answer(first.id, "A1")
        await settled(run)
        (second,) = await waiting(run, 1)
        await world.die(run)
    async with world.again() as run:
        assert await waiting(run, 1) == (second,)
        assert second.question == "Q2"
        await run.answer(None, "A2")
        assert (await ended(run)).state.notes == ["A1", "A2"]


@pytest.mark.behaviour("A85", "A87")
async def test_in_another_process_the_other_branch_waits_and_its_request_is_the_same() -> None:
    ran: list[str] = []
    world = Twice(Flow("fan out", parallel("fan", branch("a", ran), branch("b", ran)).to(end), end))
    async with world.start() as run:
        first, second = await waiting(run, 2)
        await run.answer(first.id, True)
        await world.die(run)
    async with world.again() as run:
        assert await waiting(run, 1) == (second,)
        assert len(ran) == 1
        await run.answer(None, True)
        assert (await ended(run)).value == "ended"
    assert sorted(ran) == ["a", "b"]


@pytest.mark.behaviour("A31")
async def test_in_another_process_a_second_review_waits_with_its_own_request() -> None:
    @node(starts_round=True)
    async def draft(step: Step[Letter]) -> Continue:
        step.state.text = f"draft {step.visit}"
        return Continue()

    review = approve("review", show=in_words)
    world = Twice(Flow("letters", draft.to(review), review.to(approved=send, denied=draft), send))
    async with world.start() as run:
        (first,) = await waiting(run, 1)
        await run.answer(first.id, Approval(False, "too short"))
        await settled(run)
        (second,) = await waiting(run, 1)
        assert (second.path, second.id != first.id) == ("review#2", True)
        await world.die(run)
    async with world.again() as run:
        assert await waiting(run, 1) == (second,)
        await run.answer(second.id, True)
        result = await ended(run)
    assert (result.value, result.usage.rounds) == ("sent", 2)
    assert [visit.label for visit in result.trace if visit.node == "review"] == ["denied", "approved"]


async def test_what_was_answered_while_nobody_walked_the_run_is_taken_when_it_goes_on() -> None:
    question = ask("one", show=in_words, form=str, take=note_text)
    world = Twice(Flow("places", question.to(answered=send, expired=send), send))
    async with world.start() as run:
        (request,) = await waiting(run, 1)
        await world.die(run)
    await world.store.answer("r", request.id, '"in Bonn"', "bob", world.clock.utcnow().timestamp())
    async with world.again() as run:
        result = await ended(run)
    assert (result.value, result.state.notes) == ("sent", ["in Bonn"])
    assert [visit.why for visit in result.trace if visit.node == "one"] == [{"by": "bob"}]


async def test_an_answer_in_the_store_that_does_not_fit_opens_the_question_anew() -> None:
    question = ask("one", show=in_words, form=str, take=note_text)
    world = Twice(Flow("places", question.to(answered=send, expired=send), send))
    async with world.start() as run:
        (request,) = await waiting(run, 1)
        await world.die(run)
    await world.store.answer("r", request.id, "5", "bob", world.clock.utcnow().timestamp())
    async with world.again() as run:
        (again,) = await waiting(run, 1)
        assert again.id != request.id
        assert "is answered by text" in again.question
        await run.answer(None, "in Bonn")
        assert (await ended(run)).state.notes == ["in Bonn"]


async def test_a_request_that_expired_while_nobody_walked_the_run_has_expired() -> None:
    question = ask("one", show=in_words, form=str, take=note_text, expires=20)
    world = Twice(Flow("places", question.to(answered=send, expired=end), send, end))
    async with world.start() as run:
        await waiting(run, 1)
        await world.die(run)  # which takes more than 20 seconds
    async with world.again() as run:
        await world.clock.advance(0.001)  # a clock that stands still calls nobody
        result = await ended(run)
    assert (result.value, result.state.notes) == ("ended", [])
