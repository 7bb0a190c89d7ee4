"""What is in the record after a run, and what observers can do to it: nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, get_args

import anyio
import anyio.lowlevel
import pytest
from tests.core.runs import chain, raising
from tests.stepping import StepClock

from flowcore import Flow, RunResult, tool
from flowcore.errors import StoreError
from flowcore.events import ArtifactAdded, Custom, Event, ModelFinished, ToolFinished
from flowcore.messages import ModelReply, TokenUsage, ToolCall
from flowcore.models import ModelRunner
from flowcore.runtime.opening import codec_of
from flowcore.store import MemoryRunStore, Stored
from flowcore.store.reading import read_trace
from flowcore.testing import FakeClock, ScriptedModel
from flowcore.testing.host_flows import Work
from flowcore.tools import ToolCatalog, ToolExecutor
from flowcore.trace_events import trace_events
from flowcore.trigger import Trigger, TriggerKind

pytestmark = pytest.mark.anyio


def work(step: Any) -> None:
    step.state.count += 1
    step.emit("seen", step.state.count)
    step.artifact("page", "text", "text/plain")


@pytest.mark.behaviour("S1-01")
@pytest.mark.parametrize("kind", get_args(TriggerKind))
async def test_each_trigger_makes_one_record(kind: TriggerKind) -> None:
    store, trigger = MemoryRunStore(), Trigger(kind, user="ann", conversation="c", parent="p")
    await chain(Work, work).run(Work(), store=store, trigger=trigger, run_id="one", clock=FakeClock())
    with pytest.raises(StoreError, match="holds a run 'one' already"):
        await chain(Work, work).run(Work(), store=store, trigger=trigger, run_id="one", clock=FakeClock())
    (row,) = await store.runs()
    assert (row.run_id, row.trigger, row.status) == ("one", trigger, "completed")


def busy(clock: StepClock) -> Flow[Any, Any, Any]:
    """Returns a flow that asks a model, calls a tool, and makes something; one second, three, and two."""
    runner = ModelRunner(ScriptedModel([ModelReply("hello", TokenUsage(10, 3), cost=0.25)]))

    @tool
    async def look(at: int) -> str:
        """Looks."""
        clock.leap(3)
        return f"saw {at}"

    tools = ToolExecutor(ToolCatalog([look]))

    async def think(step: Any) -> None:
        clock.leap(1)
        step.state.consent = (await runner.invoke("hi")).text
        await tools.run([ToolCall("c", "look", '{"at": 1}')])

    def make(step: Any) -> None:
        step.emit("seen", {"n": 1})
        step.artifact("page.txt", b"text", "text/plain")
        clock.leap(2)

    return chain(Work, think, make)


@pytest.mark.behaviour("S1-14")
async def test_steps_events_model_usage_times_and_artifacts_are_written() -> None:
    store, clock = MemoryRunStore(), StepClock()
    flow = busy(clock)
    await flow.run(Work(), store=store, run_id="run", clock=clock)
    stored = await store.load("run")
    assert [(row.node, row.number, row.target, row.patch) for row in stored.visits] == [
        ("n1", 1, "n2", '{"consent":"hello"}'),
        ("n2", 1, "end", ""),
        ("end", 1, "", ""),
    ]
    assert [(row.started, row.ended) for row in stored.visits] == [(0, 4), (4, 6), (6, 6)]
    spent = [(row.rounds, row.requests, row.tool_calls, row.tokens, row.cost) for row in stored.visits]
    assert spent == [(1, 1, 1, 13, 0.25)] * 3
    assert [(row.kind, row.name, row.status) for row in stored.calls] == [
        ("model", "ScriptedModel", "done"),
        ("tool", "look", "done"),
    ]
    assert stored.run.end is not None
    assert stored.run.end.ended - stored.run.began == 6
    events = trace_events(read_trace(stored, codec_of(flow.plan)))
    kinds = Counter(event.kind for event in events)
    assert [kinds[kind] for kind in ("node.started", "node.finished", "route.taken", "state.patched")] == [
        3,
        3,
        2,
        1,
    ]
    assert [(event.tokens, event.cost, at(event)) for event in of(ModelFinished, events)] == [(13, 0.25, 1)]
    assert [(event.tool, event.status, event.text, at(event)) for event in of(ToolFinished, events)] == [
        ("look", "ok", "saw 1", 4)
    ]
    assert [(event.path, event.name, event.data) for event in of(Custom, events)] == [("n2#1", "seen", {"n": 1})]
    assert [(event.path, event.name, event.data, event.media_type) for event in of(ArtifactAdded, events)] == [
        ("n2#1", "page.txt", b"text", "text/plain")
    ]


def of(kind: Any, events: Sequence[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def at(event: Event) -> float:
    return event.at.timestamp() - StepClock().utcnow().timestamp()


@pytest.mark.behaviour("S1-24")
@pytest.mark.parametrize("ending", ["completed", "failed", "cancelled"])
async def test_completed_is_told_once_and_on_success_only(ending: str) -> None:
    told: list[str] = []

    async def act(step: Any) -> None:
        if ending == "cancelled":
            await anyio.sleep_forever()

    def value(step: Any) -> int:
        if ending == "failed":
            raise ValueError("no")
        return 1

    store = MemoryRunStore()
    observers = [lambda event: told.append(event.kind)]
    async with chain(Work, act, value=value).start(Work(), store=store, run_id="run", observers=observers) as run:
        if ending == "cancelled":
            await run.cancel()
        assert (await run.wait()).status == ending
        kinds = [event.kind async for event in run.events()]
    with anyio.fail_after(10):
        while len(told) < len(kinds):
            await anyio.lowlevel.checkpoint()
    assert told == kinds
    assert kinds.count("run.completed") == (ending == "completed")
    assert kinds[-1] == f"run.{ending}"
    stored = [row.kind for row in (await store.load("run")).notes]
    assert stored.count("run.completed") == (ending == "completed")
    assert stored[-1] == f"run.{ending}"


ENDINGS = pytest.mark.parametrize("ending", ["completed", "failed", "cancelled"])


async def observed(ending: str, *observers: Any) -> tuple[RunResult[Any], Stored, list[str]]:
    """Returns how a run ends that somebody observes, its record, and what was told of it."""
    store = MemoryRunStore()

    async def second(step: Any) -> None:
        work(step)
        if ending == "cancelled":
            await anyio.sleep_forever()

    def value(step: Any) -> int:
        if ending == "failed":
            raise ValueError("no")
        return int(step.state.count)

    flow, clock = chain(Work, work, second, value=value), FakeClock()
    async with flow.start(Work(), store=store, observers=observers, run_id="run", clock=clock) as run:
        with anyio.fail_after(10):
            while ending == "cancelled" and len(run.trace) == 0:
                await anyio.lowlevel.checkpoint()
            if ending == "cancelled":
                await run.cancel()
            result = await run.wait()
        kinds = [event.kind async for event in run.events()]
    return result, await store.load("run"), kinds


def whole(result: RunResult[Any], stored: Stored, kinds: list[str]) -> tuple[Any, ...]:
    """Returns everything of a run that an observer could change; who had walked it is chance."""
    failure = result.failure and (result.failure.path, result.failure.type, result.failure.message)
    told = (result.status, result.value, result.state, failure, result.reason, result.stragglers, result.usage)
    rows = (stored.run.status, stored.run.end, stored.frames, stored.visits, stored.notes, stored.calls)
    return *told, result.trace.to_text(detail="full"), *rows, kinds


@pytest.mark.behaviour("S1-32")
@ENDINGS
async def test_a_slow_observer_delays_nothing_and_is_told_all_of_it_later(ending: str) -> None:
    free, seen = anyio.Event(), list[str]()

    async def slow(event: Event) -> None:
        await free.wait()
        seen.append(event.kind)

    result, stored, kinds = await observed(ending, slow)
    assert seen == []  # the result is there, and so is the record
    assert whole(result, stored, kinds) == whole(*await observed(ending))
    free.set()
    with anyio.fail_after(10):
        while len(seen) < len(kinds):
            await anyio.lowlevel.checkpoint()
    assert seen == kinds


@pytest.mark.behaviour("S1-33")
@ENDINGS
@pytest.mark.parametrize("error", [LookupError("an observer"), KeyboardInterrupt(), SystemExit(3)])
async def test_an_observer_that_raises_changes_nothing(ending: str, error: BaseException) -> None:
    called = Counter[str]()

    async def later(event: Event) -> None:
        called["later"] += 1
        await anyio.lowlevel.checkpoint()
        raise error

    def at_once(event: Event) -> None:
        called["at once"] += 1
        raise error

    found = await observed(ending, later, at_once)
    assert found[0].status == ending
    assert whole(*found) == whole(*await observed(ending, raising()))
    assert whole(*found) == whole(*await observed(ending))
    with anyio.fail_after(10):
        while set(called.values()) != {len(found[2])}:
            await anyio.lowlevel.checkpoint()
