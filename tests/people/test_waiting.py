"""Waiting: in loops, sub-flows, branches and items, several at once, against timeouts and limits."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel
from tests.people.desk import Letter, drop, formal, in_words, note_text, pending, plain, send, settled, told

from flowcore import (
    Approval,
    Budget,
    Complete,
    Continue,
    ContractError,
    Flow,
    Node,
    Step,
    approve,
    ask,
    each,
    node,
    parallel,
)
from flowcore.testing import FakeClock


@node
async def done(step: Step[Letter]) -> Complete[None]:
    return Complete(None)


@node
async def end(step: Step[Letter]) -> Complete[str]:
    return Complete("ended")


def branch(name: str, ran: list[str]) -> Node[Letter, Any, None, Any]:
    """Returns a branch that asks for consent, and then notes that it went on."""

    @node
    async def act(step: Step[Letter]) -> Complete[None]:
        ran.append(name)
        return Complete(None)

    consent = approve("consent", show=in_words)
    return Flow(name, consent.to(approved=act, denied=done), act, done).as_node(name)


@pytest.mark.behaviour("A31")
async def test_a_second_review_is_another_request_and_an_answer_is_used_once() -> None:
    @node(starts_round=True)
    async def draft(step: Step[Letter]) -> Continue:
        step.state.text = f"draft {step.visit}"
        return Continue()

    review = approve("review", show=in_words)
    flow = Flow("letters", draft.to(review), review.to(approved=send, denied=draft), send)
    async with flow.start(Letter(), budget=Budget(rounds=5)) as run:
        (first,) = await pending(run)
        await run.answer(first.id, Approval(False, "too short"))
        await settled(run)
        (second,) = run.requests
        assert second.id != first.id
        assert (second.path, second.question) == ("review#2", "May this go out: draft 2?")
        with pytest.raises(ContractError, match="waits for no answer: it was answered by"):
            await run.answer(first.id, True)
        assert run.requests == (second,)
        await run.answer(second.id, True)
        result = await run.wait()
    assert (result.value, result.usage.rounds) == ("sent", 2)
    assert result.trace.path == "draft > review > draft > review > send"
    assert [visit.label for visit in result.trace if visit.node == "review"] == ["denied", "approved"]


@pytest.mark.behaviour("A83")
async def test_of_two_questions_in_a_sub_flow_only_the_second_waits_after_the_first() -> None:
    one = ask("one", show=lambda state: "Q1", form=str, take=note_text)
    two = ask("two", show=lambda state: "Q2", form=str, take=note_text)
    inner = Flow("inner", one.to(answered=two, expired=done), two.to(answered=done, expired=done), done)
    flow = Flow("outer", inner.as_node("inner").to(end), end)
    async with flow.start(Letter()) as run:
        (first,) = await pending(run)
        await run.answer(first.id, "A1")
        await settled(run)
        assert [(request.question, request.path) for request in run.requests] == [("Q2", "inner#1/two#1")]
        await run.answer(None, "A2")
        assert (await run.wait()).state.notes == ["A1", "A2"]


@pytest.mark.behaviour("A85")
async def test_of_two_branches_that_wait_one_is_answered_and_one_still_waits() -> None:
    ran: list[str] = []
    flow = Flow("fan out", parallel("fan", branch("a", ran), branch("b", ran)).to(end), end)
    async with flow.start(Letter()) as run:
        first, second = await pending(run, 2)
        await run.answer(first.id, True)
        await settled(run)
        assert (run.requests, run.trace.ending, len(ran)) == ((second,), None, 1)
        await run.answer(None, True)
        assert (await run.wait()).value == "ended"
    assert sorted(ran) == ["a", "b"]


@pytest.mark.behaviour("A87")
async def test_three_requests_are_told_apart_and_an_answer_lets_its_own_go_on() -> None:
    ran: list[str] = []
    branches = [branch(name, ran) for name in "abc"]
    async with Flow("fan out", parallel("fan", *branches).to(end), end).start(Letter()) as run:
        order = [request.id for request in await pending(run, 3)]
        requests = sorted(run.requests, key=lambda request: request.path)
        assert len({request.id for request in requests}) == 3
        assert [request.path for request in requests] == [f"fan#1/{name}#1/consent#1" for name in "abc"]
        with pytest.raises(ContractError) as caught:
            await run.answer(None, True)
        pending_ids = ", ".join(order)
        assert str(caught.value) == f"3 requests wait: say which one is answered: {pending_ids}"
        await run.answer(requests[1].id, True)
        await settled(run)
        assert ({*run.requests}, ran) == ({requests[0], requests[2]}, ["b"])
        await run.answer(requests[0].id, False)
        await run.answer(requests[2].id, True)
        assert (await run.wait()).value == "ended"
    assert ran == ["b", "c"]


@pytest.mark.behaviour("A91")
async def test_three_levels_that_each_ask_once_complete() -> None:
    def level(name: str, inside: Node[Letter, Any, None, Any] | None) -> Flow[Letter, Any, Any]:
        question = ask(f"ask {name}", show=in_words, form=str, take=note_text)
        if inside is None:
            return Flow(name, question.to(answered=done, expired=done), done)
        return Flow(name, question.to(answered=inside, expired=done), inside.to(done), done)

    flow = level("top", level("middle", level("low", None).as_node("low")).as_node("middle"))
    async with flow.start(Letter()) as run:
        for answer in ("one", "two", "three"):
            await pending(run)
            await run.answer(None, answer)
            await settled(run)
        result = await run.wait()
    assert (result.status, result.state.notes) == ("completed", ["one", "two", "three"])
    paths = [event.path for event in await told(run, "request.opened")]
    assert paths == ["ask top#1", "middle#1/ask middle#1", "middle#1/low#1/ask low#1"]


class Names(BaseModel):
    names: list[str]
    agreed: list[str] = []


class Name(BaseModel):
    name: str


@pytest.mark.behaviour("A99")
async def test_an_item_that_waits_is_answered_by_its_own_id_and_its_parent_goes_on() -> None:
    @node
    async def yes(step: Step[Name]) -> Complete[str]:
        return Complete(step.state.name)

    @node
    async def no(step: Step[Name]) -> Complete[str]:
        return Complete("")

    def items(state: Names) -> list[Name]:
        return [Name(name=name) for name in state.names]

    def collect(draft: Names, results: list[str]) -> Continue:
        draft.agreed = [name for name in results if name]
        return Continue()

    @node
    async def close(step: Step[Names]) -> Complete[list[str]]:
        return Complete(step.state.agreed)

    def whole(state: Name) -> Name:
        return state

    consent = approve("consent", show=whole)
    per_item = Flow("item", consent.to(approved=yes, denied=no), yes, no)
    flow = Flow("all", each("items", over=items, do=per_item, collect=collect).to(close), close)
    async with flow.start(Names(names=["ann", "bob"])) as run:
        ann, bob = sorted(await pending(run, 2), key=lambda request: request.path)
        assert (ann.path, ann.shown) == ("items#1[0]/consent#1", '{"name":"ann"}')
        await run.answer(bob.id, True)
        await settled(run)
        assert run.requests == (ann,)
        await run.answer(ann.id, False)
        assert (await run.wait()).value == ["bob"]


@pytest.mark.behaviour("PEOPLE-3")
async def test_no_time_passes_for_anything_around_while_a_person_is_waited_for() -> None:
    """The sub-flow has 15 seconds, the run 20, nodes 5 each, and the person takes 100."""
    clock = FakeClock()

    @node
    async def work(step: Step[Letter]) -> Complete[None]:
        await clock.sleep(4)
        return Complete(None)

    consent = approve("consent", show=in_words)
    inner = Flow("inner", consent.to(approved=work, denied=work), work, node_timeout=5)
    flow = Flow("outer", inner.as_node("inner").using(timeout=15).to(end), end)
    async with flow.start(Letter(), clock=clock, budget=Budget(seconds=20)) as run:
        await clock.advance(100)
        await run.answer(None, True)
        await clock.advance(4)
        result = await run.wait()
    assert (result.status, result.usage.seconds) == ("completed", 4)


async def test_a_branch_that_is_not_needed_any_more_asks_nobody() -> None:
    ran: list[str] = []
    flow = Flow("race", parallel("fan", branch("a", ran), branch("b", ran), join="any").to(end), end)
    async with flow.start(Letter()) as run:
        first, second = await pending(run, 2)
        await run.answer(second.id, True)
        result = await run.wait()
        with pytest.raises(ContractError, match="waits for no answer: it was withdrawn"):
            await run.answer(first.id, True)
    assert (result.value, len(ran)) == ("ended", 1)
    assert sorted(event.answer for event in await told(run, "request.answered")) == ["approved", "withdrawn"]


@pytest.mark.parametrize("consent", [plain, formal])
async def test_a_request_starts_no_round_unless_it_is_said(consent: Node[Letter, object, Any, Any]) -> None:
    paying = approve("paying", show=in_words, starts_round=True)
    for asking, rounds in ((consent, 0), (paying, 1)):
        flow = Flow("letters", asking.to(approved=send, denied=drop), send, drop)
        async with flow.start(Letter()) as run:
            await pending(run)
            await run.answer(None, True)
            assert (await run.wait()).usage.rounds == rounds
