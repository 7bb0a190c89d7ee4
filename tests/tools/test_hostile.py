"""Tools, models and people of ill will: one result each, and nothing hangs."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from tests.tools.room import Room, State, call, statuses

from flowcore import Run
from flowcore.messages import ModelReply
from flowcore.recording import dump_runs, recording_of
from flowcore.tools import assistant_message, tool


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Blank:
    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


def raising(error: BaseException) -> Any:
    async def run() -> None:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (Mute(), "It failed: Mute"),
        (ExceptionGroup("both", [ValueError("a")]), "It failed: ValueError: a"),
        (
            ExceptionGroup("both", [ValueError("a"), OSError("b")]),
            "It failed: ExceptionGroup: both (2 sub-exceptions)",
        ),
        (TimeoutError(), "It failed: TimeoutError"),
        (StopAsyncIteration("x"), "It failed: StopAsyncIteration: x"),
        (RecursionError("deep"), "It failed: RecursionError: deep"),
    ],
)
async def test_whatever_a_tool_raises_is_told_in_one_result(error: Exception, text: str) -> None:
    results = await Room([tool(name="bad")(raising(error)), good]).run(call("bad"), call("good"))
    assert [(result.status, result.text) for result in results] == [("failed", text), ("ok", '"fine"')]


@tool(output=object)
async def good() -> Any:
    return Quoted()


class Quoted:
    def __str__(self) -> str:
        return "fine"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
@pytest.mark.behaviour("A37")
async def test_an_interrupt_is_no_result(error: BaseException) -> None:
    room = Room([tool(name="bad")(raising(error))])
    result = await room.ended(call("bad"))
    assert (result.status, room.results) == ("cancelled", ())


@pytest.mark.behaviour("A37")
async def test_a_tool_that_cancels_its_run_ends_it_and_tells_no_model() -> None:
    runs: list[Run[Any]] = []

    async def stop() -> str:
        await runs[0].cancel("user")
        return "stopped"

    room = Room([stop])
    async with room.flow([call("stop")]).start(State()) as run:
        runs.append(run)
        result = await run.wait()
        room.events = [event async for event in run.events()]
    assert (result.status, room.results) == ("cancelled", ())
    assert [event.status for event in room.heard("tool.finished")] == ["cancelled"]


def looped() -> Any:
    ring: list[Any] = []
    ring.append(ring)
    return ring


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Blank(), '"a Blank"'),
        (looped(), "[[...]]"),
        (float("nan"), '"NaN"'),
        (b"\xff\x00", '"_wA="'),
        ("\ud800 and \x00", "\\ud800 and \x00"),
        ({"a": {1, 2}}, '{"a":[1,2]}'),
    ],
)
async def test_whatever_a_tool_returns_has_a_text(value: Any, text: str) -> None:
    @tool(output=Any)
    async def give() -> Any:
        return value

    (result,) = await Room([give]).run(call("give"))
    assert (result.status, result.text) == ("ok", text)
    assert result.value is value
    result.text.encode("utf-8")


async def test_whatever_a_model_writes_is_an_error_for_its_call() -> None:
    ran: list[Any] = []

    async def keep(text: str = "", number: int = 0) -> None:
        ran.append((text, number))

    texts = [
        "[" * 200_000,
        '{"text": ' + '"x' * 500_000,
        '{"number": 1e999}',
        '{"number": ' + "9" * 5_000 + "}",
        "\x00",
        '{"__class__": "x"}',
        '{"self": 1}',
        '{"p0": "x"}',
        "{" + '"a":1,' * 100_000,
    ]
    results = await Room([keep]).run(*(call("keep", text, f"c{n}") for n, text in enumerate(texts)))
    assert statuses(results) == ["invalid_arguments"] * len(texts)
    assert ran == []
    assert max(len(result.text) for result in results) < 1_000
    names = ["", "\x1b[2J", "x" * 100_000, "keep\n", "__init__"]
    results = await Room([keep]).run(*(call(name, "{}", f"c{n}") for n, name in enumerate(names)))
    assert statuses(results) == ["unknown_tool"] * 3 + ["ok", "unknown_tool"]
    assert all("\x1b" not in result.text and len(result.text) < 300 for result in results)


async def test_half_a_character_can_be_sent_and_stored() -> None:
    async def keep(text: str) -> str:
        raise ValueError(text)

    room = Room([keep])
    calls = [
        call("keep", '{"text": "\ud800"}', "a"),
        call("keep", '{"text": "\\ud800"}', "b"),
        call("\ud800", id="c"),
    ]
    ended = await room.ended(*calls)
    assert statuses(room.results) == ["failed", "failed", "unknown_tool"]
    assert [result.text for result in room.results[:2]] == ["It failed: ValueError: \\ud800"] * 2
    said = [message.arguments for message in assistant_message(ModelReply("", tool_calls=tuple(calls))).tool_calls]
    assert said == ['{"text": "\\ud800"}', '{"text": "\\ud800"}', "{}"]
    dump_runs([recording_of(ended.trace)]).encode("utf-8")


async def test_a_tool_that_starts_tasks_and_leaves_them_is_waited_for_and_cut_off_in_time() -> None:
    @tool(timeout=5)
    async def fan() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.sleep_forever)

    room = Room([fan])
    async with anyio.create_task_group() as group:
        group.start_soon(room.run, call("fan"))
        await room.clock.advance(5)
    assert statuses(room.results) == ["timeout"]
