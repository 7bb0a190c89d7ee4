"""Waits: faults of runs that are reported and not mended yet."""

from __future__ import annotations

from typing import Any

import anyio

from flowcore import Budget, Flow

from .runs import does, ends
from .scope.test_scope_in_runs import budget_events
from .states import Note


async def test_time_that_ran_out_takes_no_route_whatever_the_node_makes_of_it() -> None:
    async def turns(step: Any) -> Any:
        try:
            await anyio.sleep_forever()
        except BaseException as error:
            raise KeyError("another error") from error

    last = ends(Note)
    flow = Flow("f", does(turns, "slow", Note).to(last).on_error(last), last)
    result = await flow.run(Note(), budget=Budget(seconds=0.02), check=False)
    assert [visit.kind for visit in result.trace] in (["unfinished"], ["failed"])


async def test_a_limit_is_warned_of_once() -> None:
    assert (await budget_events(8)).count(("budget.warned", "requests")) == 1
