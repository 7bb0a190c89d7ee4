"""The loop lives as long as its request: nothing of it is left behind, however it ends."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace as Kit
from typing import Any

import anyio
import pytest
import sniffio
import trio

from flowcore.messages import Message
from flowcore_agent import Agent, AgentRequest


def tasks() -> int:
    """How many tasks there are in the running event loop."""
    if sniffio.current_async_library() == "trio":
        return trio.lowlevel.current_statistics().tasks_living
    return len(anyio.get_running_tasks())


async def settled(count: int) -> bool:
    """Whether there are that many tasks after a few passes of the event loop."""
    for _ in range(20):
        if tasks() == count:
            return True
        await anyio.lowlevel.checkpoint()
    return False


@pytest.mark.behaviour("S0-03")
@pytest.mark.parametrize("ended", ["by its answer", "by cancel", "by stop"])
async def test_the_loop_ends_with_its_request_a_cancellation_or_a_stop(kit: Kit, ended: str) -> None:
    entered, free = anyio.Event(), anyio.Event()

    async def wait() -> str:
        """Wait for something."""
        entered.set()
        await free.wait()
        return "waited"

    desk = kit.Desk([kit.calls("wait"), "done"], [wait])
    before = tasks()
    async with desk.flow.start(desk.state()) as run:
        await entered.wait()
        if ended == "by cancel":
            await run.cancel("user")
        elif ended == "by stop":
            async with anyio.create_task_group() as group:
                group.start_soon(run.stop)
                await anyio.lowlevel.checkpoint()
                free.set()
        else:
            free.set()
        result = await run.wait()
    expected = {
        "by its answer": ("completed", "", 2),
        "by cancel": ("cancelled", "user", 1),
        "by stop": ("cancelled", "stop", 1),
    }
    assert (result.status, result.reason, len(desk.requests)) == expected[ended]
    assert await settled(before)


@pytest.mark.behaviour("S0-02")
async def test_nothing_stays_of_a_loop_that_is_not_stored(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    desk = kit.Desk([kit.calls("look"), "seen", "again"], [_look])
    agent, request = Agent(desk.agent), AgentRequest((Message("user", "look"),))
    before = tasks()
    first = await agent.run(request)
    assert (first.text, await settled(before), os.listdir()) == ("seen", True, [])
    async with agent.start(request) as run:
        second: Any = await run.wait()
    assert (second.value.text, second.status, run.requests) == ("again", "completed", ())
    assert [message.role for message in desk.requests[2].messages] == ["system", "user"]  # nothing of the first


def _look() -> str:
    """Look."""
    return "there"
