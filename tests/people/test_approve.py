"""Consent: approved, denied, expired; the reason and the form; what is shown and what is kept."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Never

import anyio
import pytest
from tests.people.desk import (
    Changes,
    Letter,
    consent_flow,
    drop,
    formal,
    in_words,
    late,
    note_consent,
    pending,
    plain,
    send,
    settled,
    shown,
    sorry,
    told,
)

from flowcore import Approval, ContractError, Flow, Node, OpenRequest, RunResult, Scope, Step, approve
from flowcore.testing import FakeClock


async def answered(flow: Flow[Letter, Any, Any], answer: Any, by: str = "ann") -> RunResult[Any]:
    async with flow.start(Letter()) as run:
        await pending(run)
        await run.answer(None, answer, by=by)
        return await run.wait()


@pytest.mark.behaviour("PEOPLE-1")
async def test_it_waits_until_a_person_agrees_and_tells_who_and_why() -> None:
    clock = FakeClock()
    async with consent_flow(plain).start(Letter(), clock=clock) as run:
        (request,) = await pending(run)
        await clock.advance(100)
        assert run.trace.ending is None
        await run.answer(request.id, Approval(True, "fine with me"), by="ann")
        result = await run.wait()
    assert (result.value, result.state.notes) == ("sent", ["True fine with me"])
    (visit, _) = result.trace
    assert (visit.kind, visit.label, visit.target) == ("label", "approved", "send")
    assert visit.why == {"by": "ann", "reason": "fine with me"}
    assert visit.patch == {"notes": ["True fine with me"]}
    (opened,), (closed,) = await told(run, "request.opened"), await told(run, "request.answered")
    assert (opened.request, opened.asks, opened.question) == (request.id, "approve", "consent")
    assert (opened.shown, opened.path) == ('{"text":"Dear all","words":2}', "consent#1")
    assert (closed.request, closed.answer, closed.by) == (request.id, "approved", "ann")


async def test_a_request_is_plain_data() -> None:
    clock = FakeClock()
    async with consent_flow(formal).start(Letter(), clock=clock) as run:
        (request,) = await pending(run)
        await run.answer(None, False)
    assert (request.kind, request.path, request.question) == ("approve", "consent#1", "consent")
    assert request.shown == '{"text":"Dear all","words":2}'
    assert '"maxLength": 20' in request.form
    assert (request.opened, request.expires - request.opened) == (clock.utcnow(), timedelta(seconds=300))
    again = OpenRequest.from_json(request.to_json())
    assert again == request
    assert again.opened.tzinfo is not None


@pytest.mark.parametrize(
    ("answer", "value", "note"),
    [
        (True, "sent", "True"),
        (False, "dropped", "False"),
        (Approval(False, "too late"), "dropped", "False too late"),
        ({"approved": True, "reason": "ok"}, "sent", "True ok"),
    ],
)
async def test_each_answer_takes_its_route(answer: Any, value: str, note: str) -> None:
    result = await answered(consent_flow(plain), answer)
    assert (result.value, result.state.notes) == (value, [note])


async def test_without_an_answer_in_time_it_expires() -> None:
    clock = FakeClock()
    flow = consent_flow(approve("consent", show=shown, take=note_consent, expires=30), expired=late)
    async with flow.start(Letter(), clock=clock) as run:
        await clock.advance(29)
        (request,) = run.requests
        await clock.advance(1)
        result = await run.wait()
        with pytest.raises(ContractError, match="waits for no answer: it has expired"):
            await run.answer(request.id, True)
    assert (result.value, result.state.notes) == ("late", [])
    visit = result.trace[0]
    assert (visit.label, visit.why) == ("expired", {"expired after": 30.0})
    assert [event.answer for event in await told(run, "request.answered")] == ["expired"]


@pytest.mark.behaviour("PEOPLE-1")
async def test_expired_without_a_route_of_its_own_is_denied() -> None:
    clock = FakeClock()
    flow = consent_flow(plain)
    async with flow.start(Letter(), clock=clock) as run:
        await clock.advance(300)
        result = await run.wait()
    assert (result.value, result.state.notes) == ("dropped", [])
    visit = result.trace[0]
    assert (visit.label, visit.target) == ("expired", "drop")
    assert [edge.label for edge in flow.plan.nodes["consent"].edges()] == ["approved", "denied"]


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        (Approval(True, form=Changes(instead="Hello")), "True Changes(instead='Hello', urgent=False)"),
        ({"approved": True, "form": {"urgent": True}}, "True Changes(instead='', urgent=True)"),
        (True, "True Changes(instead='', urgent=False)"),
        (False, "False None"),
        ({"approved": False, "form": {"instead": "No"}}, "False Changes(instead='No', urgent=False)"),
    ],
)
async def test_a_form_is_taken_as_it_was_filled_in(answer: Any, note: str) -> None:
    assert (await answered(consent_flow(formal), answer)).state.notes == [note]


@pytest.mark.behaviour("PEOPLE-2")
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("yes", "is answered by True, False or Approval, not 'yes'"),
        (None, "is answered by True, False or Approval, not None"),
        ({"approved": "yes"}, "is answered by True, False or Approval"),
        ({"approved": True, "why": "x"}, "is answered by True, False or Approval"),
        (
            {"approved": True, "form": {"instead": "x" * 21}},
            "is answered by Changes: instead: String should have at",
        ),
        ({"approved": True, "form": {"urgent": "maybe"}}, "is answered by Changes: urgent: Input should be"),
        (Approval(True, form="text"), "is answered by Changes: Input should be an object"),
    ],
)
async def test_what_does_not_fit_leaves_it_pending(answer: Any, said: str) -> None:
    async with consent_flow(formal).start(Letter()) as run:
        (request,) = await pending(run)
        with pytest.raises(ContractError) as caught:
            await run.answer(None, answer)
        assert str(caught.value).startswith(f"request {request.id!r} {said}")
        await settled(run)
        assert run.requests == (request,)
        await run.answer(None, True)
        assert (await run.wait()).value == "sent"


async def test_a_form_where_none_is_asked_for_is_refused() -> None:
    async with consent_flow(plain).start(Letter()) as run:
        await pending(run)
        with pytest.raises(ContractError, match="is answered without a form: it has none"):
            await run.answer(None, Approval(True, form=Changes()))
        await run.answer(None, True)
        assert (await run.wait()).value == "sent"


async def test_it_is_answered_once() -> None:
    async with consent_flow(plain).start(Letter()) as run:
        (request,) = await pending(run)
        await run.answer(request.id, True, by="ann")
        with pytest.raises(ContractError, match="waits for no answer: it was answered by 'ann'"):
            await run.answer(request.id, False, by="bob")
        with pytest.raises(ContractError, match="no request waits for an answer"):
            await run.answer(None, False)
        assert (await run.wait()).state.notes == ["True"]


async def test_the_wait_ends_with_the_run() -> None:
    async with consent_flow(plain).start(Letter()) as run:
        await pending(run)
        await run.cancel("user")
        result = await run.wait()
    assert (result.status, run.requests, result.state.notes) == ("cancelled", (), [])
    assert [event.answer for event in await told(run, "request.answered")] == ["withdrawn"]


@pytest.mark.parametrize(
    ("options", "question"),
    [
        ({"show": shown}, "consent"),
        ({"show": in_words}, "May this go out: Dear all?"),
        ({"show": in_words, "description": "Send it?"}, "Send it?"),
        ({"show": lambda state: state}, "consent"),
    ],
)
async def test_the_question_is_what_was_said_or_shown(options: dict[str, Any], question: str) -> None:
    async with consent_flow(approve("consent", **options)).start(Letter()) as run:
        (request,) = await pending(run)
        await run.answer(None, True)
        await run.wait()
    assert request.question == question
    if options["show"] not in (shown, in_words):
        assert request.shown == '{"text":"Dear all","notes":[],"by":""}'


def breaks(state: Letter) -> str:
    raise ValueError("cannot show")


def breaks_too(draft: Letter, answer: Any) -> None:
    draft.text = "half"
    raise ValueError("cannot take")


def misfits(draft: Letter, answer: Any) -> None:
    draft.notes = 5  # type: ignore[assignment]


@pytest.mark.parametrize(("show", "take"), [(breaks, None), (in_words, breaks_too)])
async def test_what_breaks_is_the_failure_of_the_node(show: Callable[[Letter], str], take: Any) -> None:
    consent = approve("consent", show=show, take=take).to(approved=send, denied=drop).on_error(sorry, ValueError)
    async with Flow("breaks", consent, send, drop, sorry).start(Letter()) as run:
        if take is not None:
            await pending(run)
            await run.answer(None, True)
        result = await run.wait()
    assert result.state.text == "Dear all"
    assert str(result.value).startswith("sorry: ValueError: cannot")


@pytest.mark.parametrize("wrong", [{"take": misfits}, {"show": lambda state: ["a", "list"]}])
async def test_what_breaks_the_contract_takes_no_route(wrong: dict[str, Any]) -> None:
    options: dict[str, Any] = {"show": in_words, **wrong}
    node: Node[Letter, object, str, Never] = approve("consent", **options)
    consent = node.to(approved=send, denied=drop).on_error(sorry)
    async with Flow("breaks", consent, send, drop, sorry).start(Letter()) as run:
        if "take" in wrong:
            await pending(run)
            await run.answer(None, True)
        result = await run.wait()
    assert (result.status, result.failure and result.failure.type) == ("failed", "ContractError")


async def test_what_show_does_to_the_state_is_dropped() -> None:
    def rude(state: Letter) -> str:
        state.notes.append("seen")
        state.text = "changed"
        return state.text

    result = await answered(consent_flow(approve("consent", show=rude)), True)
    assert (result.state.text, result.state.notes) == ("Dear all", [])


async def test_nobody_is_asked_outside_of_a_run() -> None:
    with pytest.raises(ContractError, match="a person is asked inside of a run alone"):
        await plain(Step(Letter(), scope=Scope()))


async def test_a_node_that_asks_can_be_replaced_in_a_test() -> None:
    flow = consent_flow(plain).replace(consent=approve("consent", show=in_words, expires=1))
    clock = FakeClock()
    async with anyio.create_task_group() as group, flow.start(Letter(), clock=clock) as run:
        group.start_soon(clock.advance, 1)
        assert (await run.wait()).value == "dropped"
