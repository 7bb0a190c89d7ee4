"""After the run: observers are told of what completed, and change nothing of it."""

from __future__ import annotations

import logging
from types import SimpleNamespace as Kit

import anyio
import anyio.lowlevel
import pytest

from flowcore import RunCancelled
from flowcore.errors import ModelRequestError
from flowcore.messages import Message
from flowcore.testing import ScriptedLine
from flowcore_agent import Agent, AgentReply, AgentRequest, admit, after_run, agent_flow


class Metrics:
    """An observer that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[AgentRequest, AgentReply]] = []

    async def __call__(self, request: AgentRequest, reply: AgentReply, /) -> None:
        """Keep it."""
        self.told.append((request, reply))


class Slow(Metrics):
    """An observer that waits until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.ended = anyio.Event(), anyio.Event()

    async def __call__(self, request: AgentRequest, reply: AgentReply, /) -> None:
        """Wait."""
        await self.gate.wait()
        await super().__call__(request, reply)
        self.ended.set()


async def broken(request: AgentRequest, reply: AgentReply, /) -> None:
    """Fail."""
    raise OSError("no disk")


def ask(text: str = "Go.") -> AgentRequest:
    return AgentRequest((Message("user", text),), user="ann")


@pytest.mark.behaviour("S1-24", "S1-25")
async def test_a_completed_run_is_told_once_with_its_reply_and_what_it_used(kit: Kit) -> None:
    metrics, kinds = Metrics(), list[str]()
    desk = kit.Desk([kit.calls("look"), "Seen."], [look], spec={"observers": [metrics]})
    reply = await Agent(desk.agent).run(ask(), observers=[lambda event: kinds.append(event.kind)])
    assert metrics.told == [(ask(), reply)]
    assert kinds.count("run.completed") == 1
    assert kinds[-1] == "run.completed"
    usage = reply.usage
    assert (usage.rounds, usage.requests, usage.tool_calls, usage.seconds) == (2, 2, 1, 0.0)
    assert usage.tokens > 0


@pytest.mark.behaviour("S1-24", "S1-25", "S1-31")
async def test_what_did_not_complete_is_not_told(kit: Kit) -> None:
    metrics = Metrics()
    failing = Agent(kit.Desk([ModelRequestError("gone", status=400)], spec={"observers": [metrics]}).agent)
    kinds: list[str] = []
    with pytest.raises(ModelRequestError):
        await failing.run(ask(), observers=[lambda event: kinds.append(event.kind)])
    assert kinds[-1] == "run.failed"
    waiting = Agent(kit.Desk([ScriptedLine("Late.", wait=3600)], spec={"observers": [metrics]}).agent)
    async with waiting.start(ask()) as run:
        await anyio.lowlevel.checkpoint()
        await run.cancel()
        with pytest.raises(RunCancelled):
            await run.result()
    for _ in range(5):
        await anyio.lowlevel.checkpoint()
    assert metrics.told == []


@pytest.mark.behaviour("S1-32")
async def test_a_slow_observer_delays_neither_the_reply_nor_the_others(kit: Kit) -> None:
    slow, metrics = Slow(), Metrics()
    agent = Agent(kit.Desk(["Seen."], spec={"observers": [slow, metrics]}).agent)
    with anyio.fail_after(10):
        reply = await agent.run(ask())
    assert (reply.text, slow.told, len(metrics.told)) == ("Seen.", [], 1)
    slow.gate.set()
    with anyio.fail_after(10):
        await slow.ended.wait()
    assert slow.told == metrics.told


@pytest.mark.behaviour("S1-33")
async def test_an_observer_that_raises_changes_nothing_and_is_logged(
    kit: Kit, caplog: pytest.LogCaptureFixture
) -> None:
    plain = await Agent(kit.Desk(["Seen."]).agent).run(ask())
    metrics = Metrics()
    agent = Agent(kit.Desk(["Seen."], spec={"observers": [broken, metrics]}).agent)
    with caplog.at_level(logging.ERROR, "flowcore.observers"):
        async with agent.start(ask()) as run:
            result = await run.wait()
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
    assert (result.status, result.value) == ("completed", plain)
    assert metrics.told == [(ask(), plain)]
    assert "an observer failed on run.completed" in caplog.text


@pytest.mark.behaviour("S1-31")
async def test_whoever_runs_the_flow_himself_gives_it_the_observers(kit: Kit) -> None:
    first, second = Metrics(), Metrics()
    agent = kit.Desk(["Seen."]).agent
    reply = await agent_flow(agent).run(admit(agent, ask()), observers=after_run([first, second], ask()))
    assert first.told == second.told == [(ask(), reply)]


async def look() -> str:
    """Look."""
    return "seen"
