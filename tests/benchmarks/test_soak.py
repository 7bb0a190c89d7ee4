"""Many agents at once, with failures, timeouts and cancellations by chance, on a clock that the test moves."""

from __future__ import annotations

import gc
import random

import anyio
import pytest
from benchmarks.moody import Outside
from benchmarks.soak import Soak

from flowcore.testing import FakeClock

AGENTS, SECONDS = 12, 2.0


@pytest.mark.behaviour("S0-31", "S0-32", "S3-22")
async def test_each_run_ends_once_and_leaves_nothing() -> None:
    clock = FakeClock()
    outside = Outside(clock, random.Random(1))
    soak = Soak(outside, SECONDS)
    before = len(anyio.get_running_tasks())
    ended = anyio.Event()

    async def soaked() -> None:
        await soak.run(AGENTS)
        ended.set()

    async with anyio.create_task_group() as group:
        group.start_soon(soaked)
        while not ended.is_set():
            if not await clock.jump():
                await anyio.sleep(0.001)  # a thread is still counting
    gc.collect()
    assert soak.wrong == []
    assert (outside.connections, outside.files) == (0, 0)
    assert len(anyio.get_running_tasks()) == before
    assert not clock.is_awaited
    how = {end.partition(": ")[2].split()[0] for end in soak.ended}
    assert how == {"completed", "failed", "cancelled"}
    assert sum(soak.ended.values()) >= 3 * AGENTS
    assert outside.most > AGENTS // 2
