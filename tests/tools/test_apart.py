"""Calls of one id that are under way in one visit: each is seen as a call of its own."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
from tests.tools.room import Room, State, call

from flowcore import Complete, Flow, Step, node
from flowcore.recording import dump_runs, recording_of
from flowcore.tools import Allow, Ask, Proposal, ToolContext


def seen(trace: Any) -> list[tuple[str, str, str | None, str | None]]:
    (visit,) = recording_of(trace).visits
    return [(shown.id, shown.tool, shown.arguments, shown.text) for shown in visit.tools]


async def test_a_tool_that_runs_calls_of_the_same_ids_is_told_from_them() -> None:
    async def deeper(depth: int, context: str = "") -> str:
        inner = call("deeper", f'{{"depth": {depth - 1}}}', "1")
        if depth:
            (result,) = await room.executor.run([inner])
            assert result.call.id == "1"
        return f"depth {depth}"

    room = Room([deeper])
    ended = await room.ended(call("deeper", '{"depth": 2}', "1"))
    assert [result.call.id for result in room.results] == ["1"]
    assert [(event.call, event.text) for event in room.heard("tool.finished")] == [
        ("1-3", "depth 0"),
        ("1-2", "depth 1"),
        ("1", "depth 2"),
    ]
    assert [(id, text) for id, _, _, text in seen(ended.trace)] == [
        ("1", "depth 2"),
        ("1-2", "depth 1"),
        ("1-3", "depth 0"),
    ]
    lines = [line.strip() for line in ended.trace.to_text().splitlines() if "call tool" in line]
    assert len(lines) == 3
    assert all(f'"depth":{number}' in line.replace("\\", "") for number, line in enumerate(lines))
    assert all(line.endswith(f'"depth {number}"') for number, line in enumerate(lines))
    dump_runs([recording_of(ended.trace)])


async def test_two_replies_side_by_side_in_one_node_are_told_apart() -> None:
    room = Room([])

    async def wait(seconds: float) -> str:
        await room.clock.sleep(seconds)
        return f"waited {seconds:g}"

    room.tools = [wait]
    executor = room.executor

    @node
    async def go(step: Step[State]) -> Complete[None]:
        async with anyio.create_task_group() as group:
            for seconds in (3, 1, 2):
                group.start_soon(executor.run, [call("wait", f'{{"seconds": {seconds}}}', "x")])
        await executor.run([call("wait", '{"seconds": 0}', "x")])
        return Complete(None)

    async with Flow("side", go).start(State(), clock=room.clock) as run:
        for _ in range(3):
            await room.clock.advance(1)
        result = await run.wait()
    told = seen(result.trace)
    assert sorted(id for id, *_ in told) == ["x", "x", "x-2", "x-3"]
    for _, _, arguments, text in told:
        assert arguments == f'{{"seconds":{float((text or "").removeprefix("waited "))}}}'


async def test_a_request_and_pieces_name_the_call_as_its_events_do() -> None:
    async def inner(context: ToolContext) -> str:
        context.emit("a piece")
        return context.call_id

    async def outer() -> str:
        (result,) = await room.executor.run([call("inner", id="1")])
        return result.text

    def policy(proposal: Proposal) -> Allow | Ask:
        return Ask() if proposal.tool.name == "inner" else Allow()

    room = Room([inner, outer], {"policy": policy})
    async with room.flow([call("outer", id="1")]).start(State()) as run:
        while not run.requests:
            await anyio.lowlevel.checkpoint()
        assert [request.call_id for request in run.requests] == ["1-2"]
        await run.answer(None, True)
        await run.wait()
        room.events = [event async for event in run.events()]
    assert {event.call for event in room.heard("request.opened", "tool.delta")} == {"1-2"}
    assert [result.text for result in room.results] == ["1"]
