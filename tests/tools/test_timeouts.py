"""Timeouts of calls, on the run's clock; what becomes of a call that was interrupted."""

from __future__ import annotations

import asyncio  # noqa: TID251 - a tool may await what only asyncio has
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
import trio
from tests.tools.room import Room, State, call

from flowcore import Complete, Flow, Retry, Step, node
from flowcore.errors import OutcomeUnknown
from flowcore.tools import Tool, ToolResult, tool


@dataclass
class Server:
    """A toolset with a timeout of its own."""

    tools: tuple[Tool, ...]
    name: str = "server"
    timeout: float | None = 30.0

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[tuple[Tool, ...]]:
        yield self.tools


async def timed(room: Room, *calls: Any) -> tuple[float | None, tuple[ToolResult, ...]]:
    """Returns at which second the calls were over, as the clock was moved second by second."""
    over: list[float] = []

    async def run() -> None:
        await room.run(*calls)
        over.append(room.clock.monotonic())

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        for _ in range(100):
            if over:
                break
            await room.clock.advance(1)
    return (over[0] if over else None), room.results


def waiting(name: str, timeout: float | None = None) -> Tool:
    async def wait() -> None:
        await anyio.sleep_forever()

    return tool(name=name, timeout=timeout)(wait)


@pytest.mark.behaviour("S0-28", "S0-29", "S0-30")
@pytest.mark.parametrize(
    ("of_tool", "of_set", "of_executor", "seconds"),
    [
        (None, None, None, 60),
        (None, None, 5, 5),
        (None, 30, 5, 30),
        (7, 30, 5, 7),
        (90, None, 5, 90),
        (90, 30, None, 90),
    ],
)
async def test_the_tools_own_timeout_goes_before_that_of_its_toolset_and_of_the_executor(
    of_tool: float | None, of_set: float | None, of_executor: float | None, seconds: float
) -> None:
    options = {} if of_executor is None else {"timeout": of_executor}
    room = Room([Server((waiting("wait", of_tool),), timeout=of_set)], options)
    over, (result,) = await timed(room, call("wait"))
    assert (over, result.status, result.handler_ran) == (seconds, "timeout", True)
    assert result.text.startswith(f"It took longer than {seconds} s and was stopped.")
    assert room.heard()[-1].kind == "run.completed"


@pytest.mark.behaviour("S0-30")
async def test_what_swallows_its_timeout_is_late_and_what_never_stops_is_left_behind() -> None:
    @tool(timeout=3)
    async def swallows() -> str:
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            return "done all the same"

    freed, released = threading.Event(), anyio.Event()

    @tool(timeout=4)
    def works() -> str:
        freed.wait(20)
        return "too late"

    @tool(timeout=2)
    async def deaf() -> None:
        while not released.is_set():
            try:
                await released.wait()
            except anyio.get_cancelled_exc_class():
                continue

    room = Room([swallows, works, deaf])
    over, results = await timed(room, call("swallows"), call("works"), call("deaf"))
    freed.set()
    released.set()
    assert [(result.status, result.value) for result in results] == [("timeout", None)] * 3
    assert over == 7  # two seconds, and five of grace


class Sent:
    """A tool that sends, and then hangs or is interrupted; and what is found out about it afterwards."""

    def __init__(self, found: Any = None) -> None:
        self.sent = self.looked = 0
        self.found = found

    async def verify(self) -> Any:
        self.looked += 1
        if isinstance(self.found, Exception):
            raise self.found
        return self.found

    async def send(self) -> str:
        self.sent += 1
        await anyio.sleep_forever()
        return "sent"


@pytest.mark.behaviour("TOOL-1")
async def test_a_call_with_effects_that_was_interrupted_is_unknown() -> None:
    sent = Sent()
    room = Room([tool(effects=True, timeout=5)(sent.send)])
    _, (result,) = await timed(room, call("send"))
    assert (result.status, result.handler_ran, sent.sent) == ("unknown", True, 1)
    assert result.text == (
        "It was interrupted, and nobody knows whether it was done. Do not repeat it before that is clear."
    )


@pytest.mark.behaviour("TOOL-1")
@pytest.mark.parametrize(
    ("found", "status", "said"),
    [
        (True, "ok", "It was interrupted, and a look afterwards found that it was done."),
        (False, "failed", "It was interrupted, and a look afterwards found that it was not done."),
        (None, "unknown", "It was interrupted, and nobody knows"),
        (OSError("no net"), "unknown", "It was interrupted, and nobody knows"),
        ("yes", "unknown", "It was interrupted, and nobody knows"),
    ],
)
async def test_verify_is_tried_once_and_may_tell(found: Any, status: str, said: str) -> None:
    sent = Sent(found)
    room = Room([tool(effects=True, timeout=5, verify=sent.verify)(sent.send)])
    _, (result,) = await timed(room, call("send"))
    assert (result.status, sent.sent, sent.looked) == (status, 1, 1)
    assert result.text.startswith(said)


@pytest.mark.behaviour("TOOL-1")
async def test_verify_gets_the_arguments_and_may_hang() -> None:
    looked: list[str] = []

    async def verify(to: str) -> bool | None:
        looked.append(to)
        if to == "nobody":
            await anyio.sleep_forever()
        return True

    @tool(effects=True, timeout=2, verify=verify)
    async def send(to: str) -> None:
        await anyio.sleep_forever()

    _, results = await timed(
        Room([send]), call("send", '{"to": "ann"}', "a"), call("send", '{"to": "nobody"}', "b")
    )
    assert ([result.status for result in results], sorted(looked)) == (["ok", "unknown"], ["ann", "nobody"])


@pytest.mark.behaviour("TOOL-1")
async def test_a_plain_verify_works_in_a_thread() -> None:
    here = threading.get_ident()
    looked: list[bool] = []

    def verify() -> bool:
        looked.append(threading.get_ident() == here)
        return True

    @tool(effects=True, timeout=2, verify=verify)
    async def send() -> None:
        await anyio.sleep_forever()

    room = Room([send])
    async with anyio.create_task_group() as group:
        group.start_soon(room.run, call("send"))
        await room.clock.advance(2)
    assert ([result.status for result in room.results], looked) == (["ok"], [False])


async def test_what_came_back_although_it_was_interrupted_is_known() -> None:
    @tool(effects=True, timeout=2)
    async def send() -> str:
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            return "sent"

    _, (result,) = await timed(Room([send]), call("send"))
    assert (result.status, result.value) == ("ok", "sent")


@pytest.mark.behaviour("TOOL-1")
async def test_an_unknown_outcome_that_fails_the_visit_is_neither_retried_nor_routed() -> None:
    sent = Sent()
    room = Room([tool(effects=True, timeout=5, on_failure="fail")(sent.send)])

    @node
    async def rescue(step: Step[State]) -> Complete[str]:
        return Complete("rescued")

    go = room.node([call("send")]).using(retry=Retry(attempts=3)).on_error(rescue)
    flow = Flow("sends", go, rescue)
    async with anyio.create_task_group() as group:
        group.start_soon(room.clock.advance, 20)
        result = await flow.run(State(), clock=room.clock, check=False)
    assert (result.status, sent.sent) == ("failed", 1)
    assert result.failure is not None
    assert isinstance(result.failure.exception, OutcomeUnknown)
    assert (result.failure.code, result.failure.exception.status) == ("outcome_unknown", "unknown")


async def test_a_call_that_somebody_else_cancelled_is_cancelled(anyio_backend_name: str) -> None:
    cancelled = asyncio.CancelledError if anyio_backend_name == "asyncio" else None

    @tool
    async def fetch() -> None:
        if cancelled is None:
            raise trio.Cancelled._create(source="explicit")
        raise cancelled

    room = Room([fetch, tool(name="send", effects=True)(fetch.fn)])
    results = await room.run(call("fetch"), call("send"))
    assert [result.status for result in results] == ["cancelled", "unknown"]
