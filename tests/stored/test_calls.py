"""Recorded calls: a visit that runs again does not ask a model, or call a tool, for what it has been told."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from tests.stored.dying import RUN, Hangs, Job, dying, killed_at, process, resumed, store_of

from flowcore import Budget, Complete, Continue, Flow, ModelRunner, Retry, Step, each, node, tool
from flowcore.messages import Message, ModelReply, TokenUsage, ToolCall
from flowcore.store import MemoryRunStore, RunStore, SQLiteRunStore
from flowcore.testing import FakeClock, ScriptedModel
from flowcore.tools import ToolCatalog, ToolExecutor, assistant_message, tool_messages


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> RunStore:
    return store_of(request.param, tmp_path)


def agent(hangs: Hangs, turns: int = 5, first: int = 1) -> tuple[ScriptedModel, Flow[Job, Any, str]]:
    """Returns a model that calls a tool so often and then answers, and the loop that runs it in one visit."""

    def answer(number: int) -> ModelReply[Any]:
        if number > turns:
            return ModelReply("done", TokenUsage(10, 1), cost=0.5)
        call = ToolCall(f"c{number}", "look", f'{{"at": {number}}}')
        return ModelReply("", TokenUsage(10, 1), cost=0.5, tool_calls=(call,))

    model = ScriptedModel([answer(number) for number in range(first, turns + 2)])

    @tool
    async def look(at: int) -> dict[str, Any]:
        """Looks at something."""
        await hangs.do(f"look {at}")
        return {"at": at, "seen": (at, at)}

    runner, executor = ModelRunner(model), ToolExecutor(ToolCatalog([look]))

    @node
    async def think(step: Step[Job]) -> Complete[str]:
        messages = [Message("user", "go")]
        while True:
            reply = await runner.invoke(messages, tools=[look.schema])
            if not reply.tool_calls:
                return Complete(f"{reply.text} after {len(messages)} messages")
            results = await executor.run(reply.tool_calls, history=messages)
            messages += [assistant_message(reply), *tool_messages(results)]

    return model, Flow("agent", think)


@pytest.mark.behaviour("A101")
async def test_calls_that_were_made_before_a_death_are_not_made_again(store: RunStore) -> None:
    hangs, clock = Hangs({"look 4"}), FakeClock()
    model, flow = agent(hangs)
    await killed_at(hangs, flow, store, clock)
    assert (hangs.did, len(model.requests)) == (["look 1", "look 2", "look 3", "look 4"], 4)

    again = await resumed(flow, store, clock)

    assert again.value == "done after 11 messages"
    assert hangs.did[4:] == ["look 4", "look 5"]  # 1 to 3 are recorded; the fourth never came back
    assert len(model.requests) == 6
    assert (again.result.usage.requests, again.result.usage.tool_calls) == (6, 5)
    assert (again.result.usage.cost, again.result.usage.tokens) == (3.0, 66)
    recalled = [(event.of, event.name) for event in again.heard("call.recalled")]
    assert recalled.count(("tool", "look")) == 3
    assert sum(of == "model" for of, _ in recalled) == 4
    assert [event.status for event in again.heard("tool.finished")] == ["ok"] * 5
    assert len(again.heard("tool.started")) == 2


async def test_a_run_that_is_paused_finds_its_calls_without_a_store() -> None:
    hangs, clock = Hangs({"look 3"}), FakeClock()
    model, flow = agent(hangs, 3)
    async with flow.start(Job(), clock=clock) as run:
        await hangs.begun.wait()
        await run.pause()
        await run.resume()
        result = await run.wait()
        recalled = [event.of async for event in run.events() if event.kind == "call.recalled"]  # type: ignore[attr-defined]
    assert result.value == "done after 7 messages"
    assert hangs.did == ["look 1", "look 2", "look 3", "look 3"]
    assert (len(model.requests), result.usage.requests) == (4, 4)
    assert recalled == ["model", "tool", "model", "tool", "model"]


async def test_a_run_that_is_paused_again_and_again_counts_equal_calls_anew(store: RunStore) -> None:
    clock, did = FakeClock(), list[int]()
    waits = [anyio.Event() for _ in range(3)]

    @tool
    async def roll() -> int:
        """Rolls a die."""
        did.append(len(did))
        return len(did)

    executor = ToolExecutor(ToolCatalog([roll]), guard=None)
    seen: list[list[Any]] = []

    @node
    async def go(step: Step[Job]) -> Complete[list[Any]]:
        values: list[Any] = []
        seen.append(values)
        for _ in range(len(seen)):
            values += [result.value for result in await executor.run([ToolCall("same", "roll", "{}")] * 2)]
        if len(seen) < 3:
            waits[len(seen) - 1].set()
            await anyio.sleep_forever()
        return Complete(values)

    async with Flow("dice", go).start(Job(), clock=clock, store=store, run_id=RUN) as run:
        for wait in waits[:2]:
            while not wait.is_set():
                await anyio.lowlevel.checkpoint()
                assert run.trace.ending is None, run.trace.ending
            await run.pause()
            await run.resume()
        result = await run.wait()
    assert seen == [[1, 2], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6]]
    assert result.value == [1, 2, 3, 4, 5, 6]
    assert result.usage.tool_calls == 6


async def test_a_retried_attempt_asks_the_model_and_the_tools_anew(store: RunStore) -> None:
    model, did = ScriptedModel([ModelReply("bad"), ModelReply("good")]), list[str]()

    @tool
    async def look() -> str:
        """Looks."""
        did.append("look")
        return "seen"

    runner, executor = ModelRunner(model), ToolExecutor(ToolCatalog([look]))

    @node
    async def go(step: Step[Job]) -> Complete[str]:
        reply = await runner.invoke("same")
        await executor.run([ToolCall("c", "look", "{}")])
        if reply.text == "bad":
            raise ValueError("bad")
        return Complete(reply.text)

    flow = Flow("again", go.using(retry=Retry(attempts=2)))
    assert await flow.run(Job(), store=store, clock=FakeClock()) == "good"
    assert did == ["look", "look"]


async def test_attempts_that_failed_before_a_death_are_told_the_same_again(store: RunStore) -> None:
    model, hangs, clock = (
        ScriptedModel([ModelReply("bad"), ModelReply("good")]),
        Hangs({"after good"}),
        FakeClock(),
    )
    runner = ModelRunner(model)

    @node
    async def go(step: Step[Job]) -> Complete[str]:
        reply = await runner.invoke("same")
        if reply.text == "bad":
            raise ValueError("bad")
        await hangs.do("after good")
        return Complete(f"{reply.text} in {step.attempt}")

    flow = Flow("again", go.using(retry=Retry(attempts=2)))
    await killed_at(hangs, flow, store, clock)
    again = await resumed(flow, store, clock)
    assert (again.value, len(model.requests)) == ("good in 2", 2)


async def test_a_request_that_was_not_answered_is_sent_again(store: RunStore) -> None:
    hangs, clock = Hangs({"one"}), FakeClock()

    class Slow:
        name = "slow"

        async def complete(self, request: Any) -> ModelReply[Any]:
            await hangs.do(request.messages[0].content)
            return ModelReply("yes", TokenUsage(1, 1))

    runner = ModelRunner(Slow())

    @node
    async def go(step: Step[Job]) -> Complete[str]:
        return Complete((await runner.invoke("one")).text)

    flow = Flow("slow", go)
    await killed_at(hangs, flow, store, clock)
    again = await resumed(flow, store, clock)
    assert (again.value, hangs.did, again.heard("call.recalled")) == ("yes", ["one", "one"], [])


async def test_a_recalled_answer_reaches_the_sink_and_its_type_and_costs_nothing(store: RunStore) -> None:
    model, hangs, clock = (
        ScriptedModel([ModelReply('{"text": "x"}', TokenUsage(7, 3), cost=2.0)]),
        Hangs({"after"}),
        FakeClock(),
    )
    runner, pieces = ModelRunner(model), list[str]()

    async def sink(chunk: Any) -> None:
        pieces.append(chunk.text)

    @node
    async def go(step: Step[Job]) -> Complete[str]:
        pieces.clear()
        reply = await runner.invoke("numbers", output=Job, sink=sink)
        await hangs.do("after")
        assert (reply.usage.total, reply.cost) == (10, 2.0)
        return Complete(reply.value.text)

    flow = Flow("typed", go)
    await killed_at(hangs, flow, store, clock)
    again = await resumed(flow, store, clock)
    assert (again.value, "".join(pieces), len(model.requests)) == ("x", '{"text": "x"}', 1)
    assert (again.result.usage.tokens, again.result.usage.cost, again.result.usage.requests) == (10, 2.0, 1)


async def test_a_result_that_cannot_be_written_is_made_again(store: RunStore) -> None:
    hangs, clock = Hangs({"after"}), FakeClock()

    @tool(output=Any)
    async def open_it():  # type: ignore[no-untyped-def]
        """Opens something."""
        hangs.did.append("open")
        return object()

    executor = ToolExecutor(ToolCatalog([open_it]))

    @node
    async def go(step: Step[Job]) -> Complete[str]:
        results = await executor.run([ToolCall("c", "open_it", "{}")])
        await hangs.do("after")
        return Complete(results[0].status)

    flow = Flow("opens", go)
    await killed_at(hangs, flow, store, clock)
    again = await resumed(flow, store, clock)
    assert (again.value, hangs.did) == ("ok", ["open", "after", "open", "after"])


async def test_calls_of_visits_that_have_ended_are_forgotten() -> None:
    @tool
    async def look() -> str:
        """Looks."""
        return "seen"

    executor, kept = ToolExecutor(ToolCatalog([look])), list[int]()

    @node(starts_round=True)
    async def go(step: Step[Job]) -> Complete[None]:
        for _ in range(3):
            await executor.run([ToolCall("c", "look", "{}")])
        kept.append(len(step.scope.host.log.__self__.visits))
        return Complete(None)

    flow = Flow("inner", go)

    @node
    async def last(step: Step[Job]) -> Complete[int]:
        return Complete(len(step.scope.host.log.__self__.visits))

    many = each("many", over=lambda state: [Job()] * 4, do=flow, collect=collected, limit=1)
    assert await Flow("outer", many.to(last), last).run(Job(), store=MemoryRunStore()) == 0
    assert kept == [1, 1, 1, 1]


def collected(state: Job, results: list[Any]) -> Continue:
    return Continue()


async def test_calls_in_items_and_branches_are_found_again(store: RunStore) -> None:
    hangs, clock = Hangs({"wait 2"}), FakeClock()

    @tool
    async def look(at: int) -> int:
        """Looks."""
        hangs.did.append(f"look {at}")
        return at * 10

    executor = ToolExecutor(ToolCatalog([look]))

    @node
    async def item(step: Step[Job]) -> Complete[int]:
        at = int(step.state.text)
        results = await executor.run([ToolCall("c", "look", f'{{"at": {at}}}')])
        await hangs.do(f"wait {at}")
        return Complete(results[0].value)

    def gathered(state: Job, results: list[Any]) -> Complete[list[Any]]:
        return Complete(results)

    many = each(
        "many",
        over=lambda state: [Job(str(at)) for at in range(4)],
        do=Flow("item", item),
        collect=gathered,
        limit=1,
    )
    flow = Flow("items", many)
    await killed_at(hangs, flow, store, clock)
    again = await resumed(flow, store, clock)
    assert again.value == [0, 10, 20, 30]
    assert [name for name in hangs.did if name.startswith("look")] == ["look 0", "look 1", "look 2", "look 3"]


async def test_only_what_was_not_paid_is_charged_after_a_death(store: RunStore) -> None:
    hangs, clock = Hangs({"look 2"}), FakeClock()
    _, flow = agent(hangs, 2)
    async with dying(flow, store, clock, budget=Budget(requests=3, tool_calls=3)):
        await hangs.begun.wait()
    again = await resumed(flow, store, clock)
    assert (again.result.status, again.result.usage.requests, again.result.usage.tool_calls) == ("completed", 3, 2)


@pytest.mark.behaviour("A101")
def test_a_killed_process_has_recorded_its_calls(tmp_path: Path) -> None:
    database, seen = tmp_path / "runs.db", tmp_path / "seen"
    assert process(__file__, str(database), str(seen), "3") == 9
    assert process(__file__, str(database), str(seen), "0") == 0
    assert seen.read_text().split() == ["1", "2", "3", "3", "4", "5"]


async def _child(database: str, seen: Path, dies: int) -> None:
    hangs = Hangs()

    async def do(name: str) -> None:
        with seen.open("a") as file:
            file.write(f"{name.split()[1]}\n")
        if name == f"look {dies}":
            os._exit(9)

    hangs.do = do  # type: ignore[method-assign]
    _, flow = agent(hangs)
    store, clock = SQLiteRunStore(database), FakeClock()
    if not dies:
        await clock.advance(60)
        _, flow = agent(hangs, first=4)  # the first three answers are recorded
    result = (
        flow.run(Job(), store=store, run_id=RUN, clock=clock)
        if dies
        else flow.resume(RUN, store=store, clock=clock)
    )
    assert await result == "done after 11 messages"


if __name__ == "__main__":
    anyio.run(_child, sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
