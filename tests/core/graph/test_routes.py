"""Routes: which may stand side by side, where they must lead, and that a right flow says nothing."""

from __future__ import annotations

import warnings
from typing import Literal

import pytest

from flowcore import Continue, Flow, Step, node

from .finding import found, kinds, only
from .problem_examples import State, again, ask, choose, finish, other, start


@pytest.mark.behaviour("A03")
def test_two_labels_may_lead_to_one_node_and_an_error_route_may_too() -> None:
    both = Flow("f", choose.to(a=finish, b=finish).on_error(finish), finish)
    edges = [(edge.kind, edge.label, edge.target.id) for edge in both.plan.edges()]
    assert edges == [("label", "a", "finish"), ("label", "b", "finish"), ("error", "", "finish")]
    beside = Flow("f", start.to(finish).on_error(finish).using(max_visits=1).over_limit(finish), finish)
    assert [edge.kind for edge in beside.plan.edges()] == ["next", "error", "over_limit"]


@pytest.mark.behaviour("A03")
def test_only_an_exact_repeat_is_a_duplicate() -> None:
    assert only(choose.to(a=finish, b=finish).to(a=finish), finish).code == "duplicate_route"


@pytest.mark.behaviour("A05")
@pytest.mark.parametrize(
    ("row", "words"),
    [
        (start.to(other), "its route leads to 'other'"),
        (choose.to(a=other, b=finish), "its route 'a' leads to 'other'"),
        (start.to(finish).on_error(other), "its error route leads to 'other'"),
        (start.to(finish).over_limit(other), "its over-limit route leads to 'other'"),
    ],
)
def test_a_route_to_an_unlisted_node_names_both_ends_and_the_kind(row: object, words: str) -> None:
    [problem] = [problem for problem in found(row, finish) if problem.code == "unknown_target"]
    assert problem.where == row.id  # type: ignore[attr-defined]
    assert problem.message.startswith(words)
    assert "'other'" in problem.remedy


@pytest.mark.behaviour("A05")
def test_the_default_error_route_to_an_unlisted_node_names_the_flow() -> None:
    problem = only(finish, on_error=other)
    assert (problem.code, problem.where) == ("unknown_target", "f")
    assert "default error route" in problem.message


@pytest.mark.behaviour("A07")
def test_a_loop_that_pays_says_nothing_and_runs() -> None:
    @node(starts_round=True)
    async def b(step: Step[State]) -> Continue[Literal["a", "b"]]:
        step.state.text += "x"
        return Continue("a" if len(step.state.text) < 3 else "b")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        flow = Flow("f", start.to(b), b.to(a=start, b=finish), finish)
    assert flow.run_sync(State()) == "xxx"


@pytest.mark.behaviour("Z07")
def test_the_target_of_an_error_route_must_complete_or_lead_on() -> None:
    b = ask.to(finish).on_error(again)
    assert kinds(start.to(ask), b, finish, again) == [("nowhere_to_go", "again")]
    Flow("f", start.to(ask), ask.to(finish).on_error(other), finish, other)
    Flow("f", start.to(ask), b, finish, again.to(finish))
    assert kinds(start.to(ask), b, finish, again.to(choose), choose.to(a=again, b=again)) == [
        ("dead_end", "again"),
        ("dead_end", "choose"),
        ("unpaid_cycle", "f"),
    ]
