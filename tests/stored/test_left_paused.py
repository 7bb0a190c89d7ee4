"""A run that is paused when its event loop ends: the loop ends, and what is stored stays paused, for anybody."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from flowcore import Complete, Continue, Flow, Run, Step, node
from flowcore.store import MemoryRunStore, RunStore, SQLiteRunStore


@dataclass
class State:
    is_quick: bool = False


@node
async def slow(step: Step[State, list[str]]) -> Continue:
    step.deps.append("slow")
    if len(step.deps) == 1:
        await anyio.sleep_forever()
    return Continue()


@node
async def end(step: Step[State]) -> Complete[str]:
    return Complete("done")


flow = Flow("left", slow.to(end), end)


def left_paused(backend: str, store: RunStore | None, calls: list[str]) -> Run[str]:
    """Pause a run, and let its event loop end."""

    async def main() -> Run[str]:
        run = flow.start(State(), deps=calls, store=store, run_id="left")
        await run.__aenter__()
        with anyio.fail_after(10):
            while not calls:
                await anyio.lowlevel.checkpoint()
            await run.pause()
        assert run.is_paused
        return run

    return anyio.run(main, backend=backend)


@pytest.mark.behaviour("S1-18")
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_the_event_loop_ends_and_the_run_with_it(backend: str) -> None:
    run = left_paused(backend, None, [])
    assert run.trace.ending is not None
    assert (run.trace.ending.status, run.trace.ending.reason) == ("cancelled", "shutdown")


@pytest.mark.behaviour("S1-18")
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_stored_one_stays_paused_and_anybody_may_resume_it(backend: str, kind: str, tmp_path: Path) -> None:
    store: RunStore = MemoryRunStore() if kind == "memory" else SQLiteRunStore(tmp_path / "runs.db")
    calls: list[str] = []
    left_paused(backend, store, calls)

    async def later() -> str:
        row = await store.run("left")
        assert (row.status, row.owner) == ("paused", "")
        return await flow.resume("left", store=store, deps=calls)

    assert anyio.run(later, backend=backend) == "done"
    assert calls == ["slow", "slow"]
