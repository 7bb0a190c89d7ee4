"""How a call ended: each that began says so, whatever broke on the way. What a tool gets is what was checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import anyio
import pytest
from pydantic import AfterValidator
from tests.tools.room import Room, State, call, statuses

from flowcore import ContractError
from flowcore.tools import Arguments, Proposal, Tool, ToolContext, tool


def breaks(value: Any) -> Any:
    raise KeyError(value)


async def good() -> str:
    return "fine"


async def test_a_check_of_arguments_that_breaks_is_told_and_its_neighbours_run() -> None:
    ran: list[str] = []

    async def find(title: Annotated[str, AfterValidator(breaks)]) -> None:
        ran.append(title)

    results = await Room([find, good]).run(call("find", '{"title": "x"}'), call("good"))
    assert statuses(results) == ["invalid_arguments", "ok"]
    assert "do not fit: KeyError: 'x'" in results[0].text
    assert ran == []


async def test_a_check_of_what_a_tool_returned_that_breaks_is_told_as_a_call_that_ran() -> None:
    @tool(effects=True)
    async def find() -> Annotated[str, AfterValidator(breaks)]:
        return "x"

    room = Room([find, good])
    results = await room.run(call("find"), call("good"))
    assert [(result.status, result.handler_ran) for result in results] == [("invalid_output", True), ("ok", True)]
    assert "KeyError: 'x'. What it changed outside is not undone" in results[0].text


def returns_one(context: ToolContext, arguments: Arguments) -> int:
    return 1


async def test_a_broken_promise_in_a_check_ends_the_run_and_the_call_has_run() -> None:
    def refuse(value: Any) -> Any:
        raise ContractError("no")

    described = Tool(
        name="t", description="", parameters={}, call=returns_one, is_async=False, check_output=refuse
    )
    room = Room([described])
    with pytest.raises(ContractError, match="no"):
        await room.run(call("t"))
    assert [event.status for event in room.heard("tool.finished")] == ["invalid_output"]


async def test_a_run_that_is_cancelled_while_a_look_is_taken_leaves_the_outcome_unknown() -> None:
    looking = anyio.Event()

    async def look() -> bool:
        looking.set()
        await anyio.sleep_forever()
        return True

    @tool(effects=True, timeout=0.01, verify=look)
    async def lend() -> None:
        await anyio.sleep_forever()

    room = Room([lend])
    async with room.flow([call("lend")]).start(State()) as run:
        await looking.wait()
        await run.cancel("user")
        room.events = [event async for event in run.events()]
    assert [event.status for event in room.heard("tool.finished")] == ["unknown"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
async def test_an_interrupt_while_a_result_is_looked_at_is_an_interrupt(error: BaseException) -> None:
    def refuse(value: Any) -> Any:
        raise error

    room = Room(
        [Tool(name="t", description="", parameters={}, call=returns_one, is_async=False, check_output=refuse)]
    )
    ended = await room.ended(call("t"))
    assert (ended.status, ended.reason, room.results) == ("cancelled", "interrupt", ())
    assert [event.status for event in room.heard("tool.finished")] == ["invalid_output"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
async def test_an_interrupt_in_a_look_is_an_interrupt(error: BaseException) -> None:
    async def look() -> bool:
        raise error

    @tool(effects=True, timeout=1, verify=look)
    async def lend() -> None:
        await anyio.sleep_forever()

    room = Room([lend])
    async with room.flow([call("lend")]).start(State(), clock=room.clock) as run:
        await room.clock.advance(1)
        result = await run.wait()
    assert (result.status, result.reason, room.results) == ("cancelled", "interrupt", ())


async def test_a_look_gets_the_arguments_as_they_were_given() -> None:
    seen: list[list[str]] = []

    async def look(titles: list[str]) -> bool:
        seen.append(titles)
        return not titles

    @tool(effects=True, timeout=1, verify=look)
    async def lend(titles: list[str]) -> None:
        while titles:
            titles.pop()
        await anyio.sleep_forever()

    room = Room([lend])
    async with anyio.create_task_group() as group:
        group.start_soon(room.run, call("lend", '{"titles": ["Dune", "Emma"]}'))
        await room.clock.advance(1)
    assert seen == [["Dune", "Emma"]]
    assert statuses(room.results) == ["failed"]


async def test_a_group_of_nothing_but_cancellations_is_a_cancelled_call() -> None:
    @tool
    async def stopped() -> None:
        caught: list[BaseException] = []
        with anyio.CancelScope() as scope:
            scope.cancel()
            try:
                await anyio.sleep_forever()
            except BaseException as error:
                caught.append(error)
                raise
        raise BaseExceptionGroup("both", [*caught, BaseExceptionGroup("one", caught)])

    @tool
    async def mixed() -> None:
        try:
            await stopped.fn()
        except BaseExceptionGroup as group:
            raise BaseExceptionGroup("mixed", [*group.exceptions, ValueError("x")]) from None

    room = Room([stopped, mixed, good])
    ended = await room.ended(call("stopped"), call("mixed"), call("good"))
    assert ended.status == "completed"
    assert statuses(room.results) == ["cancelled", "failed", "ok"]


async def test_what_can_be_read_but_once_is_no_result() -> None:
    left: list[Iterator[int]] = []

    @tool
    async def count():  # type: ignore[no-untyped-def]
        left.append(number for number in range(3))
        return left[0]

    (result,) = await Room([count]).run(call("count"))
    assert (result.status, result.handler_ran) == ("invalid_output", True)
    assert "return a list" in result.text
    assert list(left[0]) == [0, 1, 2]


@pytest.mark.parametrize(("pages", "status"), [("9", "ok"), (-1, "denied")])
async def test_what_a_hook_changes_in_place_is_checked_too(pages: Any, status: str) -> None:
    ran: list[int] = []

    async def print_out(pages: Annotated[int, AfterValidator(positive)]) -> None:
        ran.append(pages)

    def hook(proposal: Proposal) -> None:
        arguments: Any = proposal.arguments
        arguments["pages"] = pages

    (result,) = await Room([print_out], {"hooks": [hook]}).run(call("print_out", '{"pages": 1}'))
    assert (result.status, ran) == (status, [9] if status == "ok" else [])


def positive(value: int) -> int:
    if value < 0:
        raise ValueError("give a number above zero")
    return value
