"""The answers of people: from any thread, of the right type, once, and each of them is seen."""

from __future__ import annotations

import threading
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
from tests.tools.room import Room, State, call, statuses

from flowcore import ContractError, Run
from flowcore.recording import dump_runs, recording_of
from flowcore.tools import Allow, Approval, Ask, Deny, Proposal

NOT_SURE: Any = "no"


async def delete() -> str:
    return "deleted"


def asking() -> Room:
    def policy(proposal: Proposal) -> Ask:
        return Ask("Really?")

    return Room([delete], {"policy": policy})


async def pending(run: Run[Any], count: int) -> None:
    while len(run.requests) < count:
        await anyio.lowlevel.checkpoint()


def answering(run: Run[Any], backend: str) -> threading.Thread:
    """Returns a thread at work: it has an event loop of its own, and answers in it."""

    async def answer() -> None:
        await run.answer(None, True, by="thread")

    thread = threading.Thread(target=lambda: anyio.run(answer, backend=backend))
    thread.start()
    return thread


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
async def test_an_answer_from_another_thread_and_its_event_loop_is_taken_at_once(backend: str) -> None:
    room = asking()
    async with room.flow([call("delete")]).start(State()) as run:
        await pending(run, 1)
        thread = answering(run, backend)
        with anyio.fail_after(10):
            result = await run.wait()
        await anyio.to_thread.run_sync(thread.join)
        room.events = [event async for event in run.events()]
    assert (result.status, statuses(room.results)) == ("completed", ["ok"])
    assert [(event.answer, event.by) for event in room.heard("request.answered")] == [("approved", "thread")]


async def test_of_many_answers_at_once_one_is_taken() -> None:
    room = asking()
    refused: list[str] = []
    async with room.flow([call("delete")]).start(State()) as run:
        await pending(run, 1)
        (request,) = run.requests

        def answer(value: bool) -> None:
            async def go() -> None:
                try:
                    await run.answer(request.id, value, by=str(value))
                except ContractError as error:
                    refused.append(str(error))

            anyio.run(go)

        async with anyio.create_task_group() as group:
            for value in (True, False, True, False):
                group.start_soon(anyio.to_thread.run_sync, answer, value)
        await run.wait()
    assert len(refused) == 3
    assert len(set(refused)) == 1
    assert "waits for no answer: it was answered by" in refused[0]


@pytest.mark.parametrize("value", [Approval(NOT_SURE), "yes", 1, None])
async def test_what_is_neither_true_nor_false_is_no_answer(value: Any) -> None:
    room = asking()
    async with room.flow([call("delete")]).start(State()) as run:
        await pending(run, 1)
        with pytest.raises(ContractError, match="is answered by True, False or Approval"):
            await run.answer(None, value)
        await run.answer(None, False)
        await run.wait()
    assert statuses(room.results) == ["denied"]


async def test_an_answer_that_was_taken_is_told_although_the_run_was_cancelled_before_it_went_on() -> None:
    room = asking()
    async with room.flow([call("delete")]).start(State()) as run:
        await pending(run, 1)
        async with anyio.create_task_group() as group:
            group.start_soon(run.cancel, "user")
            group.start_soon(run.answer, run.requests[0].id, True)
        room.events = [event async for event in run.events()]
    assert len(room.heard("request.opened")) == len(room.heard("request.answered")) == 1
    assert [event.status for event in room.heard("tool.finished")] == ["not_executed"]


async def test_whoever_answers_can_be_stored() -> None:
    room = asking()
    async with room.flow([call("delete", id="\ud800")]).start(State()) as run:
        await pending(run, 1)
        await run.answer(None, True, by="\ud800")
        result = await run.wait()
    assert [result.call.id for result in room.results] == ["\\ud800"]
    dump_runs([recording_of(result.trace)]).encode("utf-8")


async def test_nobody_is_asked_any_more_when_the_work_has_failed() -> None:
    async def broken() -> None:
        raise ContractError("broken")

    def policy(proposal: Proposal) -> Ask | Allow:
        return Ask() if proposal.tool.name == "delete" else Allow()

    room = Room([delete, broken], {"policy": policy})
    with anyio.fail_after(10):
        ended = await room.ended(call("delete"), call("broken"))
    assert (ended.status, str(ended.failure)) == ("failed", "ContractError: broken")
    assert [event.answer for event in room.heard("request.answered")] == ["withdrawn"]
    assert {event.call: event.status for event in room.heard("tool.finished")} == {
        "broken": "failed",
        "delete": "not_executed",
    }


async def test_a_reason_of_any_length_is_told_cut() -> None:
    room = Room([delete], {"policy": lambda proposal: Deny("\ud800" + "x" * 1_000_000)})
    ended = await room.ended(call("delete"))
    (denied,) = room.heard("tool.denied")
    assert len(denied.reason) < 21_000
    dump_runs([recording_of(ended.trace)]).encode("utf-8")
