"""Cancelling: what has begun is stopped and told, what has not never starts, and nothing is told after the end."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest
from tests.tools.room import Room, State, call

from flowcore import Complete, Flow, Step, node
from flowcore.events import Event
from flowcore.tools import ToolContext, tool


@pytest.mark.behaviour("S0-32", "S4-16")
async def test_calls_that_have_not_started_never_do() -> None:
    started: list[int] = []
    began = anyio.Event()

    @tool
    async def work(number: int) -> None:
        started.append(number)
        began.set()
        await anyio.sleep_forever()

    room = Room([work], {"concurrency": 1})
    calls = [call("work", f'{{"number": {n}}}', f"c{n}") for n in range(3)]
    events: list[Event] = []
    async with room.flow(calls).start(State(), observers=[events.append]) as run:
        await began.wait()
        await run.cancel("user")
        result = await run.wait()
        room.events = [event async for event in run.events()]
    assert (started, result.status) == ([0], "cancelled")
    assert {event.call: event.status for event in room.heard("tool.finished")} == {
        "c0": "cancelled",
        "c1": "not_executed",
        "c2": "not_executed",
    }
    assert [event.call for event in room.heard("tool.started")] == ["c0"]
    assert room.events[-1].kind == "run.cancelled"
    seqs = [event.seq for event in room.events]
    assert seqs == list(range(1, len(seqs) + 1))


@pytest.mark.behaviour("TOOL-1")
async def test_a_call_with_effects_in_a_cancelled_run_is_unknown() -> None:
    began = anyio.Event()

    @tool(effects=True)
    async def send() -> None:
        began.set()
        await anyio.sleep_forever()

    room = Room([send])
    async with room.flow([call("send")]).start(State()) as run:
        await began.wait()
        await run.cancel("user")
        room.events = [event async for event in run.events()]
    assert [event.status for event in room.heard("tool.finished")] == ["unknown"]


@pytest.mark.behaviour("S4-16")
async def test_each_call_has_its_start_its_pieces_and_its_end_inside_the_visit() -> None:
    @tool
    async def work(context: ToolContext, number: int) -> int:
        context.emit(number)
        return number

    room = Room([work])
    await room.run(call("work", '{"number": 1}', "a"), call("work", '{"number": "x"}', "b"))
    kinds = [(event.kind, getattr(event, "call", "")) for event in room.events]
    assert kinds[2:-2] == [
        ("node.started", ""),
        ("tool.proposed", "a"),
        ("tool.proposed", "b"),
        ("tool.finished", "b"),
        ("tool.started", "a"),
        ("tool.delta", "a"),
        ("tool.finished", "a"),
    ]
    assert {event.path for event in room.events[2:-1]} == {"go#1"}
    kept = [event for event in room.events if event.kind != "tool.delta"]
    assert [event.seq for event in kept] == list(range(1, len(kept) + 1))


@pytest.mark.behaviour("S4-16")
async def test_what_a_call_tells_after_its_run_has_ended_is_heard_by_nobody() -> None:
    late: list[ToolContext] = []

    @tool
    async def work(context: ToolContext) -> None:
        late.append(context)

    room = Room([work])
    await room.run(call("work"))
    count = len(room.events)
    late[0].emit("too late")
    await anyio.wait_all_tasks_blocked()
    assert len(room.events) == count
    with pytest.raises(Exception, match="has ended"):
        late[0].scope.charge(requests=1)


async def test_a_node_does_not_go_on_after_calls_that_took_their_time_to_stop() -> None:
    began = anyio.Event()
    passed: list[str] = []

    @tool
    async def tidy() -> None:
        try:
            began.set()
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                for _ in range(20):
                    await anyio.lowlevel.checkpoint()
            passed.append("tidied")

    executor = Room([tidy]).executor

    @node
    async def go(step: Step[State]) -> Complete[None]:
        await executor.run([call("tidy")])
        passed.append("went on")
        return Complete(None)

    async with Flow("tidy", go).start(State()) as run:
        await began.wait()
        await run.cancel("user")
        result = await run.wait()
    assert (result.status, result.stragglers, passed) == ("cancelled", (), ["tidied"])
