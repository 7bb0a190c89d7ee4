"""Calls of tools that a person has to agree to: parked, and dispatched once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.people.desk import pending, settled
from tests.stored.dying import Hangs, Job, dying, resumed, store_of
from tests.tools.room import Room, State, call

from flowcore import Approval, Complete, Flow, Step, node, tool
from flowcore.testing import FakeClock
from flowcore.tools import Allow, Ask, ToolCatalog, ToolExecutor


@pytest.mark.behaviour("S1-13", "S4-15")
@pytest.mark.parametrize(("answer", "times"), [(True, 1), (Approval(True, "fine"), 1), (False, 0)])
async def test_a_call_waits_for_consent_and_is_dispatched_once(answer: bool | Approval, times: int) -> None:
    dispatched: list[str] = []

    async def delete() -> str:
        dispatched.append("delete")
        return "deleted"

    room = Room([delete], {"policy": lambda proposal: Ask("Really?", expires=900)})
    async with room.flow([call("delete")]).start(State(), clock=room.clock) as run:
        (request,) = await pending(run)
        assert (request.kind, request.tool, request.form) == ("tool", "delete", "")
        await room.clock.advance(800)
        await settled(run)
        assert (dispatched, run.requests) == ([], (request,))
        await run.answer(request.id, answer, by="ann")
        assert (await run.wait()).status == "completed"
    assert dispatched == ["delete"] * times
    assert [result.status for result in room.results] == ["ok" if times else "denied"]


def suspending(hangs: Hangs, effects: bool) -> Flow[Job, Any, list[str]]:
    """Returns a flow that calls a tool which has to be agreed to, and then one that hangs, in one visit."""

    @tool(effects=effects)
    async def delete() -> str:
        """Deletes."""
        await hangs.do("delete")
        return "deleted"

    @tool
    async def wait() -> str:
        """Waits."""
        await hangs.do("wait")
        return "waited"

    def policy(proposal: Any) -> Allow | Ask:
        return Ask("Really?", expires=900) if proposal.tool.name == "delete" else Allow()

    executor = ToolExecutor(ToolCatalog([delete, wait]), policy=policy)

    @node
    async def go(step: Step[Job]) -> Complete[list[str]]:
        one, two = await executor.run([call("delete")]), await executor.run([call("wait")])
        return Complete([result.text for result in (*one, *two)])

    return Flow("suspending", go)


@pytest.mark.behaviour("S1-13", "S4-15")
@pytest.mark.parametrize("effects", [False, True])
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_a_run_that_was_suspended_in_a_dead_process_dispatches_the_call_once(
    kind: str, effects: bool, tmp_path: Path
) -> None:
    store, clock, hangs = store_of(kind, tmp_path), FakeClock(), Hangs({"wait"})
    flow = suspending(hangs, effects)
    async with dying(flow, store, clock) as run:
        (request,) = await pending(run)
        await settled(run)
    assert ((await store.run("run")).status, hangs.did) == ("waiting", [])
    async with dying(flow, store, clock) as run:
        assert await pending(run) == (request,)
        await settled(run)
        assert hangs.did == []
        await run.answer(request.id, True, by="ann")
        await hangs.begun.wait()
    assert hangs.did == ["delete", "wait"]
    hangs.begun = anyio.Event()
    again = await resumed(flow, store, clock)
    assert (again.value, hangs.did) == (["deleted", "waited"], ["delete", "wait", "wait"])
    assert again.heard("request.opened") == []
    assert [row.status for row in await store.requests("run", pending=False)] == ["answered"]


@pytest.mark.behaviour("A83")
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("deaths", [1, 3])
async def test_consent_to_a_call_that_begins_again_is_asked_for_once_and_told_once(
    kind: str, deaths: int, tmp_path: Path
) -> None:
    store, clock, hangs = store_of(kind, tmp_path), FakeClock(), Hangs({"delete"})
    flow = suspending(hangs, effects=False)
    async with dying(flow, store, clock) as run:
        (request,) = await pending(run)
        await run.answer(request.id, True, by="ann")
        await hangs.begun.wait()
    for _ in range(deaths - 1):
        hangs.at, hangs.begun = {"delete"}, anyio.Event()
        async with dying(flow, store, clock):
            await hangs.begun.wait()
    again = await resumed(flow, store, clock)
    assert (again.value, hangs.did) == (["deleted", "waited"], [*["delete"] * (deaths + 1), "wait"])
    told = [row.kind for row in (await store.load("run")).notes]
    assert (told.count("request.opened"), told.count("request.answered")) == (1, 1)
