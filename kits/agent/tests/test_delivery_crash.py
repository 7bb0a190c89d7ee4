"""The delivery: a process that dies at any of its writes neither loses nor doubles what is delivered."""

from __future__ import annotations

from types import SimpleNamespace as Kit
from typing import Any

import anyio
import pytest

from flowcore.errors import StoreError
from flowcore.messages import Message
from flowcore.store import MemoryRunStore
from flowcore.testing import FakeClock
from flowcore_agent import Agent, AgentReply, AgentRequest, OwnTools

WRITES = ("create", "commit", "settle")


class Mortal:
    """A store whose process dies with one of its writes: before it, or just after."""

    def __init__(self, store: MemoryRunStore, dies_at: int, is_written: bool) -> None:
        self.store, self.dies_at, self.is_written = store, dies_at, is_written
        self.writes, self.is_dead = 0, False
        self.names: list[str] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.store, name)
        if name not in WRITES:
            return found

        def write(*given: Any, **named: Any) -> Any:
            if self.is_dead:
                raise StoreError("this process is dead")
            self.writes += 1
            self.names.append(name)
            self.is_dead = self.writes == self.dies_at
            if self.is_dead and not self.is_written:
                raise StoreError("this process dies")
            return found(*given, **named)

        return write


class Post:
    """A store and a messenger that knows its keys."""

    def __init__(self) -> None:
        self.done: dict[str, str] = {}
        self.calls = 0

    async def store(self, request: AgentRequest, reply: AgentReply, key: str, /) -> None:
        """Keep a reply."""
        await self._do(f"stored {reply.text}", key)

    async def send(self, request: AgentRequest, text: str, key: str, /) -> None:
        """Send a text."""
        await self._do(f"sent {text}", key)

    async def was_done(self, key: str, /) -> bool:
        """Return whether it was."""
        return key in self.done

    async def _do(self, what: str, key: str) -> None:
        self.calls += 1
        assert key not in self.done, "a key was used twice"
        self.done[key] = what


@pytest.mark.behaviour("S1-22", "S1-23")
@pytest.mark.parametrize("is_written", [True, False])
async def test_whichever_write_is_the_last_of_a_process_all_is_delivered_once(kit: Kit, is_written: bool) -> None:
    deaths = 0
    for dies_at in range(2, 100):
        post, store, clock = Post(), MemoryRunStore(), FakeClock()
        mortal: Any = Mortal(store, dies_at, is_written)
        desk = kit.Desk(["Four."] * 3, spec={"delivery": post, "own_tools": OwnTools(todo=True)})
        agent = Agent(desk.agent)
        request = AgentRequest((Message("user", "2 + 2?"),), source="message")
        with anyio.fail_after(20):
            async with agent.start(request, store=mortal, run_id="run", clock=clock) as run:
                await run.wait()
        if not mortal.is_dead:
            break
        deaths += 1
        await clock.advance(31)
        row = (await store.load("run")).run
        if row.end is None:
            await agent.flow.resume("run", store=store, clock=clock)
        assert sorted(post.done.values()) == ["sent Four.", "stored Four."], (dies_at, mortal.names)
        assert post.calls == 2
    else:
        pytest.fail("the run never came to its end")
    assert deaths > 5
