"""Random runs, forked at each of their visits: each fork ends as the run did, and the run is not touched."""

from __future__ import annotations

from typing import Any

import pytest

from flowcore import RunResult
from flowcore.store import MemoryRunStore

from . import worlds
from .lives import ended

SEEDS = range(80)
MOST = 10
"""Visits of one run that it is forked at."""


def told(result: RunResult[Any]) -> tuple[object, ...]:
    """Returns how a run ended, as far as it does not depend on what was faster."""
    failure = None if result.failure is None else (result.failure.path, result.failure.type)
    return result.status, result.value, failure, result.exhausted


@pytest.mark.behaviour("A93")
@pytest.mark.parametrize("make", [worlds.free_walk, worlds.walk, worlds.nest])
async def test_a_fork_ends_as_the_run_did(make: worlds.Make) -> None:
    tried = 0
    for seed in SEEDS[:25] if make is worlds.nest else SEEDS:
        world, store = make(seed), MemoryRunStore()
        run = world.flow.start(world.state, store=store, run_id="run", budget=world.budget, clock=world.clock)
        base = await ended(run, world.clock)
        before = await store.load("run")
        for visit in list(base.trace)[:MOST]:
            again = make(seed)
            forked = await again.flow.fork("run", at=visit.path, store=store, clock=world.clock)
            result = await ended(again.flow.reopen(forked.run_id, store=store, clock=again.clock), again.clock)
            assert told(result) == told(base), (seed, visit.path)
            if make is not worlds.nest:
                assert result.trace.path == base.trace.path, (seed, visit.path)
                assert result.usage.rounds == base.usage.rounds, (seed, visit.path)
            tried += 1
        assert await store.load("run") == before
    assert tried > 120
