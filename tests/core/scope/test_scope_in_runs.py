"""The scope of a run: the run's own, found by everything beneath it, and closed when the run has ended."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from flowcore import Budget, BudgetExhausted, Complete, Flow, Scope, Step, current_scope, node

from ..runs import chain, does, ends
from ..states import Note


async def test_a_node_finds_the_scope_of_its_run() -> None:
    def look(step: Any) -> None:
        assert current_scope() is step.scope
        step.scope.charge(tool_calls=2)

    result = await chain(Note, look).run(Note(), check=False)
    assert (result.value, result.usage.tool_calls) == (None, 2)
    with pytest.raises(LookupError):
        current_scope()


async def test_a_sync_node_finds_it_in_its_thread() -> None:
    @node
    def look(step: Step[Note]) -> Complete[bool]:
        current_scope().charge(requests=1)
        return Complete(current_scope() is step.scope)

    result = await Flow("f", look).run(Note(), check=False)
    assert (result.value, result.usage.requests) == (True, 1)


async def test_tasks_that_a_node_starts_spend_the_runs_budget() -> None:
    started: list[int] = []

    async def spend(number: int) -> None:
        async with current_scope().request():
            started.append(number)
            await anyio.lowlevel.checkpoint()

    async def many(step: Any) -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(8):
                tasks.start_soon(spend, number)

    last = ends(Note)
    flow = Flow("f", does(many, "many", Note).to(last), last)
    result = await flow.run(Note(), budget=Budget(requests=5), check=False)
    assert (result.status, len(started), result.usage.requests) == ("failed", 5, 5)


async def test_a_run_inside_a_scope_spends_that_scope() -> None:
    flow = chain(Note, lambda step: step.scope.charge(requests=1))
    async with Scope(Budget(requests=2, rounds=9)) as outer:
        for _ in range(2):
            assert (await flow.run(Note(), check=False)).status == "completed"
        result = await flow.run(Note(), check=False)
    assert result.value is not None
    assert result.value.type == "BudgetExhausted"
    assert (outer.used.requests, outer.used.rounds) == (2, 3)


async def test_each_run_has_counters_of_its_own() -> None:
    flow = chain(Note, lambda step: step.scope.charge(requests=1))
    for _ in range(3):
        result = await flow.run(Note(), budget=Budget(requests=1), check=False)
        assert (result.status, result.usage.requests, result.usage.rounds) == ("completed", 1, 1)


async def test_after_its_run_a_scope_takes_no_charge_any_more() -> None:
    kept: list[Scope] = []
    result = await chain(Note, lambda step: kept.append(step.scope)).run(Note(), check=False)
    before = kept[0].used
    with pytest.raises(BaseException):  # noqa: B017, PT011 - the loop's own cancellation
        kept[0].charge(requests=1)
    assert kept[0].used == before
    assert result.usage.requests == 0


async def budget_events(limit: int) -> list[tuple[str, str]]:
    seen: list[tuple[str, str]] = []

    def note(event: Any) -> None:
        if event.kind.startswith("budget."):
            seen.append((event.kind, event.dimension))

    async def spend(step: Any) -> None:
        for _ in range(2):
            async with step.scope.request():
                pass

    flow = chain(Note, *[spend] * 4)
    await flow.run(Note(), budget=Budget(requests=limit), observers=[note], check=False)
    return seen


async def test_a_limit_that_is_reached_is_told_once() -> None:
    assert (await budget_events(5)).count(("budget.exhausted", "requests")) == 1
    assert await budget_events(50) == []


def test_an_exhausted_budget_says_what_it_was() -> None:
    error = BudgetExhausted("tokens", 100, 150, "in#1")
    assert str(error) == "the tokens of 'in#1' ran out: 150 of 100 used"


def test_a_budget_of_which_something_is_left_says_why_it_is_not_enough() -> None:
    said = str(BudgetExhausted("requests", 4, 3))
    assert said == "the requests ran out: 3 of 4 used, and what is left beside a reserve is too little"


async def test_a_limit_is_warned_of_once() -> None:
    assert (await budget_events(8)).count(("budget.warned", "requests")) == 1
