"""Sub-flows: what they share with the flow around them, what they do not, and whose failure is whose."""

from __future__ import annotations

from typing import Any, Literal

import anyio
import pytest

from flowcore import Budget, BudgetExhausted, Complete, Continue, ContractError, Flow, Step, node, result_of

from ..clock import HandClock
from ..runs import Boom, chain, does, ends, raising
from ..states import Note


class Ticket(Note):
    """A state of its own for the flow inside."""


@node
async def inside(step: Step[Ticket]) -> Complete[int]:
    step.state.number += 10
    return Complete(step.state.number)


child = Flow("child", inside)


def enter(state: Note) -> Ticket:
    return Ticket(number=state.number)


def leave(draft: Note, result: int) -> Continue:
    draft.number = result
    return Continue()


def embedded(enter: Any = enter, leave: Any = leave, **options: Any) -> Any:
    return child.as_node("in", state=Note, enter=enter, leave=leave, **options)


def after(item: Any, **options: Any) -> Flow[Any, Any, Any]:
    """Returns a flow of the item alone, whose outcome and errors lead to `end`."""
    last = ends(Note)
    return Flow("f", item.to(last).on_error(last), last, **options)


# ---- State -------------------------------------------------------------------------------------------------


async def test_enter_makes_the_state_and_leave_takes_the_result() -> None:
    result = await after(embedded()).run(Note(number=1), check=False)
    assert (result.state.number, result.trace.path) == (11, "in(inside) > end")
    assert dict(result.trace[0].patch) == {"number": 11}


async def test_without_both_the_draft_is_shared_and_the_result_is_dropped() -> None:
    work = does(lambda step: step.state.words.append("inside"), "work", Note)
    done = does(lambda step: Complete("dropped"), "done", Note, Complete[str])
    inner = Flow("inner", work.to(done), done)
    result = await after(inner.as_node("in")).run(Note(), check=False)
    assert (result.state.words, result.value) == (["inside"], None)
    assert dict(result.trace[0].patch) == {"words": ["inside"]}


@pytest.mark.behaviour("S2-30")
async def test_a_shared_state_is_given_back_as_it_was_when_the_sub_flow_fails() -> None:
    work = does(lambda step: step.state.words.append("inside"), "work", Note)
    bad = does(raising(), "bad", Note)
    end = ends(Note)
    inner = Flow("inner", work.to(bad), bad.to(end), end)
    result = await after(inner.as_node("in")).run(Note(), check=False)
    assert result.trace.path == "in!(work > bad!) > end"
    assert result.state == Note()
    assert dict(result.trace[1].patch) == {"words": ["inside"]}


async def test_what_enter_does_to_its_draft_and_to_the_state_it_made_is_not_seen() -> None:
    made: list[Ticket] = []

    def sly(state: Note) -> Ticket:
        state.words.append("enter")
        made.append(Ticket())
        return made[0]

    def spoil(draft: Note, result: int) -> Continue:
        made[0].words.append("outside")
        return Continue()

    result = await after(embedded(enter=sly, leave=spoil)).run(Note(), check=False)
    assert result.state == Note()
    assert made[0].number == 0


async def test_leave_decides_the_outcome() -> None:
    def decide(draft: Note, result: int) -> Continue[Literal["big", "small"]]:
        return Continue("big" if result > 10 else "small", why={"result": result})

    last = ends(Note)
    flow = Flow("f", embedded(leave=decide).to(big=last, small=last), last)
    result = await flow.run(Note(number=1), check=False)
    assert (result.trace[0].label, result.trace[0].why) == ("big", {"result": 11})

    def complete(draft: Note, result: int) -> Complete[str]:
        return Complete(f"result {result}")

    assert await Flow("f", embedded(leave=complete)).run(Note()) == "result 10"


# ---- Failures ----------------------------------------------------------------------------------------------


def fails_entering(state: Note) -> Ticket:
    state.number = 99
    raise Boom("enter")


def fails_leaving(draft: Note, result: int) -> Continue:
    draft.number = 99
    raise Boom("leave")


@pytest.mark.parametrize("options", [{"enter": fails_entering}, {"leave": fails_leaving}], ids=["enter", "leave"])
async def test_a_failure_of_enter_or_leave_is_the_embedding_nodes(options: Any) -> None:
    result = await after(embedded(**options)).run(Note(), check=False)
    assert result.value is not None
    assert (result.value.path, result.value.type) == ("in#1", "Boom")
    assert result.state == Note()


async def test_a_failure_of_deps_is_the_embedding_nodes() -> None:
    def narrow(deps: Any) -> Any:
        raise Boom("deps")

    result = await after(embedded(deps=narrow)).run(Note(), check=False)
    assert result.value is not None
    assert (result.value.path, result.value.message) == ("in#1", "deps")


@pytest.mark.behaviour("Z03", "S2-11")
@pytest.mark.parametrize(
    "options",
    [
        {"enter": lambda state: Note()},
        {"enter": lambda state: None},
        {"leave": does},
    ],
    ids=["a base class", "None", "no outcome"],
)
async def test_enter_and_leave_that_return_something_wrong_are_contract_errors(options: Any) -> None:
    if "leave" in options:

        def wrong(draft: Note, result: int) -> Continue:
            return result  # type: ignore[return-value]

        options = {"leave": wrong}
    with pytest.raises(ContractError, match="in#1"):
        await after(embedded(**options)).run(Note())


async def test_an_error_inside_is_routed_inside_first_and_then_by_the_embedding_node() -> None:
    bad = does(raising(error=Boom("deep")), "bad", Note)
    end = ends(Note)
    caught = Flow("caught", bad.to(end).on_error(end, Boom), end)
    loose = Flow("loose", bad.to(end).on_error(end, KeyError), end)
    result = await after(caught.as_node("in")).run(Note(), check=False)
    assert (result.trace.path, result.value) == ("in(bad! > end) > end", None)
    result = await after(loose.as_node("in")).run(Note(), check=False)
    assert result.trace.path == "in!(bad!) > end"
    assert result.value is not None
    assert (result.value.path, result.value.type) == ("in#1/bad#1", "Boom")


async def test_an_error_goes_up_through_every_level_that_does_not_route_it() -> None:
    bad = does(raising(error=Boom("deep")), "bad", Note)
    end = ends(Note)
    one = Flow("one", bad.to(end), end)
    two = Flow("two", one.as_node("one").to(end), end)
    result = await after(two.as_node("two")).run(Note(), check=False)
    assert result.trace.path == "two!(one!(bad!)) > end"
    assert result.value is not None
    assert result.value.path == "two#1/one#1/bad#1"


# ---- Deps --------------------------------------------------------------------------------------------------


async def test_deps_are_handed_down_or_made_for_the_flow_inside() -> None:
    seen: list[Any] = []
    look = does(lambda step: seen.append(step.deps), "look", Ticket)
    end = ends(Ticket)
    inner = Flow("inner", look.to(end), end)

    def quiet(draft: Note, result: Any) -> Continue:
        return Continue()

    for options in ({}, {"deps": lambda deps: deps["inner"]}):
        item = inner.as_node("in", state=Note, enter=enter, leave=quiet, **options)
        await after(item).run(Note(), deps={"inner": 5})
    assert seen == [{"inner": 5}, 5]


# ---- Budget ------------------------------------------------------------------------------------------------


async def three_requests(step: Any) -> None:
    for _ in range(3):
        async with step.scope.request():
            pass


async def test_what_a_sub_flow_spends_the_run_spends_and_stops_at_the_runs_limit() -> None:
    spends = chain(Note, three_requests).as_node("in")
    result = await after(spends).run(Note(), budget=Budget(requests=10), check=False)
    assert result.usage.requests == 3
    ten = chain(Note, three_requests, three_requests, three_requests).as_node("in")
    result = await after(ten).run(Note(), budget=Budget(requests=4), check=False)
    assert result.usage.requests == 4


@pytest.mark.behaviour("A19")
@pytest.mark.parametrize("budget", [None, Budget(rounds=50)], ids=["shared", "wider"])
async def test_the_remaining_rounds_never_go_up_on_the_way_in_and_out(budget: Budget | None) -> None:
    seen: list[Any] = []

    def look(step: Any) -> None:
        seen.append(step.scope.remaining["rounds"])

    inner = chain(Note, look, look).as_node("in", budget=budget)
    before = does(look, "before", Note)
    behind = does(look, "behind", Note, starts_round=True)
    last = ends(Note)
    await Flow("f", before.to(inner), inner.to(behind), behind.to(last), last).run(Note(), budget=Budget(rounds=9))
    assert seen == [8, 7, 7, 6]


def spinning(rounds: int) -> Flow[Any, Any, Any]:
    def act(step: Any) -> Any:
        return Continue("done" if step.visit == rounds else "more")

    spin = does(act, "spin", Note, Continue[Literal["more", "done"]])
    end = ends(Note)
    return Flow("spinning", spin.to(more=spin, done=end), end)


async def test_a_limit_of_the_sub_flows_own_is_an_ordinary_failure_of_the_embedding_node() -> None:
    item = spinning(3).as_node("in", budget=Budget(rounds=2))
    result = await after(item).run(Note(), budget=Budget(rounds=9), check=False)
    assert (result.status, result.exhausted, result.usage.rounds) == ("completed", None, 2)
    assert result.value is not None
    assert (result.value.type, result.value.path) == ("BudgetExhausted", "in#1/spin#3")
    assert result.value.exception.path == "in#1"
    last = ends(Note)
    with pytest.raises(BudgetExhausted) as caught:
        await Flow("f", item.to(last), last).run(Note(), budget=Budget(rounds=9))
    assert result_of(caught.value).exhausted is None


@pytest.mark.behaviour("A27")
async def test_the_runs_limit_is_no_ordinary_failure_though_the_sub_flow_has_a_budget() -> None:
    item = spinning(5).as_node("in", budget=Budget(rounds=4))
    result = await after(item, on_error=None).run(Note(), budget=Budget(rounds=3), check=False)
    assert (result.status, result.exhausted, result.usage.rounds) == ("failed", "rounds", 3)


async def test_a_limit_inside_is_ordinary_at_each_level_outside_of_it() -> None:
    end = ends(Note)
    middle = Flow("middle", spinning(5).as_node("in", budget=Budget(rounds=2)).to(end), end)
    result = await after(middle.as_node("middle")).run(Note(), check=False)
    assert result.trace.path == "middle!(in!(spin > spin)) > end"


async def test_time_of_a_sub_flows_own_is_an_ordinary_failure_of_the_embedding_node() -> None:
    clock = HandClock()

    async def slow(step: Any) -> None:
        clock.advance(60)
        await anyio.sleep_forever()

    item = chain(Note, slow).as_node("in", budget=Budget(seconds=5))
    result = await after(item).run(Note(), check=False, clock=clock)
    assert (result.status, result.exhausted) == ("completed", None)
    assert result.value is not None
    assert result.value.type == "BudgetExhausted"
    assert result.trace.path == "in!(n1!) > end"


# ---- A run inside a node -----------------------------------------------------------------------------------


async def test_a_run_inside_a_node_pays_the_outer_budget() -> None:
    async def nested(step: Any) -> None:
        await spinning(3).run(Note())

    outer = after(does(nested, "outer", Note))
    result = await outer.run(Note(), budget=Budget(rounds=10), check=False)
    assert (result.status, result.usage.rounds) == ("completed", 4)
    result = await outer.run(Note(), budget=Budget(rounds=3), check=False)
    assert (result.status, result.exhausted, result.usage.rounds) == ("failed", "rounds", 3)


async def test_a_run_inside_a_node_with_a_budget_of_its_own_fails_ordinarily() -> None:
    async def nested(step: Any) -> None:
        await spinning(3).run(Note(), budget=Budget(rounds=2))

    result = await after(does(nested, "outer", Note)).run(Note(), budget=Budget(rounds=10), check=False)
    assert (result.status, result.exhausted, result.usage.rounds) == ("completed", None, 3)
    assert result.value is not None
    assert result.value.path == "outer#1"


async def test_run_sync_in_the_thread_of_a_node_pays_the_outer_budget() -> None:
    @node
    def outer(step: Step[Note]) -> Complete[str]:
        result = spinning(3).run_sync(Note(), check=False)
        return Complete(f"{result.status} {result.usage.rounds}")

    result = await Flow("f", outer).run(Note(), budget=Budget(rounds=10), check=False)
    assert (result.value, result.usage.rounds) == ("completed 3", 4)


@pytest.mark.behaviour("A145")
async def test_nodes_of_one_name_in_two_flows_are_two_nodes() -> None:
    def validate(mark: str) -> Any:
        return does(lambda step: step.state.words.append(mark), "validate", Note)

    end = ends(Note)
    validate_a, validate_b = validate("a"), validate("b")
    one = Flow("one", validate_a.to(end), end)
    two = Flow("two", validate_b.to(end), end)
    a, b = one.as_node("a"), two.as_node("b")
    result = await Flow("f", a.to(b), b.to(end), end).run(Note(), check=False)
    assert result.state.words == ["a", "b"]
    assert [visit.path for visit in result.trace if visit.node == "validate"] == [
        "a#1/validate#1",
        "b#1/validate#1",
    ]
    assert one.signature != two.signature
