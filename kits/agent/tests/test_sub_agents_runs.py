"""Runs with sub-agents: their time, their budget, and what ends them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace as Kit
from typing import Any

import anyio
import pytest

from flowcore import Budget, Complete, Flow, Reserve, Step, node
from flowcore.messages import Message, ModelReply, ModelRequest
from flowcore.testing import FakeClock, ScriptedLine
from flowcore.tools import ToolContext, tool
from flowcore_agent import AgentLimits, AgentReply, AgentRequest, AgentState, OwnTools, admit, agent_flow

SUB = {"own_tools": OwnTools(sub_agent=True)}
GO = AgentRequest((Message("user", "Go."),), user="ann")


@tool
async def look(at: int = 0) -> str:
    """Look."""
    return f"seen {at}"


def delegated(kit: Kit, *tasks: str, text: str = "I delegate.") -> ModelReply:
    made = [kit.call("delegate", f'{{"task": "{task}"}}', f"d{n}") for n, task in enumerate(tasks)]
    reply: ModelReply = kit.calls(*made, text=text)
    return reply


def _in(seconds: float, said: Any) -> ScriptedLine:
    return ScriptedLine(said, wait=seconds)


class Hang:
    """A tool that hangs, and notes how many of its calls hang, and have ended."""

    def __init__(self, wanted: int = 1) -> None:
        self.open = 0
        self.ended = 0
        self.left: list[float | None] = []
        self.all_begun = anyio.Event()

        @tool(timeout=1000)
        async def hang(context: ToolContext) -> None:
            """Hang."""
            self.open += 1
            ends = [scope.ends_at for scope in context.scope.chain if scope.ends_at is not None]
            self.left.append(min(ends, default=None))
            if self.open == wanted:
                self.all_begun.set()
            try:
                await anyio.sleep_forever()
            finally:
                self.open -= 1
                self.ended += 1

        self.tool = hang


@pytest.mark.behaviour("S0-31", "S0-53")
async def test_a_cancelled_run_ends_its_sub_agents_with_their_tools_and_requests(kit: Kit) -> None:
    hang, hung = Hang(2), kit.calls("hang")
    desk = kit.Desk([delegated(kit, "a", "b", "c"), hung, hung, _in(1000, "Never.")], [hang.tool], spec=SUB)
    async with agent_flow(desk.agent).start(admit(desk.agent, GO)) as run:
        await hang.all_begun.wait()
        assert (hang.open, desk.model.open) == (2, 1)
        await run.cancel("user")
        result = await run.wait()
        told = [event.kind async for event in run.events()]
    assert (result.status, result.reason, result.stragglers) == ("cancelled", "user", ())
    assert (hang.open, hang.ended, desk.model.open) == (0, 2, 0)
    assert told[-1] == "run.cancelled"
    assert len(desk.requests) == 4


@pytest.mark.behaviour("S0-54")
async def test_a_sub_agent_has_what_is_left_of_the_time(kit: Kit) -> None:
    clock, hang = FakeClock(), Hang()
    lines = [_in(4, delegated(kit, "a")), kit.calls("hang")]
    desk = kit.Desk(lines, [hang.tool], clock, spec=SUB)
    flow = agent_flow(desk.agent)
    async with flow.start(admit(desk.agent, GO), budget=Budget(seconds=10), clock=clock) as run:
        await clock.advance(4)
        await hang.all_begun.wait()
        assert hang.left == [10]  # 6 of the 10 seconds are left
        await clock.advance(5.9)
        assert hang.open == 1
        await clock.advance(0.2)
        result = await run.wait()
    assert (result.status, result.exhausted, hang.open) == ("failed", "seconds", 0)


@pytest.mark.behaviour("S0-54")
async def test_the_time_of_day_at_which_the_run_must_end_holds_for_sub_agents(kit: Kit) -> None:
    clock, hang = FakeClock(), Hang()
    desk = kit.Desk([delegated(kit, "a"), kit.calls("hang")], [hang.tool], clock, spec=SUB)
    deadline = clock.utcnow() + timedelta(seconds=7)
    async with agent_flow(desk.agent).start(admit(desk.agent, GO), deadline=deadline, clock=clock) as run:
        await hang.all_begun.wait()
        await clock.advance(7)
        result = await run.wait()
    assert (result.status, result.exhausted, hang.left, hang.open) == ("failed", "seconds", [7], 0)


@pytest.mark.behaviour("S1-26")
async def test_sub_agents_that_are_not_done_are_cancelled_when_the_run_completes(kit: Kit) -> None:
    clock, hang = FakeClock(), Hang(2)
    limits = AgentLimits(reserve=Reserve(requests=1, rounds=1, seconds=5))
    lines = [delegated(kit, "a", "b"), kit.calls("hang"), kit.calls("hang"), "Not all was found."]
    desk = kit.Desk(lines, [hang.tool], clock, spec={**SUB, "limits": limits})
    flow = agent_flow(desk.agent)
    async with flow.start(admit(desk.agent, GO), budget=Budget(seconds=20), clock=clock) as run:
        await hang.all_begun.wait()
        await clock.advance(15)
        result: Any = await run.wait()
    assert (result.status, result.exhausted) == ("completed", "seconds")
    assert (result.value.text, result.value.reason) == ("Not all was found.", "exhausted")
    assert (hang.open, hang.ended) == (0, 2)


async def test_the_time_of_a_call_is_not_that_of_a_sub_agent_but_that_of_its_calls(kit: Kit) -> None:
    clock = FakeClock()

    @tool
    async def slow() -> None:
        """Hang."""
        await anyio.sleep_forever()

    lines = [delegated(kit, "a"), kit.calls("slow"), _in(30, "It is slow."), "Fine."]
    desk = kit.Desk(lines, [slow], clock, spec={**SUB, "limits": AgentLimits(tool_timeout=5)})
    async with agent_flow(desk.agent).start(admit(desk.agent, GO), clock=clock) as run:
        await clock.advance(5)
        await clock.advance(30)
        result = await run.wait()
    assert kit.results(result.value) == ["It is slow."]
    assert "It took longer than 5 s" in kit.told(desk.requests[2])[-1][1]


async def test_sub_agents_of_one_turn_work_side_by_side_within_the_pool(kit: Kit) -> None:
    open_now, most = 0, 0

    @tool
    async def work(n: int) -> int:
        """Work."""
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        open_now -= 1
        return n

    def say(request: ModelRequest) -> ModelReply:
        if request.messages[-1].role == "tool":
            return ModelReply(f"Done with {request.messages[1].content}")
        reply: ModelReply = kit.calls(kit.call("work", '{"n": 1}'))
        return reply

    lines = [delegated(kit, "a", "b", "c", "d", "e"), *[say] * 10, "Fine."]
    desk = kit.Desk(lines, [work], spec={**SUB, "limits": AgentLimits(concurrency=2)})
    result = await desk.ask()
    assert most == 2
    assert kit.results(result.value) == [f"Done with {name}" for name in "abcde"]


@pytest.mark.behaviour("S2-08")
@pytest.mark.parametrize(
    ("budget", "dimension", "requests"),
    [
        (Budget(requests=2), "requests", 2),
        (Budget(rounds=2), "rounds", 2),
        (Budget(tool_calls=1), "tool_calls", 2),
        (Budget(tokens=1), "tokens", 1),
    ],
)
async def test_a_sub_agent_that_has_said_nothing_runs_out_with_the_agent(
    kit: Kit, budget: Budget, dimension: str, requests: int
) -> None:
    desk = kit.Desk([delegated(kit, "a"), kit.calls("look")], [look], spec=SUB)
    result: Any = await agent_flow(desk.agent).run(admit(desk.agent, GO), budget=budget, check=False)
    assert (result.status, result.value.reason, result.value.text) == ("completed", "exhausted", "I delegate.")
    assert result.value.is_partial
    assert result.usage.requests == len(desk.requests) == requests
    assert (result.exhausted or dimension) == dimension


async def test_with_nothing_said_by_anybody_the_run_fails_with_the_limit(kit: Kit) -> None:
    desk = kit.Desk([delegated(kit, "a", text=""), kit.calls("look")], [look], spec=SUB)
    result: Any = await agent_flow(desk.agent).run(admit(desk.agent, GO), budget=Budget(requests=2), check=False)
    assert (result.status, result.exhausted) == ("failed", "requests")
    assert (result.failure.type, result.failure.message) == (
        "BudgetExhausted",
        "the requests ran out: 2 of 2 used",
    )


async def test_a_reserve_for_the_end_is_not_for_sub_agents(kit: Kit) -> None:
    limits = AgentLimits(reserve=Reserve(requests=1, rounds=1))
    lines = [delegated(kit, "a"), kit.calls("look", text="One is fine."), "I had it looked at in part."]
    desk = kit.Desk(lines, [look], spec={**SUB, "limits": limits})
    result: Any = await agent_flow(desk.agent).run(admit(desk.agent, GO), budget=Budget(requests=3), check=False)
    assert (result.value.text, result.value.reason) == ("I had it looked at in part.", "exhausted")
    said = "It was cut short (exhausted). What it had said by then:\nOne is fine."
    assert kit.results(result.value) == [said]
    assert result.usage.requests == 3


@pytest.mark.behaviour("S2-08")
async def test_of_eight_sub_agents_as_many_get_a_request_as_there_are(kit: Kit) -> None:
    lines = [delegated(kit, *"abcdefgh"), *["Found."] * 5]
    desk = kit.Desk(lines, [look], spec={**SUB, "limits": AgentLimits(concurrency=8)})
    result: Any = await agent_flow(desk.agent).run(admit(desk.agent, GO), budget=Budget(requests=6), check=False)
    assert (result.usage.requests, len(desk.requests)) == (6, 6)
    assert (result.value.reason, result.value.text) == ("exhausted", "I delegate.")


async def test_the_limits_of_a_flow_around_the_agent_hold_for_its_sub_agents(kit: Kit) -> None:
    def enter(state: AgentState) -> AgentState:
        return state

    def leave(state: AgentState, reply: AgentReply) -> Complete[AgentReply]:
        return Complete(reply)

    desk = kit.Desk([delegated(kit, "a"), kit.calls("look")], [look], spec=SUB)
    inner = agent_flow(desk.agent).as_node(
        "inner", state=AgentState, enter=enter, leave=leave, budget=Budget(requests=2)
    )
    result: Any = await Flow("outer", inner).run(admit(desk.agent, GO), budget=Budget(requests=9), check=False)
    assert (result.value.reason, result.usage.requests, result.exhausted) == ("exhausted", 2, None)


async def test_stop_ends_a_run_at_the_next_boundary_of_its_sub_agent(kit: Kit) -> None:
    begun, go_on = anyio.Event(), anyio.Event()

    @tool
    async def work() -> str:
        """Work."""
        begun.set()
        await go_on.wait()
        return "worked"

    desk = kit.Desk([delegated(kit, "a"), kit.calls("work")], [work], spec=SUB)
    async with agent_flow(desk.agent).start(admit(desk.agent, GO)) as run:
        await begun.wait()
        async with anyio.create_task_group() as group:
            group.start_soon(run.stop)
            await anyio.lowlevel.checkpoint()
            go_on.set()
        result = await run.wait()
    assert (result.status, result.reason, len(desk.requests)) == ("cancelled", "stop", 2)


async def test_a_failing_call_beside_it_does_not_leave_a_sub_agent_behind(kit: Kit) -> None:
    @tool(on_failure="fail")
    async def fail() -> None:
        """Fail."""
        raise OSError("broken")

    both = replace(delegated(kit, "a"), tool_calls=(*delegated(kit, "a").tool_calls, kit.call("fail")))
    desk = kit.Desk([both, kit.calls("look"), "A is done."], [look, fail], spec=SUB)
    result = await desk.ask()
    assert (result.value.reason, result.value.text, result.value.is_partial) == ("failed", "I delegate.", True)
    assert len(desk.requests) == 3  # it was let come to its end, and paid


async def test_a_run_that_ends_with_a_cancelled_caller_ends_its_sub_agents(kit: Kit) -> None:
    hang = Hang()
    desk = kit.Desk([delegated(kit, "a"), kit.calls("hang")], [hang.tool], spec=SUB)

    @node
    async def around(step: Step[AgentState]) -> Complete[AgentReply]:
        return Complete(await agent_flow(desk.agent).run(step.state))

    async with Flow("outer", around).start(admit(desk.agent, GO)) as run:
        await hang.all_begun.wait()
        await run.cancel("user")
    assert (hang.open, hang.ended) == (0, 1)


async def test_one_that_does_not_stop_is_named_and_left_behind(kit: Kit) -> None:
    begun, go_on, clock = anyio.Event(), anyio.Event(), FakeClock()

    @tool
    async def deaf() -> None:
        """Do not listen."""
        with anyio.CancelScope(shield=True):
            begun.set()
            await go_on.wait()

    desk = kit.Desk([delegated(kit, "a"), kit.calls("deaf")], [deaf], clock, spec=SUB)
    async with agent_flow(desk.agent).start(admit(desk.agent, GO), clock=clock, grace=1) as run:
        await begun.wait()
        async with anyio.create_task_group() as group:
            group.start_soon(run.cancel, "user")
            await clock.advance(10)
        result = await run.wait()
        go_on.set()
    assert (result.status, result.reason) == ("cancelled", "user")
    assert result.stragglers == ("act#1",)


async def test_a_call_that_a_sub_agent_left_behind_is_named_with_what_it_used(kit: Kit) -> None:
    go_on, clock = anyio.Event(), FakeClock()

    @tool
    async def deaf() -> None:
        """Do not listen."""
        with anyio.CancelScope(shield=True):
            await go_on.wait()

    lines = [delegated(kit, "a"), kit.calls("deaf"), "It is deaf.", "Fine."]
    desk = kit.Desk(lines, [deaf], clock, spec={**SUB, "limits": AgentLimits(tool_timeout=5)})
    async with agent_flow(desk.agent).start(admit(desk.agent, GO), clock=clock) as run:
        await clock.advance(5)
        await clock.advance(5)
        result: Any = await run.wait()
        go_on.set()
    assert kit.results(result.value) == ["It is deaf."]
    assert '"stragglers": ["act#1 (deaf)"]' in result.trace.to_text()
