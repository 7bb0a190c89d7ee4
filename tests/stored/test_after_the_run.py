"""What is in the record after a run, and what observers can do to it: nothing."""

from __future__ import annotations

from typing import Any, get_args

import anyio
import pytest
from tests.core.runs import chain, raising

from flowcore.events import Event
from flowcore.store import MemoryRunStore
from flowcore.testing import FakeClock
from flowcore.testing.host_flows import Work
from flowcore.trigger import Trigger, TriggerKind

pytestmark = pytest.mark.anyio


def work(step: Any) -> None:
    step.state.count += 1
    step.emit("seen", step.state.count)
    step.artifact("page", "text", "text/plain")


@pytest.mark.behaviour("S1-01")
@pytest.mark.parametrize("kind", get_args(TriggerKind))
async def test_each_trigger_makes_one_record(kind: TriggerKind) -> None:
    store = MemoryRunStore()
    await chain(Work, work).run(Work(), store=store, trigger=Trigger(kind, user="ann"), clock=FakeClock())
    (row,) = await store.runs()
    assert (row.trigger.kind, row.trigger.user, row.status) == (kind, "ann", "completed")


@pytest.mark.behaviour("S1-14")
async def test_steps_events_artifacts_and_times_are_written() -> None:
    store = MemoryRunStore()
    await chain(Work, work, work).run(Work(), store=store, run_id="run", clock=FakeClock())
    stored = await store.load("run")
    assert [row.node for row in stored.visits] == ["n1", "n2", "end"]
    assert [row.kind for row in stored.notes].count("artifact.added") == 2
    assert [row.kind for row in stored.notes].count("custom") == 2
    assert all(row.ended >= row.started for row in stored.visits)
    assert stored.run.end is not None
    assert "seconds" in stored.run.end.usage


@pytest.mark.behaviour("S1-24")
@pytest.mark.parametrize("ending", ["completed", "failed", "cancelled"])
async def test_completed_is_told_once_and_on_success_only(ending: str) -> None:
    told: list[str] = []

    async def act(step: Any) -> None:
        if ending == "cancelled":
            await anyio.sleep_forever()

    def value(step: Any) -> int:
        if ending == "failed":
            raise ValueError("no")
        return 1

    flow = chain(Work, act, value=value)
    observers = [lambda event: told.append(event.kind)]
    async with flow.start(Work(), store=MemoryRunStore(), observers=observers) as run:
        if ending == "cancelled":
            await run.cancel()
        assert (await run.wait()).status == ending
        kinds = [event.kind async for event in run.events()]
    assert kinds.count("run.completed") == (ending == "completed")
    assert kinds[-1] == f"run.{ending}"


@pytest.mark.behaviour("S1-32", "S1-33")
async def test_observers_that_are_slow_or_raise_change_and_delay_nothing() -> None:
    store, free = MemoryRunStore(), anyio.Event()
    seen: list[str] = []

    async def slow(event: Event) -> None:
        await free.wait()
        seen.append(event.kind)

    observers: Any = [slow, raising(error=LookupError("an observer"))]
    with anyio.fail_after(10):
        result = await chain(Work, work).run(Work(), store=store, run_id="run", observers=observers, check=False)
    assert (result.status, seen) == ("completed", [])
    assert (await store.run("run")).status == "completed"
    free.set()
