"""Pausing while a command is at work: it sees that it is cut off, and begins again when the run goes on."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.stored.dying import RUN, Job, store_of

from flowcore import Complete, Continue, Flow, Step, node, tool
from flowcore.messages import ToolCall
from flowcore.store import RunStore
from flowcore.testing import FakeClock
from flowcore.tools import ToolCatalog, ToolExecutor

SCRIPT = "import os, sys, time; print(os.getpid(), file=open(sys.argv[1], 'a'), flush=True); time.sleep({})"


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> RunStore:
    return store_of(request.param, tmp_path)


def shell(seen: Path, seconds: list[float], cut_off: list[str]) -> Flow[Job, Any, Any]:
    """Returns a flow that runs commands by a tool, each as long as it is told."""

    @tool
    async def run() -> str:
        """Runs a command."""
        try:
            await anyio.run_process([sys.executable, "-c", SCRIPT.format(seconds.pop(0)), str(seen)])
        except anyio.get_cancelled_exc_class():
            cut_off.append("run")
            raise
        return "ran"

    executor = ToolExecutor(ToolCatalog([run]))

    @node
    async def first(step: Step[Job]) -> Continue:
        step.state.text = "first"
        return Continue()

    @node
    async def command(step: Step[Job]) -> Complete[list[str]]:
        return Complete([result.text for result in await executor.run([ToolCall("c", "run", "{}")])])

    return Flow("shell", first.to(command), command)


def pids(seen: Path) -> list[int]:
    return [int(line) for line in seen.read_text().split()] if seen.exists() else []


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.behaviour("S1-18")
async def test_a_command_is_cut_off_and_the_run_waits_with_what_it_had(store: RunStore, tmp_path: Path) -> None:
    seen, clock, cut_off = tmp_path / "pids", FakeClock(), list[str]()
    flow = shell(seen, [1_000, 0], cut_off)
    async with flow.start(Job(), store=store, run_id=RUN, clock=clock) as run:
        with anyio.fail_after(20):
            while not pids(seen):  # noqa: ASYNC110 - the command is another process
                await anyio.sleep(0.01)
            async with anyio.create_task_group() as group:
                group.start_soon(run.pause)
                await clock.advance(1)  # what cleans up first is asked a second time
        (pid,) = pids(seen)
        assert (cut_off, is_alive(pid), run.is_paused, run.trace.ending) == (["run"], False, True, None)
        stored = await store.load(RUN)
        assert (stored.run.status, bool(stored.run.owner), stored.run.end) == ("paused", True, None)
        assert [(row.node, row.target) for row in stored.visits] == [("first", "command")]
        assert [row for row in stored.calls if row.status != "dispatched"] == []
        await clock.advance(5_000)
        assert (len(pids(seen)), run.is_paused) == (1, True)
        await run.resume()
        with anyio.fail_after(20):
            assert await run.result() == ["ran"]
    assert (len(pids(seen)), cut_off) == (2, ["run"])
    assert [row.node for row in (await store.load(RUN)).visits] == ["first", "command"]
