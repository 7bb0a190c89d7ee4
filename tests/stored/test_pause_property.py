"""Random runs that are paused at any place and go on: they end as if nothing had happened."""

from __future__ import annotations

from typing import Any

import anyio.lowlevel
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowcore import Run, Step
from flowcore.store import MemoryRunStore
from flowcore.trace_events import trace_events

from .lives import ended, told
from .worlds import Make, World, free_walk, nest

quick = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
CALM = 60
"""Passes of the loop after which a pause has come to the innermost walk, and everything waits."""
every_world = pytest.mark.parametrize("make", [nest, free_walk])


class Pauses:
    """Pauses a run when nodes have begun so many times, and lets it go on when it waits."""

    def __init__(self, *places: int) -> None:
        self.places = places
        self.begun = 0
        self.paused = 0
        self.run: Run[Any] | None = None

    async def at(self, step: Step[Any, Any]) -> None:
        self.begun += 1
        if self.begun in self.places and self.run is not None:
            self.paused += 1
            await self.run.pause()

    async def go_on(self, run: Run[Any]) -> None:
        self.run = run
        while True:
            await anyio.lowlevel.checkpoint()
            if run.is_paused:
                await run.resume()


async def paused(world: World, pauses: Pauses, **options: Any) -> Any:
    run = world.flow.start(world.state, clock=world.clock, budget=world.budget, deps=pauses, **options)
    return await ended(run, world.clock, pauses.go_on, CALM)


async def check(make: Make, seed: int, *places: int, **options: Any) -> int:
    """Pauses at the places and compares with the run that nobody paused. Returns how many places there were."""
    never, pauses = Pauses(), Pauses(*places)
    expected = await paused(make(seed), never)
    result = await paused(make(seed), pauses, **options)
    assert told(result) == told(expected)
    assert result.trace.to_text() == expected.trace.to_text()
    kinds = [event.kind for event in trace_events(result.trace)]
    assert kinds.count("run.paused") == kinds.count("run.resumed") == pauses.paused
    assert kinds.count("run.started") == 1
    return never.begun


@every_world
@quick
@given(seed=st.integers(0, 3_000), places=st.sets(st.integers(1, 15), min_size=1, max_size=3))
async def test_a_run_that_was_paused_ends_as_if_it_had_not(make: Make, seed: int, places: set[int]) -> None:
    await check(make, seed, *places)


@every_world
@pytest.mark.parametrize("seed", [1, 11, 20])
@pytest.mark.parametrize("stored", [False, True])
async def test_wherever_a_run_is_paused(make: Make, seed: int, stored: bool) -> None:
    for place in range(1, 1 + await check(make, seed)):
        await check(make, seed, place, place + 1, **({"store": MemoryRunStore()} if stored else {}))
