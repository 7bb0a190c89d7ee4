"""What steers the run goes through a call as it is; a tool that fails its visit does so after its neighbours."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from tests.tools.room import Room, State, call

from flowcore import (
    Budget,
    BudgetExhausted,
    Complete,
    ContractError,
    Flow,
    Scope,
    Step,
    current_scope,
    node,
)
from flowcore.errors import ToolError
from flowcore.tools import Deny, tool


def starting(count: int) -> tuple[list[int], Any, list[Any]]:
    started: list[int] = []

    async def work(number: int) -> int:
        started.append(number)
        return number

    return started, work, [call("work", f'{{"number": {n}}}', f"c{n}") for n in range(count)]


@pytest.mark.behaviour("A25")
@pytest.mark.parametrize(("limit", "count", "starts"), [(6, 8, 0), (8, 8, 8), (0, 1, 0)])
async def test_if_not_all_calls_of_a_reply_can_be_paid_for_none_starts(
    limit: int, count: int, starts: int
) -> None:
    started, work, calls = starting(count)
    room = Room([work])
    result = await room.ended(*calls, budget=Budget(tool_calls=limit))
    assert len(started) == starts
    assert result.usage.tool_calls == starts
    assert {event.status for event in room.heard("tool.finished")} == {"ok" if starts else "not_executed"}
    assert len(room.heard("tool.finished")) == count
    assert (result.status, result.exhausted) == (("completed", None) if starts else ("failed", "tool_calls"))


@pytest.mark.behaviour("A25")
async def test_branches_side_by_side_never_start_more_than_there_is() -> None:
    started, work, calls = starting(4)
    executor = Room([work]).executor
    refused: list[BudgetExhausted] = []

    async def branch() -> None:
        try:
            await executor.run(calls)
        except BudgetExhausted as error:
            refused.append(error)

    async with Scope(Budget(tool_calls=10)), anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(branch)
    assert (len(started), [(error.dimension, error.limit) for error in refused]) == (8, [("tool_calls", 10)])


async def raises_contract() -> None:
    raise ContractError("the tool broke a promise")


async def spends() -> None:
    current_scope().charge(requests=1)


async def spends_of_its_own() -> None:
    async with Scope(Budget(requests=0)) as own:
        own.charge(requests=1)


@pytest.mark.behaviour("A37")
@pytest.mark.parametrize(("fn", "kind"), [(raises_contract, ContractError), (spends, BudgetExhausted)])
async def test_a_broken_promise_and_a_spent_budget_are_no_results_for_a_model(
    fn: Any, kind: type[Exception]
) -> None:
    async def fine() -> str:
        return "fine"

    room = Room([fn, fine])
    result = await room.ended(call(fn.__name__, id="a"), call("fine", id="b"), budget=Budget(requests=0))
    assert room.results == ()
    assert result.failure is not None
    assert type(result.failure.exception) is kind
    assert {event.call: event.status for event in room.heard("tool.finished")} == {"a": "failed", "b": "ok"}


@pytest.mark.behaviour("A37")
async def test_the_same_out_of_a_hook_or_a_policy() -> None:
    def stop(proposal: object) -> None:
        raise ContractError("not like this")

    async def fine() -> str:
        return "fine"

    for option in ({"hooks": [stop]}, {"policy": stop}):
        room = Room([fine], option)
        with pytest.raises(ContractError, match="not like this"):
            await room.run(call("fine"))
        assert [event.status for event in room.heard("tool.finished")] == ["not_executed"]


async def to_rescue(step: Step[State]) -> Complete[str]:
    return Complete(f"rescued from {step.error}")


@pytest.mark.behaviour("A37")
async def test_a_round_that_is_lacking_in_a_tool_ends_the_run_and_takes_no_route() -> None:
    async def ask_more() -> str:
        @node(starts_round=True)
        async def think(step: Step[State]) -> Complete[str]:
            return Complete("thought")

        return str(await Flow("more", think).run(State()))

    room, rescue = Room([ask_more]), node(to_rescue)
    flow = Flow("outer", room.node([call("ask_more")]).on_error(rescue), rescue)
    result = await flow.run(State(), budget=Budget(rounds=1), check=False)
    assert (result.status, result.exhausted, result.path, room.results) == ("failed", "rounds", "go!", ())
    assert await flow.run(State(), budget=Budget(rounds=2)) == room.results
    assert [(one.status, one.text) for one in room.results] == [("ok", "thought")]


@pytest.mark.behaviour("A37")
@pytest.mark.parametrize("limit", ["budget", "node"])
async def test_time_that_runs_out_in_a_tool_is_told_to_no_model(limit: str) -> None:
    """The budget's time takes no route; the node's is a failure of the node, which may have one."""

    @tool(timeout=60)
    async def wait() -> None:
        await anyio.sleep_forever()

    room, rescue = Room([wait]), node(to_rescue)
    go = room.node([call("wait")]).on_error(rescue)
    flow = Flow("late", go.using(timeout=5) if limit == "node" else go, rescue)
    budget = Budget(seconds=5) if limit == "budget" else None
    async with flow.start(State(), budget=budget, clock=room.clock) as run:
        await room.clock.advance(5)
        result = await run.wait()
        room.events = [event async for event in run.events()]
    assert [event.status for event in room.heard("tool.finished")] == ["cancelled"]
    assert room.results == ()
    assert (result.status, result.exhausted, result.path) == (
        ("failed", "seconds", "go!") if limit == "budget" else ("completed", None, "go! > to_rescue")
    )


async def test_the_limit_of_a_tool_of_its_own_is_a_failure_like_any_other() -> None:
    (result,) = await Room([spends_of_its_own]).run(call("spends_of_its_own"))
    assert (result.status, result.text) == (
        "failed",
        "It failed: BudgetExhausted: the requests ran out: 0 of 0 used",
    )


@pytest.mark.behaviour("A39", "A69", "A71")
@pytest.mark.parametrize("on_failure", ["tell", "fail"])
async def test_a_failed_call_is_told_or_fails_the_visit_as_its_tool_says(on_failure: Any) -> None:
    async def done(text: str) -> str:
        await anyio.lowlevel.checkpoint()
        return text

    @tool(on_failure=on_failure)
    async def edit(text: str) -> str:
        raise OSError("disk full")

    room = Room([done, edit])
    calls = [
        call("done", '{"text": "x"}', "a"),
        call("edit", '{"text": "y"}', "b"),
        call("done", '{"text": "z"}', "c"),
    ]
    result = await room.ended(*calls)
    finished = {event.call: (event.status, event.text) for event in room.heard("tool.finished")}
    assert finished == {"a": ("ok", "x"), "b": ("failed", "It failed: OSError: disk full"), "c": ("ok", "z")}
    if on_failure == "tell":
        assert [(one.call.id, one.status) for one in room.results] == [("a", "ok"), ("b", "failed"), ("c", "ok")]
        return
    assert result.failure is not None
    error = result.failure.exception
    assert isinstance(error, ToolError)
    assert (str(error), error.tool, error.call_id, error.status) == (
        "edit: It failed: OSError: disk full",
        "edit",
        "b",
        "failed",
    )
    assert isinstance(error.__cause__, OSError)
    assert "call tool edit" in room_text(result)


def room_text(result: Any) -> str:
    return str(result.trace.to_text())


async def test_what_was_never_run_does_not_fail_the_visit() -> None:
    @tool(on_failure="fail")
    async def edit(text: str) -> str:
        return text

    room = Room([edit], {"policy": lambda proposal: Deny("no") if proposal.arguments["text"] == "n" else None})
    results = await room.run(
        call("edit", "{}", "a"), call("edit", '{"text": "n"}', "b"), call("edit", '{"text": "m"}', "c")
    )
    assert [result.status for result in results] == ["invalid_arguments", "denied", "denied"]
    assert results[2].text == "Denied: the policy said None: it says Allow, Deny or Ask."


@pytest.mark.behaviour("A39")
async def test_an_error_route_takes_the_failure_of_a_tool_and_no_unknown_outcome() -> None:
    sent: list[int] = []

    @tool(on_failure="fail")
    async def edit() -> None:
        raise OSError("disk full")

    @tool(on_failure="fail", effects=True)
    async def send() -> None:
        sent.append(1)
        with anyio.CancelScope() as own:
            own.cancel()
            await anyio.sleep_forever()
        raise anyio.get_cancelled_exc_class()()

    @node
    async def rescue(step: Step[State]) -> Complete[str]:
        return Complete(str(step.error))

    room = Room([edit, send])
    flow = Flow("routed", room.node([call("edit")]).on_error(rescue), rescue)
    assert await flow.run(State()) == "ToolError: edit: It failed: OSError: disk full"
