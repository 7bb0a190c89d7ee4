"""What is declared: the labels, the limits that a wait has not, and what is refused at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Never

import pytest
from pydantic import BaseModel
from tests.people.desk import Letter, Where, drop, in_words, late, note_text, plain, send

from flowcore import Flow, FlowError, Node, Retry, Step, approve, ask, node
from flowcore.outcome import Complete
from flowcore.recording import flow_data

question = ask("question", show=in_words, form=Where, take=lambda draft, answer: None)


def codes(*rows: Node[Any, Any, Any, Any]) -> list[tuple[str, str]]:
    with pytest.raises(FlowError) as caught:
        Flow("wrong", *rows)
    return [(problem.code, problem.where) for problem in caught.value.problems]


def test_a_label_without_a_route_is_a_problem_but_for_expired_consent() -> None:
    assert codes(plain.to(approved=send), send) == [("label_without_route", "consent")]
    assert codes(question.to(answered=send), send) == [("label_without_route", "question")]
    assert codes(plain.to(approved=send, denied=drop, later=late), send, drop, late)[0] == (
        "route_without_label",
        "consent",
    )
    Flow("right", plain.to(approved=send, denied=drop), send, drop)
    Flow("right", plain.to(approved=send, denied=drop, expired=late), send, drop, late)


def test_expired_alone_is_no_way_out_of_a_denial() -> None:
    assert codes(plain.to(approved=send, expired=drop), send, drop) == [("label_without_route", "consent")]


@pytest.mark.behaviour("PEOPLE-3")
def test_a_wait_has_neither_a_timeout_nor_retries() -> None:
    routed = plain.to(approved=send, denied=drop)
    assert codes(routed.using(timeout=5), send, drop) == [("timeout_on_person", "consent")]
    assert codes(routed.using(retry=Retry()), send, drop) == [("retry_on_person", "consent")]
    flow = Flow("right", routed.using(timeout=None, max_visits=2), send, drop, node_timeout=7)
    assert [item.timeout for item in flow.plan.nodes.values()] == [None, 7, 7]


def test_a_loop_through_consent_alone_is_not_paid() -> None:
    assert ("unpaid_cycle", "wrong") in codes(plain.to(approved=send, denied=plain), send)


class Other(BaseModel):
    number: int = 0


def test_its_state_is_that_of_what_it_is_given() -> None:
    def show(state: Other) -> str:
        return str(state.number)

    wrong: Node[Any, object, Any, Never] = approve("consent", show=show)
    assert codes(wrong.to(approved=send, denied=drop), send, drop) == [
        ("state_mismatch", "send"),
        ("state_mismatch", "drop"),
    ]


def test_show_and_take_work_on_one_state() -> None:
    def take(draft: Other, answer: Any) -> None:
        draft.number += 1

    wrong: Node[Any, object, Any, Never] = approve("consent", show=in_words, take=take)
    assert codes(wrong.to(approved=send, denied=drop), send, drop) == [("state_mismatch", "consent")]


async def slowly(state: Letter) -> str:
    return state.text


def test_show_and_take_do_not_wait() -> None:
    consent = approve("consent", show=slowly).to(approved=send, denied=drop)
    assert codes(consent, send, drop) == [("async_function", "consent")]


def test_a_form_that_json_cannot_tell_is_a_problem() -> None:
    class Odd(BaseModel):
        how: Callable[[], int]

    consent = approve("consent", show=in_words, form=Odd).to(approved=send, denied=drop)
    assert codes(consent, send, drop) == [("bad_form", "consent")]


@pytest.mark.parametrize(
    ("make", "options", "error", "said"),
    [
        (
            approve,
            {"form": str},
            TypeError,
            "form=<class 'str'>): give a pydantic model or a dataclass, or leave it",
        ),
        (ask, {"form": int}, TypeError, "give a pydantic model, a dataclass or str"),
        (approve, {"show": "text"}, TypeError, "show='text'): give a function"),
        (ask, {"take": None, "form": str}, TypeError, "take=None): give a function"),
        (approve, {"expires": 0}, ValueError, "expires=0): give seconds above zero"),
        (approve, {"expires": math.inf}, ValueError, "nobody waits without end"),
        (approve, {"expires": None}, ValueError, "nobody waits without end"),
        (approve, {"expires": "soon"}, TypeError, "give a number of seconds"),
    ],
)
def test_what_is_no_option_is_refused_at_once(
    make: Any, options: dict[str, Any], error: type[Exception], said: str
) -> None:
    base: dict[str, Any] = {"show": in_words, "take": note_text}
    with pytest.raises(error) as caught:
        make("id", **{**base, **options})
    assert said in str(caught.value)


def test_what_a_flow_says_of_it() -> None:
    @node
    async def early(step: Step[Letter]) -> Complete[str]:
        return Complete("early")

    flow = Flow(
        "letters",
        plain.to(approved=question, denied=drop),
        question.to(answered=send, expired=early),
        send,
        drop,
        early,
    )
    kinds = {each.id: each.kind for each in flow_data(flow.plan).nodes}
    assert kinds == {
        "consent": "approve",
        "question": "ask",
        "send": "function",
        "drop": "function",
        "early": "function",
    }
    assert flow.replace(consent=plain).signature == flow.signature
