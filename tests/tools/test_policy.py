"""Hooks, the policy, and people who are asked."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from tests.tools.room import Room, State, call, statuses

from flowcore import Budget, Complete, ContractError, Flow, NodeTimeout, Run, Scope, Step, node
from flowcore.tools import Allow, Approval, Ask, Deny, Proposal, tool


class Outside:
    """Something outside, and the tool that changes it."""

    def __init__(self) -> None:
        self.deleted: list[str] = []

    async def delete(self, path: str, force: bool = False) -> str:
        self.deleted.append(f"{path}!" if force else path)
        return f"deleted {path}"


def delete(path: str, id: str = "d") -> Any:
    return call("delete", f'{{"path": "{path}"}}', id)


@pytest.mark.behaviour("S1-12", "S4-14")
async def test_a_policy_allows_denies_or_asks() -> None:
    outside = Outside()
    seen: list[tuple[str, Any, str, str]] = []

    async def policy(proposal: Proposal) -> Allow | Deny | Ask:
        seen.append((proposal.tool.name, proposal.arguments, proposal.path, proposal.call.id))
        return {"a": Allow(), "b": Deny("b is kept"), "c": Ask("Really?")}[proposal.arguments["path"]]

    room = Room([outside.delete], {"policy": policy})
    calls = [delete(path, path) for path in "abc"]
    async with room.flow(calls).start(State(), clock=room.clock) as run:
        await pending(run, 1)
        await run.answer(run.requests[0].id, True, by="ann")
        await run.wait()
        room.events = [event async for event in run.events()]
    assert [(result.status, result.text) for result in room.results] == [
        ("ok", "deleted a"),
        ("denied", "Denied: b is kept."),
        ("ok", "deleted c"),
    ]
    assert seen == [("delete", {"path": path, "force": False}, "go#1", path) for path in "abc"]
    assert sorted(outside.deleted) == ["a", "c"]
    assert [(event.call, event.reason) for event in room.heard("tool.denied")] == [("b", "b is kept.")]


async def pending(run: Run[Any], count: int) -> None:
    """Returns when so many requests wait for an answer."""
    while len(run.requests) < count:
        await anyio.lowlevel.checkpoint()


@pytest.mark.behaviour("S1-10", "S1-11")
async def test_hooks_change_arguments_in_their_order_and_the_policy_sees_what_they_made() -> None:
    outside = Outside()
    seen: list[Any] = []

    def inside(proposal: Proposal) -> dict[str, Any]:
        return {**proposal.arguments, "path": f"/tmp/{proposal.arguments['path']}"}

    async def gently(proposal: Proposal) -> dict[str, Any]:
        seen.append(proposal.arguments)
        return {**proposal.arguments, "force": "true"}

    def policy(proposal: Proposal) -> Allow:
        seen.append(proposal.arguments)
        return Allow()

    room = Room([outside.delete], {"hooks": [inside, gently], "policy": policy})
    await room.run(call("delete", "{'path': 'x',}"))
    assert seen == [{"path": "/tmp/x", "force": False}, {"path": "/tmp/x", "force": True}]
    assert outside.deleted == ["/tmp/x!"]
    (started,) = room.heard("tool.started")
    assert started.arguments == '{"path":"/tmp/x","force":true}'


def fails(proposal: Proposal) -> Any:
    raise LookupError("no such rule")


@pytest.mark.behaviour("TOOL-2")
@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"hooks": [fails]}, "Denied: fails failed: LookupError: no such rule."),
        ({"policy": fails}, "Denied: fails failed: LookupError: no such rule."),
        ({"hooks": [lambda proposal: Deny("too late")]}, "Denied: too late."),
        (
            {"hooks": [lambda proposal: {"path": 1}]},
            "Denied: the hook <lambda> made arguments that do not fit: path",
        ),
        (
            {"hooks": [lambda proposal: True]},
            "Denied: the hook <lambda> said bool: it says None, arguments or Deny.",
        ),
        ({"policy": lambda proposal: "allow"}, "Denied: the policy said str: it says Allow, Deny or Ask."),
        ({"policy": lambda proposal: True}, "Denied: the policy said bool"),
    ],
)
async def test_a_hook_or_a_policy_that_raises_or_says_something_else_denies(options: Any, text: str) -> None:
    outside = Outside()
    (result,) = await Room([outside.delete], options).run(delete("x"))
    assert (result.status, result.handler_ran, outside.deleted) == ("denied", False, [])
    assert result.text.startswith(text)


@pytest.mark.behaviour("TOOL-3")
async def test_a_request_says_what_is_asked_and_is_answered_once_by_its_id() -> None:
    outside = Outside()
    room = Room([outside.delete], {"policy": lambda proposal: Ask("Really?", expires=60)})
    async with room.flow([delete("x", "a"), delete("y", "b")]).start(State(), clock=room.clock) as run:
        assert run.requests == ()
        await pending(run, 2)
        first, second = run.requests
        with pytest.raises(
            ContractError, match=f"2 requests wait: say which one is answered: {first.id}, {second.id}"
        ):
            await run.answer(None, True)
        with pytest.raises(ContractError, match="is answered by True, False or Approval, not 'yes'"):
            await run.answer(first.id, "yes")  # type: ignore[arg-type]
        with pytest.raises(ContractError, match="request 'r9' waits for no answer: it is none of this run"):
            await run.answer("r9", True)
        await run.answer(second.id, Approval(False, "y is needed"), by="ann")
        with pytest.raises(ContractError, match="waits for no answer: it was answered by 'ann'"):
            await run.answer(second.id, True)
        assert run.requests == (first,)
        await run.answer(None, True, by="bob")
        await run.wait()
        with pytest.raises(ContractError, match="no request waits for an answer"):
            await run.answer(None, True)
        room.events = [event async for event in run.events()]
    assert [(result.status, result.text) for result in room.results] == [
        ("ok", "deleted x"),
        ("denied", "Denied: y is needed."),
    ]
    assert (first.kind, first.question, first.tool, first.call_id, first.path) == (
        "tool",
        "Really?",
        "delete",
        "a",
        "go#1",
    )
    assert (first.arguments, first.expires - first.opened) == ('{"path":"x","force":false}', timedelta(seconds=60))
    opened = [(event.request, event.call, event.tool) for event in room.heard("request.opened")]
    assert opened == [(first.id, "a", "delete"), (second.id, "b", "delete")]
    answered = [(event.request, event.answer, event.by) for event in room.heard("request.answered")]
    assert answered == [(second.id, "denied", "ann"), (first.id, "approved", "bob")]


@pytest.mark.behaviour("TOOL-3")
async def test_without_an_answer_it_is_a_no_after_300_seconds_and_its_neighbours_have_long_gone_on() -> None:
    outside = Outside()

    @tool
    async def read() -> str:
        return f"at {room.clock.monotonic():g}"

    def policy(proposal: Proposal) -> Allow | Ask:
        return Ask() if proposal.tool.name == "delete" else Allow()

    room = Room([outside.delete, read], {"policy": policy, "concurrency": 1})
    flow = room.flow([delete("x"), call("read", id="r")])
    async with anyio.create_task_group() as group:
        group.start_soon(flow_run, flow, room)
        await room.clock.advance(299)
        assert room.results == ()
        await room.clock.advance(1)
    assert [(result.status, result.text) for result in room.results] == [
        ("denied", "Denied: nobody agreed to it within 300 s."),
        ("ok", "at 0"),
    ]
    assert outside.deleted == []


async def flow_run(flow: Flow[Any, Any, Any], room: Room) -> None:
    await flow.run(State(), clock=room.clock)


@pytest.mark.behaviour("TOOL-4")
async def test_while_a_person_is_waited_for_no_time_passes() -> None:
    """The tool has 5 seconds, its node 10, the sub-flow 15, the run 20, and the person takes 100."""

    @tool(timeout=5)
    async def slow() -> str:
        await room.clock.sleep(4)
        return "done"

    room = Room([slow], {"policy": lambda proposal: Ask()})
    inner = Flow("inner", room.node([call("slow")]).using(timeout=10))

    @node
    async def end(step: Step[State]) -> Complete[str]:
        return Complete("ended")

    flow = Flow("outer", inner.as_node("inner").using(timeout=15).to(end), end)
    async with flow.start(State(), clock=room.clock, budget=Budget(seconds=20)) as run:
        await room.clock.advance(3)
        await room.clock.advance(100)
        await run.answer(None, True)
        await room.clock.advance(4)
        result = await run.wait()
    assert (result.status, statuses(room.results)) == ("completed", ["ok"])
    assert result.usage.seconds == 4


@pytest.mark.behaviour("TOOL-4")
@pytest.mark.parametrize("limit", ["node", "budget"])
async def test_time_that_passed_before_and_after_the_wait_still_counts(limit: str) -> None:
    outside = Outside()
    room = Room([outside.delete], {"policy": lambda proposal: Ask()})
    executor = room.executor

    @node
    async def go(step: Step[State]) -> Complete[None]:
        await room.clock.sleep(6)
        await executor.run([delete("x")])
        await room.clock.sleep(6)
        return Complete(None)

    bounded = go.using(timeout=10) if limit == "node" else go
    budget = Budget(seconds=10) if limit == "budget" else None
    async with Flow("late", bounded).start(State(), clock=room.clock, budget=budget) as run:
        await room.clock.advance(6)
        await room.clock.advance(100)
        await run.answer(None, True)
        await room.clock.advance(3)
        assert run.trace.ending is None
        await room.clock.advance(1)
        result = await run.wait()
    assert (result.status, outside.deleted) == ("failed", ["x"])
    assert result.failure is not None
    assert isinstance(result.failure.exception, NodeTimeout) is (limit == "node")
    assert (result.exhausted, result.usage.seconds) == (None if limit == "node" else "seconds", 10)


async def test_a_deadline_is_a_time_of_day_and_waits_for_nobody() -> None:
    room = Room([Outside().delete], {"policy": lambda proposal: Ask()})
    deadline = room.clock.utcnow() + timedelta(seconds=30)
    async with room.flow([delete("x")]).start(State(), clock=room.clock, deadline=deadline) as run:
        await room.clock.advance(29)
        assert len(run.requests) == 1
        await room.clock.advance(1)
        result = await run.wait()
    assert (result.status, result.exhausted) == ("failed", "seconds")


@pytest.mark.behaviour("TOOL-3")
async def test_a_wait_ends_with_its_run() -> None:
    outside = Outside()
    room = Room([outside.delete], {"policy": lambda proposal: Ask()})
    async with room.flow([delete("x")]).start(State()) as run:
        await pending(run, 1)
        (request,) = run.requests
        await run.cancel("user")
        assert run.requests == ()
        with pytest.raises(ContractError, match="waits for no answer: it was withdrawn"):
            await run.answer(request.id, True)
        room.events = [event async for event in run.events()]
    assert outside.deleted == []
    assert [event.answer for event in room.heard("request.answered")] == ["withdrawn"]
    assert [event.status for event in room.heard("tool.finished")] == ["not_executed"]


@pytest.mark.behaviour("A25")
async def test_a_call_that_was_agreed_to_is_paid_for_then() -> None:
    outside = Outside()
    room = Room([outside.delete], {"policy": lambda proposal: Ask()})
    async with room.flow([delete("x", "a"), delete("y", "b")]).start(State(), budget=Budget(tool_calls=1)) as run:
        await pending(run, 2)
        first, second = run.requests
        await run.answer(first.id, True)
        await run.answer(second.id, True)
        result = await run.wait()
        room.events = [event async for event in run.events()]
    assert (result.status, result.exhausted, result.usage.tool_calls) == ("failed", "tool_calls", 1)
    assert outside.deleted == ["x"]
    assert {event.call: event.status for event in room.heard("tool.finished")} == {"a": "ok", "b": "not_executed"}


async def test_outside_of_a_run_nobody_can_be_asked() -> None:
    outside = Outside()
    async with Scope(Budget()):
        (result,) = await Room([outside.delete], {"policy": lambda proposal: Ask()}).executor.run([delete("x")])
    assert (result.status, outside.deleted) == ("denied", [])
    assert result.text == "Denied: it needs the consent of a person, and nobody can be asked here."


@pytest.mark.parametrize("expires", [0, -1, float("inf"), float("nan")])
def test_a_request_expires_at_some_time(expires: float) -> None:
    with pytest.raises(ValueError, match="give seconds above zero, at most a year"):
        Ask(expires=expires)
