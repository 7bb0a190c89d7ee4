"""With five requests left, five start: of 8, 100 and 1,000 that want one each, under every schedule."""

from __future__ import annotations

from random import Random
from typing import Any

import anyio.lowlevel
import pytest
from tests.stepping import StepClock

from flowcore import Budget, BudgetExhausted, Continue, Step, Unfinished, current_scope, each, node, parallel

from ..core.runs import does
from .moving import finished
from .states import Page, around, item_flow, items

LEFT = 5
every_schedule = pytest.mark.parametrize("schedule", range(3))
every_count = pytest.mark.parametrize("count", [8, 100, 1000])


class Asked:
    """What asks for one request each, after a while that the schedule draws, and what came of it."""

    def __init__(self, schedule: int) -> None:
        self.clock = StepClock()
        self.started: list[str] = []
        self.answered: list[str] = []
        self.refused = 0
        self._schedule = schedule

    async def __call__(self, step: Any) -> None:
        rng = Random(f"{self._schedule} {step.path}")
        if self._schedule == 1:
            await anyio.lowlevel.checkpoint()
        elif self._schedule:
            await self.clock.sleep(rng.choice([0.0, 0.1, 0.2, 0.3]))
        try:
            async with current_scope().request():
                self.started.append(step.path)
                if self._schedule:
                    await self.clock.sleep(rng.choice([0.1, 0.5, 1.0]))
                self.answered.append(step.path)
        except BudgetExhausted:
            self.refused += 1
            raise


@pytest.mark.behaviour("A25")
@every_schedule
@every_count
async def test_exactly_five_branches_start(count: int, schedule: int) -> None:
    """Whether one refusal stops the rest (all) or not (any): no sixth request is ever sent."""
    joins: tuple[Any, ...] = ("all",) if count == 1000 else ("all", count, "any")
    for join in joins:
        asked = Asked(schedule)
        branches = [does(asked, f"b{number}", Page, starts_round=False) for number in range(count)]
        fan: Any = parallel("fan", *branches, join=join)
        result = await finished(around(fan), Page(), asked.clock, budget=Budget(rounds=None, requests=LEFT))
        if join == "any":
            assert result.status == "completed"
            assert 1 <= len(asked.started) <= LEFT
        else:
            assert (result.status, result.exhausted) == ("failed", "requests")
            assert len(asked.started) == LEFT
        assert result.usage.requests == len(asked.started)


@pytest.mark.behaviour("A25")
@every_schedule
@every_count
async def test_exactly_five_of_branches_that_bear_a_refusal_start(count: int, schedule: int) -> None:
    asked = Asked(schedule)

    async def act(step: Any) -> None:
        try:
            await asked(step)
        except BudgetExhausted:
            step.state.words.append("refused")

    branches = [does(act, f"b{number}", Page, starts_round=False) for number in range(count)]
    budget = Budget(rounds=None, requests=LEFT)
    result = await finished(around(parallel("fan", *branches)), Page(), asked.clock, budget=budget)
    assert result.status == "completed"
    assert (len(asked.started), len(asked.answered), asked.refused) == (LEFT, LEFT, count - LEFT)
    assert len(result.state.words) == count - LEFT
    assert result.usage.requests == LEFT


@pytest.mark.behaviour("A25")
@every_schedule
@every_count
@pytest.mark.parametrize("limit", [1, 2000])
async def test_exactly_five_items_start(count: int, schedule: int, limit: int) -> None:
    asked = Asked(schedule)
    got: list[Any] = []

    def collect(draft: Page, results: list[int | Unfinished]) -> Continue:
        got.extend(results)
        return Continue()

    row: Any = each("map", over=items(count), do=item_flow(asked), collect=collect, limit=limit)
    result = await finished(around(row), Page(), asked.clock, budget=Budget(rounds=None, requests=LEFT))
    assert (result.status, result.exhausted, result.usage.requests) == ("failed", "requests", LEFT)
    assert (len(asked.started), len(asked.answered)) == (LEFT, LEFT)
    assert [index for index, one in enumerate(got) if not isinstance(one, Unfinished)] == sorted(
        one for one in got if isinstance(one, int)
    )
    assert (len(got), sum(isinstance(one, Unfinished) for one in got)) == (count, count - LEFT)


@pytest.mark.behaviour("A25")
@every_count
async def test_exactly_five_rounds_are_begun_by_items(count: int) -> None:
    began: list[int] = []
    flow = item_flow(lambda step: began.append(step.state.index), starts_round=True)

    def collect(draft: Page, results: list[int | Unfinished]) -> Continue:
        return Continue()

    row: Any = each("map", over=items(count), do=flow, collect=collect, limit=50)
    result = await finished(around(row), Page(), budget=Budget(rounds=LEFT))
    assert (result.status, result.exhausted, result.usage.rounds) == ("failed", "rounds", LEFT)
    assert len(began) == LEFT


@pytest.mark.behaviour("A25")
async def test_exactly_five_of_twenty_threads_start() -> None:
    started: list[str] = []

    def made(id: str) -> Any:
        @node(id=id, starts_round=False)
        def ask(step: Step[Page]) -> Continue:
            try:
                step.scope.charge(requests=1)
            except BudgetExhausted:
                step.state.words.append("refused")
                return Continue()
            started.append(id)
            return Continue()

        return ask

    fan = parallel("fan", *(made(f"t{number}") for number in range(20)))
    result = await finished(around(fan), Page(), budget=Budget(requests=LEFT))
    assert (result.status, len(started), len(result.state.words)) == ("completed", LEFT, 15)


@pytest.mark.behaviour("A25")
@every_schedule
async def test_the_tighter_budget_of_an_embedding_counts(schedule: int) -> None:
    asked = Asked(schedule)

    def collect(draft: Page, results: list[int | Unfinished]) -> Continue:
        draft.number += sum(isinstance(one, int) for one in results)
        return Continue()

    budget = Budget(rounds=None, requests=3)
    row: Any = each("map", over=items(8), do=item_flow(asked), collect=collect, limit=8, budget=budget)
    result = await finished(around(row), Page(), asked.clock, budget=Budget(rounds=None, requests=LEFT))
    assert (result.status, result.state.number, len(asked.started)) == ("completed", 3, 3)
