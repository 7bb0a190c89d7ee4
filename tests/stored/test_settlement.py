"""The ending of a stored run: the first one stands, for everybody; all of it is written, or nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from tests.core.runs import chain
from tests.people.desk import Letter, consent_flow, pending, plain
from tests.stored.dying import RUN, Job, store_of

from flowcore import Complete, Flow, Step, node
from flowcore.control import control
from flowcore.errors import ContractError, RunConflict, RunNotFound, StoreError
from flowcore.events import Event
from flowcore.models import ModelRunner
from flowcore.store import RunStore, SQLiteRunStore
from flowcore.testing import FakeClock, ScriptedModel
from flowcore.testing.host_flows import Work
from flowcore.testing.store_rows import BEGAN, ME, call_row, end_row, request_row, run_row, write_of
from flowcore.trigger import Trigger

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> RunStore:
    return store_of(request.param, tmp_path)


class Door:
    """Where a node waits for a test; it may be deaf to being cancelled."""

    def __init__(self, *, deaf: bool = False) -> None:
        self.begun, self.open = anyio.Event(), anyio.Event()
        self.deaf = deaf
        self.passed = 0

    async def wait(self, step: Any = None) -> None:
        self.begun.set()
        with anyio.CancelScope(shield=self.deaf):
            await self.open.wait()
        self.passed += 1


@pytest.mark.behaviour("S1-28")
async def test_a_stop_and_then_the_completion_is_a_stop(store: RunStore) -> None:
    door = Door()
    async with chain(Work, door.wait, value=lambda step: 7).start(Work(), store=store, run_id=RUN) as run:
        await door.begun.wait()
        async with anyio.create_task_group() as group:
            group.start_soon(run.stop)
            await anyio.lowlevel.checkpoint()
            door.open.set()
        result = await run.wait()
    assert (result.status, result.reason, door.passed) == ("cancelled", "stop", 1)
    assert (await store.run(RUN)).status == "cancelled"


@pytest.mark.behaviour("S1-28")
async def test_the_completion_and_then_a_stop_is_a_completion(store: RunStore) -> None:
    async with chain(Work, lambda step: None, value=lambda step: 7).start(Work(), store=store, run_id=RUN) as run:
        result = await run.wait()
        before = await store.load(RUN)
        await run.stop()
        await run.cancel("interrupt")
        assert (await control(store, RUN).stop()).status == "completed"
        assert (await control(store, RUN).interrupt()).status == "completed"
        assert (result.status, result.value, await run.wait()) == ("completed", 7, result)
    assert await store.load(RUN) == before


@pytest.mark.behaviour("S1-28")
async def test_of_a_hundred_who_end_a_run_one_does_and_all_see_the_same(store: RunStore) -> None:
    door, seen = Door(), list[tuple[str, str]]()
    async with chain(Work, door.wait, value=lambda step: 7).start(Work(), store=store, run_id=RUN) as run:
        await door.begun.wait()
        outside = control(store, RUN)

        async def end(number: int) -> None:
            for _ in range(number % 7):
                await anyio.lowlevel.checkpoint()
            if number == 50:
                door.open.set()
            elif number % 5 == 0:
                state = await outside.stop()
                seen.append((state.status, state.reason))
                return
            elif number % 5 == 1:
                state = await outside.interrupt()
                seen.append((state.status, state.reason))
                return
            elif number % 5 == 2:
                await run.stop()
            else:
                await run.cancel("user" if number % 2 else "shutdown")
            result = await run.wait()
            seen.append((result.status, result.reason))

        async with anyio.create_task_group() as group:
            for number in range(100):
                group.start_soon(end, number)
        told = [event.kind async for event in run.events()]
    stored = await store.load(RUN)
    assert stored.run.end is not None
    assert seen == [(stored.run.status, stored.run.end.reason)] * 100
    assert [kind for kind in told if kind in ("run.completed", "run.failed", "run.cancelled")] == told[-1:]
    assert [row.kind for row in stored.notes].count(told[-1]) == 1


@pytest.mark.behaviour("S1-29")
@pytest.mark.parametrize("end", ["stop", "interrupt", "user"])
async def test_what_comes_late_leaves_the_record_as_it_is(store: RunStore, end: Any) -> None:
    """A reply of a model, a note of a node, and an observer, all after the run was ended."""
    clock, door, watching = FakeClock(), Door(deaf=True), Door(deaf=True)
    seen: list[Event] = []

    class Late(ScriptedModel):
        async def complete(self, request: Any, **options: Any) -> Any:
            await door.wait()
            return await super().complete(request, **options)

    runner = ModelRunner(Late(["late"]))

    @node
    async def asks(step: Step[Work]) -> Complete[str]:
        try:
            step.state.consent = (await runner.invoke("hi")).text
        finally:
            step.emit("late", 1)
            step.artifact("late", "text", "text/plain")
        return Complete("late")

    async def observe(event: Event) -> None:
        seen.append(event)
        if event.kind == "run.cancelled":
            await watching.wait()

    flow = Flow("asks", asks)
    options: dict[str, Any] = {"store": store, "run_id": RUN, "clock": clock, "grace": 1.0}
    async with flow.start(Work(), observers=[observe], **options) as run:
        await door.begun.wait()
        async with anyio.create_task_group() as group:
            group.start_soon(run.cancel, end)
            await clock.advance(3)
        result, before = await run.wait(), await store.load(RUN)
        told = [event async for event in run.events()]
        door.open.set()
        watching.open.set()
        await clock.settle()
        assert [event async for event in run.events()] == told
    await clock.settle()
    assert door.passed == 1
    assert (result.status, result.reason, result.stragglers) == ("cancelled", end, ("asks#1",))
    assert await store.load(RUN) == before
    assert told[-1].kind == "run.cancelled"
    assert seen == told
    assert [row.status for row in before.calls if row.kind == "model"] != ["done"]


@pytest.mark.behaviour("S1-29")
async def test_an_answer_that_is_delivered_late_leaves_the_record_as_it_is(store: RunStore) -> None:
    async with consent_flow(plain).start(Letter(), store=store, run_id=RUN) as run:
        (request,) = await pending(run)
        await run.cancel("interrupt")
        before = await store.load(RUN)
        with pytest.raises(ContractError, match="withdrawn"):
            await run.answer(request.id, True)
        with pytest.raises(RunConflict):
            await control(store, RUN).answer(request.id, True)
    assert await store.load(RUN) == before
    assert [row.status for row in before.requests] == ["withdrawn"]


@pytest.mark.behaviour("S1-30")
async def test_whatever_is_active_ends_with_the_run_or_nothing_does(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = SQLiteRunStore(path)
    rows: dict[str, Any] = {"calls": (call_row(),), "requests": (request_row(),)}
    await store.create(run_row(), write_of(**rows))
    await store.create(
        run_row("child", owner="elsewhere", trigger=Trigger("delegation", parent="run")),
        write_of("child", "elsewhere", **rows),
    )
    before = [await store.load(name) for name in ("run", "child")]
    for table in ("calls", "requests"):
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute(f"CREATE TRIGGER fails BEFORE UPDATE ON {table} BEGIN SELECT RAISE(ABORT, 'no'); END")
        with pytest.raises(StoreError):
            await store.settle("run", end_row("cancelled", BEGAN + 9, reason="stop"), None, owner=ME)
        assert [await store.load(name) for name in ("run", "child")] == before
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("DROP TRIGGER fails")
    assert await store.settle("run", end_row("cancelled", BEGAN + 9, reason="stop"), None, owner=ME) is True
    for name, reason in (("run", "stop"), ("child", "parent")):
        stored = await store.load(name)
        assert (stored.run.status, stored.run.end and stored.run.end.reason) == ("cancelled", reason)
        assert [row.status for row in stored.calls] == ["unknown"]
        assert [row.status for row in stored.requests] == ["withdrawn"]
        assert stored.run.owner == ""
    await store.aclose()


@pytest.mark.behaviour("S1-02")
async def test_what_is_wrong_before_a_run_begins_leaves_no_record(store: RunStore) -> None:
    class Deps:
        """What the node wants."""

    @node
    async def wants(step: Step[Job, Deps]) -> Complete[int]:
        return Complete(1)

    def resolved() -> Deps:
        raise LookupError("there is no such model")

    flow: Any = Flow("wants", wants)
    with pytest.raises(ContractError, match="wants deps of type Deps"):
        await flow.run(Job(), store=store, run_id=RUN)
    with pytest.raises(ContractError, match="wants a state of type Job"):
        await flow.run(Work(), deps=Deps(), store=store, run_id=RUN)
    with pytest.raises(LookupError):
        await flow.run(Job(), deps=resolved(), store=store, run_id=RUN)
    with pytest.raises(RunNotFound):
        await store.run(RUN)
    assert await store.runs() == []
    assert await flow.run(Job(), deps=Deps(), store=store, run_id=RUN) == 1
