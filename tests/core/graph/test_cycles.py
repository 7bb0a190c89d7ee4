"""The cycle rule: every cycle pays, whatever routes it is made of and whatever is embedded in it."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from flowcore import Budget, Continue, Flow, FlowError, Step, node

from .finding import found, kinds, only
from .problem_examples import State, again, ask, choose, finish, start


@node(starts_round=False)
async def first(step: Step[State]) -> Continue:
    return Continue()


@node
async def second(step: Step[State]) -> Continue:
    return Continue()


@node(id="second", starts_round=True)
async def paid_second(step: Step[State]) -> Continue:
    return Continue()


@pytest.mark.behaviour("S2-20")
def test_an_unpaid_cycle_is_shown_and_a_flag_on_either_node_mends_it() -> None:
    shown = {problem.code: problem for problem in found(first.to(choose), choose.to(a=first, b=finish), finish)}
    assert list(shown) == ["unpaid_cycle"]
    assert "first --> choose --a--> first (the part without a round boundary has 2 nodes)" in (
        shown["unpaid_cycle"].message
    )
    Flow("f", start.to(choose), choose.to(a=start, b=finish), finish)


@pytest.mark.behaviour("S2-21")
@pytest.mark.parametrize(
    ("rows", "shown"),
    [
        ((first.to(finish).on_error(second), second.to(finish).on_error(first), finish), ("error", 2)),
        ((first.to(second), second.to(finish).on_error(first), finish), ("first -->", 2)),
        ((first.to(finish).on_error(first), finish), ("first --error--> first", 1)),
        ((first.to(finish).on_error(first, KeyError, OSError), finish), ("--error KeyError | OSError-->", 1)),
        ((start.to(finish).using(max_visits=1).over_limit(start), finish), ("--over limit--> start", 1)),
    ],
    ids=["errors alone", "mixed", "to itself", "typed", "over limit"],
)
def test_error_and_over_limit_routes_close_cycles(rows: tuple[object, ...], shown: tuple[str, int]) -> None:
    problem = only(*rows)
    assert problem.code == "unpaid_cycle"
    assert shown[0] in problem.message
    assert f"has {shown[1]} node" in problem.message


@pytest.mark.behaviour("S2-21")
def test_the_default_error_route_closes_a_cycle() -> None:
    problem = only(first.to(second), second.to(finish), finish, on_error=first)
    assert problem.code == "unpaid_cycle"
    assert "second --error--> first" in problem.message


@pytest.mark.behaviour("S2-22")
def test_a_label_that_is_never_taken_closes_a_cycle_all_the_same() -> None:
    @node
    async def never_back(step: Step[State]) -> Continue[Literal["a", "b"]]:
        return Continue("b")

    assert only(first.to(never_back), never_back.to(a=first, b=finish), finish).code == "unpaid_cycle"


@pytest.mark.behaviour("S2-23")
def test_a_cycle_that_pays_does_not_excuse_one_that_does_not() -> None:
    pays = paid_second.to(first)
    rows = (first.to(choose), choose.to(a=paid_second, b=ask), pays, ask.to(first).on_error(finish), finish)
    problem = only(*rows)
    assert problem.code == "unpaid_cycle"
    assert (
        "first --> choose --b--> ask --> first (the part without a round boundary has 3 nodes)" in problem.message
    )


@pytest.mark.behaviour("S2-23")
def test_each_part_is_shown_once() -> None:
    loops = (
        first.to(choose),
        choose.to(a=choose, b=again).on_error(finish),
        again.to(again).on_error(finish),
        finish,
    )
    assert kinds(*loops) == [("unpaid_cycle", "f")] * 2


def around(inside: Flow[State, object, str]) -> list[tuple[str, str]]:
    """Returns what is wrong with a loop of which the flow is the only part that may pay."""
    try:
        Flow("f", inside.as_node("in").to(choose), choose.to(a=inside.as_node("in"), b=finish), finish)
    except FlowError as error:
        return [(problem.code, problem.where) for problem in error.problems]
    return []


@pytest.mark.behaviour("S2-20", "S2-24", "S2-25")
def test_a_sub_flow_pays_where_no_unpaid_path_leads_through_it() -> None:
    @node(starts_round=False)
    async def free_choice(step: Step[State]) -> Continue[Literal["a", "b"]]:
        return Continue("a")

    assert around(Flow("x", finish)) == []
    assert (
        around(
            Flow("x", free_choice.to(a=ask, b=paid_second), ask.to(paid_second), paid_second.to(finish), finish)
        )
        == []
    )
    unpaid = [("unpaid_cycle", "f")]
    assert around(Flow("x", free_choice.to(a=finish, b=paid_second), paid_second.to(finish), finish)) == unpaid
    assert (
        around(Flow("x", first.to(paid_second).on_error(finish, KeyError), paid_second.to(finish), finish))
        == unpaid
    )
    limited = start.to(finish).using(max_visits=1).over_limit(finish)
    assert around(Flow("x", limited, finish)) == unpaid


@pytest.mark.behaviour("S2-21")
def test_the_error_route_of_a_sub_flow_is_free_even_if_the_sub_flow_pays() -> None:
    pays = Flow("x", finish).as_node("in")
    assert kinds(pays.to(finish).on_error(first), first.to(pays), finish) == [("unpaid_cycle", "f")]


@pytest.mark.behaviour("S2-20")
def test_a_budget_of_its_own_lets_the_finish_of_a_sub_flow_be_reached_unpaid() -> None:
    cheap = Flow("x", start.to(finish), finish, finish=finish)
    dear = Flow("x", start.to(finish), finish, paid_second.to(finish), finish=paid_second)

    def rows(item: Any) -> tuple[Any, ...]:
        return first.to(item), item.to(choose), choose.to(a=first, b=finish), finish

    assert kinds(*rows(cheap.as_node("in", budget=Budget(rounds=0)))) == [("unpaid_cycle", "f")]
    Flow("f", *rows(cheap.as_node("in")))
    Flow("f", *rows(dear.as_node("in", budget=Budget(rounds=0))))


def test_a_finish_that_leads_into_a_cycle_is_refused_though_the_cycle_pays() -> None:
    rows = (start.to(choose), choose.to(a=start, b=finish), finish)
    assert kinds(*rows, finish=choose) == [("finish_cycle", "f")]
    Flow("f", *rows, finish=finish)


def test_a_finish_that_leads_into_a_loop_inside_of_a_sub_flow_is_refused() -> None:
    loops = Flow("loops", start.to(choose), choose.to(a=start, b=finish), finish).as_node("loops")
    problem = only(finish, loops.to(finish), finish=loops)
    assert (problem.code, problem.where) == ("finish_cycle", "f")
    assert "loops: start --> choose --a--> start" in problem.message
