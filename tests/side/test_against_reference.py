"""Random nests of rows, branches, items and sub-flows, held against a plain evaluation under every schedule."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from tests.stepping import StepClock

from flowcore import Budget, RunResult, Step

from .moving import finished
from .nests import Leaf, Reference, Row, Sheet, flow_of, random_nest

ROOT = Path(__file__).parents[2]
CHUNKS, NESTS, SCHEDULES = 4, 25, 3


async def run_nest(nest: Row, schedule: int) -> RunResult[Any]:
    """Runs a nest in which each visit waits for a time that the schedule draws."""
    clock = StepClock()

    async def act(step: Step[Sheet], leaf: Leaf) -> None:
        rng = Random(f"{schedule} {step.path} {step.attempt}")
        if leaf.hangs:
            await anyio.Event().wait()
        elif (chance := rng.random()) < 0.2:
            await anyio.lowlevel.checkpoint()
        elif chance < 0.8:
            await clock.sleep(rng.choice([0.0, 0.1, 0.2, 0.5, 1.0, 3.0]))

    return await finished(flow_of(nest, act), Sheet(), clock, budget=Budget(rounds=None))


@pytest.mark.behaviour("A63", "A65", "A67", "A73")
@pytest.mark.parametrize("chunk", range(CHUNKS))
async def test_a_nest_comes_to_the_same_as_a_plain_evaluation_under_every_schedule(chunk: int) -> None:
    for seed in range(chunk * NESTS, (chunk + 1) * NESTS):
        nest = random_nest(seed)
        reference = Reference()
        status, sheet, value, path = reference.result(nest)
        texts = set()
        for schedule in range(SCHEDULES):
            result = await run_nest(nest, schedule)
            told = f"seed {seed}, schedule {schedule}: {nest}\n{result.failure}\n{result.trace.to_text()}"
            assert result.status == status, told
            assert Reference().plain(result.state) == sheet, told
            assert (result.value, result.trace.path) == (value, path), told
            assert result.usage.rounds == reference.rounds, told
            texts.add(result.trace.to_text())
        assert len(texts) == 1, (seed, *texts)


def told_by_a_process(hash_seed: int) -> tuple[str, str]:
    """Returns the texts of many nests on both event loops, run in a process of its own."""
    command = [sys.executable, "-m", "tests.side.tell_nests", str(hash_seed)]
    env = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    told = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=50)
    assert told.returncode == 0, told.stderr
    on_asyncio, _, on_trio = told.stdout.partition("== trio ==\n")
    return on_asyncio, on_trio


@pytest.mark.behaviour("A73", "A77")
def test_a_nest_gives_the_same_text_under_five_hash_seeds_on_both_event_loops() -> None:
    texts = [text for hash_seed in range(5) for text in told_by_a_process(hash_seed)]
    assert texts[0].count("\nresult completed\n") > 10
    assert len(texts) == 10
    assert len(set(texts)) == 1
