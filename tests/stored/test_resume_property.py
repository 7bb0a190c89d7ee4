"""Random runs whose process dies at any write, again and again: they end as if nothing had happened."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowcore import RunResult
from flowcore.events import Event
from flowcore.trace_events import trace_events

from .lives import NEVER, Death, Lives, told
from .worlds import Make, World, nest, walk

quick = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
deaths = st.builds(Death, st.integers(1, 30), st.booleans())
seeds = st.integers(0, 3_000)
every_world = pytest.mark.parametrize("make", [nest, walk])


async def undisturbed(world: World) -> tuple[RunResult[Any], Lives]:
    lives = Lives(world.flow, world.clock)
    return await lives.live(world.state, budget=world.budget), lives


async def check(make: Make, seed: int, plan: list[Death]) -> None:
    """Lives through the deaths, and compares what comes of it with the run that nothing disturbed."""
    expected, _ = await undisturbed(make(seed))
    world = make(seed)
    lives = Lives(world.flow, world.clock)
    result = await lives.to_the_end(world.state, plan, budget=world.budget)
    stored = await lives.trace()
    assert stored.to_text() == expected.trace.to_text()
    if result is not None:
        assert told(result) == told(expected)
        assert result.trace.to_text() == expected.trace.to_text()
        assert trace_events(result.trace) == trace_events(stored)
    assert limits(trace_events(stored)) == limits(trace_events(expected.trace))
    seqs = [event.seq for event in trace_events(stored)]
    assert len(set(seqs)) == len(seqs)


def limits(events: list[Event]) -> Counter[tuple[str, str, str]]:
    """Returns what was told of limits, and how often."""
    kinds = ("budget.warned", "budget.exhausted")
    return Counter((event.kind, event.path, event.dimension) for event in events if event.kind in kinds)  # type: ignore[attr-defined]


@pytest.mark.behaviour("A77", "A79", "A81")
@every_world
@quick
@given(seed=seeds, plan=st.lists(deaths, min_size=1, max_size=4))
async def test_a_run_that_died_ends_as_if_it_had_not(make: Make, seed: int, plan: list[Death]) -> None:
    await check(make, seed, plan)


@every_world
@pytest.mark.parametrize("seed", [1, 11, 20, 51])
async def test_whichever_write_was_the_last_one(make: Make, seed: int) -> None:
    _, lives = await undisturbed(make(seed))
    for write in range(1, lives.writes + 1):
        for hears in (True, False):
            await check(make, seed, [Death(write, hears)])


@every_world
@pytest.mark.parametrize("death", [Death(1, hears=False), Death(2), Death(3, hears=False)])
@pytest.mark.parametrize("seed", [5, 12])
async def test_a_process_for_each_visit_or_two(make: Make, seed: int, death: Death) -> None:
    _, lives = await undisturbed(make(seed))
    await check(make, seed, [death] * (lives.writes + 5))


@pytest.mark.behaviour("S1-14")
@every_world
@quick
@given(seed=seeds)
async def test_what_is_stored_tells_what_was_heard(make: Make, seed: int) -> None:
    world, heard = make(seed), list[Event]()
    lives = Lives(world.flow, world.clock)
    result = await lives.live(world.state, NEVER, budget=world.budget, observers=[heard.append])
    stored = trace_events(await lives.trace())
    assert stored == trace_events(result.trace)
    assert stored == heard
