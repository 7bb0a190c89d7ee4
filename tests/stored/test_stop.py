"""A stop acts at the next boundary: what is at work ends and is kept, and nothing further begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from tests.people.desk import Letter, consent_flow, pending, plain
from tests.stored.dying import RUN, Job, asked, store_of

from flowcore import Complete, Continue, Flow, Step, each, node, parallel, tool
from flowcore.control import control
from flowcore.errors import ContractError, RunConflict
from flowcore.messages import ModelReply, ToolCall
from flowcore.models import ModelRunner
from flowcore.requests import Verification
from flowcore.store import RunStore
from flowcore.testing import FakeClock, ScriptedModel
from flowcore.tools import ToolCatalog, ToolExecutor

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> RunStore:
    return store_of(request.param, tmp_path)


class Held:
    """Work that says that it has begun, and goes on when a test lets it."""

    def __init__(self) -> None:
        self.begun, self.free = anyio.Event(), anyio.Event()
        self.ran: list[str] = []

    async def work(self, name: str) -> None:
        self.ran.append(name)
        self.begun.set()
        await self.free.wait()


def agent(held: Held, model: ScriptedModel, calls: list[ToolCall], *, effects: bool) -> Flow[Job, Any, Any]:
    """Returns a flow that asks a model, makes its calls one by one, and asks again."""

    @tool(effects=effects)
    async def look(name: str) -> str:
        """Looks."""
        await held.work(name)
        return f"saw {name}"

    executor, runner = ToolExecutor(ToolCatalog([look]), concurrency=1), ModelRunner(model)

    @node
    async def turn(step: Step[Job]) -> Complete[str]:
        await runner.invoke("what is there?")
        results = await executor.run(calls)
        step.state.paid = [result.text for result in results]
        return Complete((await runner.invoke("and now?")).text)

    return Flow("agent", turn)


async def ask_to_stop(store: RunStore, how: str, run: Any, group: Any) -> None:
    if how == "handle":
        group.start_soon(run.stop)
    else:
        await control(store, RUN).stop(timeout=0)
        await anyio.sleep(0.4)
    for _ in range(5):
        await anyio.lowlevel.checkpoint()


@pytest.mark.behaviour("S1-16")
@pytest.mark.parametrize("effects", [False, True])
@pytest.mark.parametrize("how", ["handle", "store"])
async def test_a_stop_in_the_middle_of_a_tool_keeps_its_result(store: RunStore, how: str, effects: bool) -> None:
    held, model = Held(), ScriptedModel([ModelReply("look"), "never asked"])
    calls = [ToolCall("c1", "look", '{"name": "a"}'), ToolCall("c2", "look", '{"name": "b"}')]
    async with agent(held, model, calls, effects=effects).start(Job(), store=store, run_id=RUN) as run:
        await held.begun.wait()
        async with anyio.create_task_group() as group:
            await ask_to_stop(store, how, run, group)
            assert run.trace.ending is None
            held.free.set()
        result = await run.wait()
        kinds = [event.kind async for event in run.events()]
    stored = await store.load(RUN)
    assert (result.status, result.reason) == ("cancelled", "stop")
    assert (held.ran, len(model.requests)) == (["a"], 1)
    assert (stored.run.status, stored.run.end and stored.run.end.reason) == ("cancelled", "stop")
    done = [(row.status, "saw a" in row.result) for row in stored.calls if row.kind in ("tool", "effect")]
    assert done == [("done", True)]
    assert [kind for kind in kinds if kind in ("tool.started", "tool.finished")][:2] == [
        "tool.started",
        "tool.finished",
    ]
    assert kinds.count("tool.started") == 1
    assert kinds[-1] == "run.cancelled"


@pytest.mark.behaviour("S1-16")
async def test_a_stop_in_branches_and_items_lets_each_end_its_visit(store: RunStore) -> None:
    held = Held()

    @node
    async def first(step: Step[Job]) -> Continue:
        await held.work(step.path)
        return Continue()

    @node
    async def second(step: Step[Job]) -> Complete[None]:
        held.ran.append("further")
        return Complete(None)

    @node(id="end")
    async def end(step: Step[Job]) -> Complete[str]:
        held.ran.append("end")
        return Complete("end")

    def row(id: str) -> Any:
        return Flow(id, first.to(second), second)

    def collect(job: Job, found: list[None]) -> Continue:
        return Continue()

    items = each("items", over=lambda job: [Job(), Job(), Job()], do=row("item"), collect=collect, limit=2)
    inner = Flow("inner", items.to(second), second).as_node("inner", state=Job)
    fan = parallel("fan", row("left").as_node("left"), inner)
    async with Flow("f", fan.to(end), end).start(Job(), store=store, run_id=RUN) as run:
        with anyio.fail_after(10):
            while len(held.ran) < 3:
                await anyio.lowlevel.checkpoint()
        async with anyio.create_task_group() as group:
            group.start_soon(run.stop)
            await anyio.lowlevel.checkpoint()
            held.free.set()
        result = await run.wait()
    assert (result.status, result.reason) == ("cancelled", "stop")
    assert sorted(held.ran) == [
        "fan#1/inner#1/items#1[0]/first#1",
        "fan#1/inner#1/items#1[1]/first#1",
        "fan#1/left#1/first#1",
    ]
    stored = await store.load(RUN)
    kinds = sorted((row.node, row.kind) for row in stored.visits)
    composites = [(name, "unfinished") for name in ("fan", "inner", "items", "left")]
    assert kinds == sorted([("first", "next")] * 3 + composites)
    assert stored.run.end is not None


@pytest.mark.behaviour("S1-16")
@pytest.mark.parametrize("how", ["handle", "store"])
async def test_a_stop_while_a_person_is_waited_for_withdraws_the_question(store: RunStore, how: str) -> None:
    async with consent_flow(plain).start(Letter(), store=store, run_id=RUN) as run:
        (request,) = await pending(run)
        if how == "store":
            assert (await control(store, RUN).stop()).status == "cancelled"
        else:
            await run.stop()
        result = await run.wait()
        with pytest.raises(ContractError, match="it was withdrawn"):
            await run.answer(request.id, True)
    assert (result.status, result.reason) == ("cancelled", "stop")
    stored = await store.load(RUN)
    assert [row.status for row in stored.requests] == ["withdrawn"]
    with pytest.raises(RunConflict):
        await store.answer(RUN, request.id, "true", "ann", stored.run.began + 1)
    assert await store.load(RUN) == stored


async def test_an_interrupt_after_a_stop_acts_at_once_and_a_stop_after_it_is_too_late(store: RunStore) -> None:
    held, model = Held(), ScriptedModel(["look", "never"])
    calls = [ToolCall("c1", "look", '{"name": "a"}')]
    async with agent(held, model, calls, effects=True).start(Job(), store=store, run_id=RUN) as run:
        await held.begun.wait()
        async with anyio.create_task_group() as group:
            group.start_soon(run.stop)
            await anyio.lowlevel.checkpoint()
            await run.cancel("interrupt")
            await run.stop()
        result = await run.wait()
    assert (result.status, result.reason, held.ran) == ("cancelled", "interrupt", ["a"])
    stored = await store.load(RUN)
    assert [row.status for row in stored.calls if row.kind == "effect"] == ["unknown"]


@pytest.mark.behaviour("S1-18")
async def test_a_pause_in_a_tool_with_effects_leaves_it_unknown_and_asks_on_resume(store: RunStore) -> None:
    held, model, clock = Held(), ScriptedModel(["look", "the end"]), FakeClock()
    calls = [ToolCall("c1", "look", '{"name": "a"}')]
    async with agent(held, model, calls, effects=True).start(Job(), store=store, run_id=RUN, clock=clock) as run:
        await held.begun.wait()
        await run.pause()
        assert run.is_paused
        assert held.ran == ["a"]
        await run.resume()
        request = await asked(run)
        assert (request.kind, request.tool) == ("verify", "look")
        await run.answer(request.id, Verification(True, "saw a"))
        assert await run.result() == "the end"
        result = await run.wait()
    assert (held.ran, len(model.requests)) == (["a"], 2)
    assert result.state.paid == ["It was interrupted, and a person found that it was done. It returned: saw a"]
