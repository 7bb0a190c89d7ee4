"""Every kind of problem: what brings it about, alone and among others."""

from __future__ import annotations

import pytest

from flowcore import Continue, Flow, FlowError, Problem, Retry, Step, node
from flowcore.graph import PROBLEMS, ProblemKind

from .finding import kinds
from .problem_examples import (
    NAMES,
    State,
    again,
    ask,
    choose,
    finish,
    inner,
    mixed,
    other,
    scribe,
    start,
    stranger,
)


def problems_of(example: str) -> tuple[Problem, ...]:
    with pytest.raises(FlowError) as caught:
        eval(example, dict(NAMES))
    return caught.value.problems


@pytest.mark.parametrize("kind", PROBLEMS.values(), ids=PROBLEMS)
def test_the_fault_of_each_kind_is_found_alone(kind: ProblemKind) -> None:
    assert {problem.code for problem in problems_of(kind.fault)} == {kind.code}


@pytest.mark.parametrize("kind", PROBLEMS.values(), ids=PROBLEMS)
def test_the_mend_of_each_kind_constructs(kind: ProblemKind) -> None:
    assert isinstance(eval(kind.mend, dict(NAMES)), Flow)


@pytest.mark.behaviour("A01")
def test_a_flow_with_ten_problems_lists_all_ten() -> None:
    @node(id="round")
    async def unpaid(step: Step[State]) -> Continue:
        return Continue()

    rows = (
        start.to(unpaid),
        unpaid.to(unpaid),  # a cycle that nothing is paid for, and no way out of it (start has none either)
        choose.named("bad/id").to(a=finish, c=finish),
        finish,
        stranger,
        scribe.to(other),
        inner.as_node("inner").using(retry=Retry()).to(finish),
    )
    shown = kinds(*rows)
    assert sorted(shown) == [
        ("bad_id", "bad/id"),
        ("dead_end", "round"),
        ("dead_end", "start"),
        ("label_without_route", "bad/id"),
        ("retry_on_composite", "inner"),
        ("route_without_label", "bad/id"),
        ("state_mismatch", "stranger"),
        ("unknown_target", "scribe"),
        ("unknown_write", "scribe"),
        ("unpaid_cycle", "f"),
        ("unreachable", "bad/id"),
        ("unreachable", "finish"),
        ("unreachable", "inner"),
        ("unreachable", "scribe"),
        ("unreachable", "stranger"),
    ]


@pytest.mark.behaviour("A01")
def test_a_node_nothing_leads_to_and_a_sink_are_named_together() -> None:
    shown = kinds(choose.to(a=ask, b=finish), ask.to(again), again.to(ask), finish, other)
    assert shown == [("unreachable", "other"), ("dead_end", "ask"), ("dead_end", "again"), ("unpaid_cycle", "f")]


def test_the_error_numbers_its_problems_and_each_says_where_and_what_to_do() -> None:
    with pytest.raises(FlowError) as caught:
        Flow("f", start.to(finish), finish, other)
    assert caught.value.flow == "f"
    assert str(caught.value).splitlines() == [
        "flow 'f' has 1 problem:",
        "  1. [unreachable] other: nothing leads to it. Add a route to it, or remove the row.",
    ]


def test_mixed_is_named_once_whatever_is_routed() -> None:
    assert set(kinds(node(mixed).to(finish).to(a=finish), finish)) == {("mixed_continue", "mixed")}
