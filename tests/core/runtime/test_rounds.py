"""Rounds: charged on entry of the nodes that start one, and at no other moment."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from flowcore import Budget, BudgetExhausted, Complete, Continue, Flow, Node, Retry, Step, node, result_of

from ..runs import chain, does, ends
from ..states import Note


def loop(times: int, ran: list[int], **options: Any) -> Flow[Any, Any, Any]:
    """Returns a flow whose node `again` is entered `times` times."""

    def act(step: Any) -> Any:
        ran.append(step.visit)
        return Continue("done" if step.visit == times else "more")

    again = does(act, "again", Note, Continue[Literal["more", "done"]], **options)
    last = ends(Note)
    return Flow("loop", again.to(more=again, done=last), last)


@pytest.mark.behaviour("S2-17")
async def test_a_round_is_charged_on_the_entry_of_a_node_that_starts_one_and_nowhere_else() -> None:
    a = does(lambda step: None, "a", Note, starts_round=True)
    b = does(lambda step: None, "b", Note)
    last = ends(Note)
    result = await Flow("f", a.to(b), b.to(last), last).run(Note(), budget=Budget(rounds=1), check=False)
    assert (result.status, result.usage.rounds) == ("completed", 1)
    assert [visit.round for visit in result.trace] == [1, 1, 1]


@pytest.mark.behaviour("S2-17", "S2-18", "A15")
@pytest.mark.parametrize("way", ["next", "error"])
async def test_in_a_loop_only_the_boundary_pays_and_it_has_paid_before_its_handler_runs(way: str) -> None:
    seen: list[tuple[str, int, int, int]] = []
    told: list[tuple[str, str]] = []

    def look(step: Any) -> None:
        seen.append((step.path, step.attempt, step.round, step.scope.used.rounds))

    def turn(step: Any) -> Any:
        look(step)
        if step.visit == 4:
            return Continue("done")
        if way == "error":
            raise ValueError
        return Continue("more")

    def try_twice(step: Any) -> None:
        look(step)
        if step.attempt == 1:
            raise ValueError

    a = does(look, "a", Note, starts_round=True)
    b = does(try_twice, "b", Note)
    inner = chain(Note, look).replace(n1=does(look, "n1", Note, starts_round=False)).as_node("in")
    c = does(turn, "c", Note, Continue[Literal["more", "done"]])
    last = ends(Note)
    flow = Flow(
        "f",
        a.to(b),
        b.to(inner).using(retry=Retry(attempts=2)),
        inner.to(c),
        c.to(more=a, done=last).on_error(a),
        last,
    )
    result = await flow.run(
        Note(),
        budget=Budget(rounds=4),
        check=False,
        observers=[lambda event: told.append((event.kind, event.path))],
    )
    assert seen == [
        (path, attempt, lap, lap)
        for lap in range(1, 5)
        for path, attempt in [
            (f"a#{lap}", 1),
            (f"b#{lap}", 1),
            (f"b#{lap}", 2),
            (f"in#{lap}/n1#1", 1),
            (f"c#{lap}", 1),
        ]
    ]
    assert (result.status, result.usage.rounds) == ("completed", 4)
    assert [path for kind, path in told if kind == "round.started"] == ["a#1", "a#2", "a#3", "a#4"]


@pytest.mark.behaviour("S2-17", "S2-27")
async def test_a_failing_node_has_paid_its_round_and_retries_pay_no_other() -> None:
    def bad(step: Any) -> None:
        if step.attempt < 3:
            raise ValueError

    a = does(bad, "a", Note, starts_round=True)
    last = ends(Note)
    flow = Flow("f", a.to(last).using(retry=Retry(attempts=3)), last)
    result = await flow.run(Note(), budget=Budget(rounds=1), check=False)
    assert (result.status, result.usage.rounds, result.trace[0].attempts) == ("completed", 1, 3)


@pytest.mark.behaviour("S2-18")
async def test_fifty_nodes_after_one_boundary_cost_one_round() -> None:
    flow = chain(Note, *[lambda step: None] * 50)
    result = await flow.run(Note(), budget=Budget(rounds=1), check=False)
    assert (result.status, result.usage.rounds, len(result.trace)) == ("completed", 1, 51)


@pytest.mark.behaviour("S2-19")
async def test_each_entry_is_charged_and_the_node_does_not_run_without_a_round() -> None:
    ran: list[int] = []
    result = await loop(3, ran).run(Note(), check=False)
    assert (result.usage.rounds, ran) == (3, [1, 2, 3])
    ran.clear()
    with pytest.raises(BudgetExhausted) as caught:
        await loop(3, ran).run(Note(), budget=Budget(rounds=2))
    assert ran == [1, 2]
    assert (caught.value.dimension, caught.value.limit, caught.value.used) == ("rounds", 2, 2)
    result = result_of(caught.value)
    assert (result.status, result.exhausted, result.usage.rounds) == ("failed", "rounds", 2)
    assert result.failure is not None
    assert result.failure.path == "again#3"


async def test_a_run_that_uses_exactly_its_rounds_completes() -> None:
    result = await loop(2, []).run(Note(), budget=Budget(rounds=2), check=False)
    assert (result.status, result.exhausted) == ("completed", None)


async def test_no_rounds_at_all_refuse_the_entry() -> None:
    result = await loop(1, []).run(Note(), budget=Budget(rounds=0), check=False)
    assert (result.status, result.exhausted, len(result.trace)) == ("failed", "rounds", 0)


async def test_rounds_without_a_limit() -> None:
    result = await loop(100, []).run(Note(), budget=Budget(rounds=None), check=False)
    assert (result.status, result.usage.rounds) == ("completed", 100)


async def test_the_default_budget_is_25_rounds() -> None:
    result = await loop(100, []).run(Note(), check=False)
    assert (result.status, result.exhausted, result.usage.rounds) == ("failed", "rounds", 25)


@pytest.mark.behaviour("S2-24")
async def test_the_entry_starts_a_round_when_it_does_not_say() -> None:
    result = await chain(Note, lambda step: None).run(Note(), check=False)
    assert (result.usage.rounds, result.trace[0].round) == (1, 1)
    assert loop(2, []).plan.entry.starts_round is True  # type: ignore[union-attr]


@pytest.mark.behaviour("S2-25")
async def test_an_entry_that_says_false_starts_none_and_no_other_node_starts_one_unasked() -> None:
    a = does(lambda step: None, "a", Note, starts_round=False)
    b = does(lambda step: None, "b", Note)
    last = ends(Note)
    result = await Flow("f", a.to(b), b.to(last), last).run(Note(), budget=Budget(rounds=0), check=False)
    assert (result.status, result.usage.rounds) == ("completed", 0)
    assert [visit.round for visit in result.trace] == [0, 0, 0]


@node
async def unset(step: Step[Note]) -> Continue:
    return Continue()


@pytest.mark.behaviour("S2-24", "S2-25")
def test_the_same_node_starts_a_round_where_it_is_the_entry_and_not_elsewhere() -> None:
    last: Node[Any, Any, Any, Any] = ends(Note)
    as_entry = Flow("f", unset.to(last), last)
    as_second = Flow("f", unset.named("first").to(unset), unset.to(last), last)
    assert [item.starts_round for item in as_entry.plan.nodes.values()] == [True, False]
    assert [item.starts_round for item in as_second.plan.nodes.values()] == [True, False, False]


@pytest.mark.behaviour("S2-24")
async def test_the_entry_of_an_embedded_flow_starts_a_round_each_time() -> None:
    end = ends(Note)
    inner = Flow("inner", unset.to(end), end)
    first, second = inner.as_node("one"), inner.as_node("two")
    last = does(lambda step: Complete(step.round), "last", Note, Complete[int])
    result = await Flow("f", first.to(second), second.to(last), last).run(Note(), check=False)
    assert (result.value, result.usage.rounds) == (2, 2)


@pytest.mark.behaviour("A15")
async def test_step_tells_round_visit_and_attempt() -> None:
    seen: list[tuple[int, int, int, str]] = []

    def act(step: Any) -> Any:
        seen.append((step.round, step.visit, step.attempt, step.path))
        if step.attempt == 1:
            raise ValueError
        return Continue("done" if step.visit == 3 else "more")

    again = does(act, "again", Note, Continue[Literal["more", "done"]])
    last = ends(Note)
    row = again.to(more=again, done=last).using(retry=Retry(attempts=2))
    await Flow("f", row, last).run(Note())
    assert seen == [(lap, lap, attempt, f"again#{lap}") for lap in (1, 2, 3) for attempt in (1, 2)]
