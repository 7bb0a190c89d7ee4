"""What is seen of calls afterwards: in the recording, in a trace file, in the text of a run, in its events."""

from __future__ import annotations

from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from tests.tools.room import Room, State, call

from flowcore import Complete, Flow, Step, node
from flowcore.recording import dump_runs, read_runs, recording_of
from flowcore.tools import Allow, Ask, Proposal, tool
from flowcore.trace_events import trace_events


async def add(a: int, b: int = 1) -> int:
    return a + b


async def broken() -> None:
    raise ValueError("no\nway")


def policy(proposal: Proposal) -> object:

    return Ask("Add?") if proposal.arguments.get("a") == 7 else Allow()


CALLS = [
    call("Add", "{'a': 2,}", "a"),
    call("broken", "{}", "b"),
    call("add", '{"a": ', "c"),
    call("add", '{"a": 7}', "d"),
]


async def seen() -> tuple[Room, object]:
    room = Room([add, broken], {"policy": policy})
    async with room.flow(CALLS).start(State(), clock=room.clock, run_id="r") as run:
        while not run.requests:
            await anyio.lowlevel.checkpoint()
        await room.clock.advance(3)
        await run.answer(None, False, by="ann")
        result = await run.wait()
        room.events = [event async for event in run.events()]
    return room, result.trace


@pytest.mark.behaviour("A69")
async def test_a_recording_has_each_call_with_what_came_of_it(tmp_path: Path) -> None:
    _, trace = await seen()
    recording = recording_of(trace)  # type: ignore[arg-type]
    (visit,) = recording.visits
    assert [(one.id, one.tool, one.arguments, one.status, one.answer, one.by) for one in visit.tools] == [
        ("a", "add", '{"a":2,"b":1}', "ok", "", ""),
        ("b", "broken", "{}", "failed", "", ""),
        ("c", "add", '{"a": ', "invalid_arguments", "", ""),
        ("d", "add", '{"a": 7}', "denied", "denied", "ann"),
    ]
    assert [one.text for one in visit.tools[:2]] == ["3", "It failed: ValueError: no\nway"]
    assert [(one.proposed, one.started, one.ended) for one in visit.tools] == [
        (0, 0, 0),
        (0, 0, 0),
        (0, None, 0),
        (0, None, 3),
    ]
    (tmp_path / "trace.json").write_text(dump_runs([recording]), "utf-8")
    assert list(read_runs(tmp_path / "trace.json")) == [recording]


async def test_the_text_of_a_run_has_a_line_for_each_call() -> None:
    _, trace = await seen()
    lines = [line.strip() for line in trace.to_text().splitlines() if "call tool" in line]  # type: ignore[attr-defined]
    assert sorted(lines) == sorted(
        [
            "call tool add  [invalid_arguments]  "
            '"Not run, since the arguments do not fit: the arguments break off: send them again, whole. '
            'Call add again with all arguments put right."',
            'call tool add  [denied]  "Denied: a person did not agree to it."',
            r'call tool add "{\"a\":2,\"b\":1}"  "3"',
            r'call tool broken "{}"  [failed]  "It failed: ValueError: no\nway"',
        ]
    )


async def test_ids_that_a_model_uses_again_are_calls_of_their_own() -> None:
    room = Room([add])
    executor = room.executor

    @node
    async def go(step: Step[State]) -> Complete[None]:
        for number in (1, 2):
            await executor.run([call("add", f'{{"a": {number}}}', "call_0")])
        return Complete(None)

    result = await Flow("again", go).run(State(), check=False)
    lines = [line.strip() for line in result.trace.to_text().splitlines() if "call tool" in line]
    assert lines == [f'call tool add "{{\\"a\\":{n},\\"b\\":1}}"  "{n + 1}"' for n in (1, 2)]
    (visit,) = recording_of(result.trace).visits
    assert [(one.id, one.arguments, one.text) for one in visit.tools] == [
        ("call_0", '{"a":1,"b":1}', "2"),
        ("call_0", '{"a":2,"b":1}', "3"),
    ]


async def test_the_events_can_be_made_again_from_the_trace() -> None:
    room, trace = await seen()
    assert trace_events(trace) == room.events  # type: ignore[arg-type]


async def test_a_run_under_way_shows_calls_without_a_result() -> None:
    began = anyio.Event()

    @tool
    async def wait() -> None:
        began.set()
        await anyio.sleep_forever()

    async with Room([wait]).flow([call("wait")]).start(State()) as run:
        await began.wait()
        (visit,) = recording_of(run.trace, under_way=run.under_way).visits
        (one,) = visit.tools
        assert (one.status, one.started is not None, one.ended) == ("", True, None)
