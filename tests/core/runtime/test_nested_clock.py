"""A run inside a run has the clock of the one around, so that one deadline holds for both."""

from __future__ import annotations

from dataclasses import dataclass

import anyio
import pytest

from flowcore import Budget, BudgetExhausted, Complete, Flow, Step, node
from flowcore.testing import FakeClock


@dataclass
class Work:
    pass


async def test_the_deadline_of_the_run_around_holds_inside_on_its_clock() -> None:
    clock = FakeClock()
    begun, ended = anyio.Event(), list[str]()

    @node
    async def hang(step: Step[Work]) -> Complete[None]:
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(step.path)
        return Complete(None)

    inner = Flow("inner", hang)

    @node
    async def around(step: Step[Work]) -> Complete[None]:
        await inner.run(Work())
        return Complete(None)

    flow = Flow("outer", around)
    async with flow.start(Work(), budget=Budget(seconds=10), clock=clock) as run:
        await begun.wait()
        await clock.advance(10)
        with pytest.raises(BudgetExhausted):
            await run.result()
    assert ended == ["hang#1"]


async def test_a_run_inside_counts_its_time_on_the_clock_of_the_one_around() -> None:
    clock = FakeClock()

    @node
    async def second(step: Step[Work]) -> Complete[None]:
        return Complete(None)

    @node
    async def around(step: Step[Work]) -> Complete[str]:
        result = await Flow("inner", second).run(Work(), budget=Budget(seconds=5), check=False)
        return Complete(f"{result.status} {result.usage.seconds:g}")

    assert await Flow("outer", around).run(Work(), budget=Budget(seconds=10), clock=clock) == "completed 0"
