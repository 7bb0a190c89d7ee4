"""Who may ask a run to end, where and when, and what is true once it has ended."""

from __future__ import annotations

import asyncio  # noqa: TID251 - its own ways to cancel are what is tested
import gc
import threading
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import pytest
import trio
from tests.core.runs import Boom, does
from tests.stepping import StepClock, living, passes, quiet_down

from flowcore import Budget, BudgetExhausted, Complete, Flow, Retry, Run, RunCancelled, Step, node, result_of
from flowcore.events import Event

HANG = 5.0
"""Seconds of real time after which a test that waits for a run gives up."""


@dataclass
class State:
    log: list[str] = field(default_factory=list)


def three(act: Callable[[Any], Awaitable[Any] | Any], **using: Any) -> Flow[Any, Any, Any]:
    """Returns a flow of three nodes that each call `act` and note themselves, and an error route to `end`."""

    def noted(id: str) -> Any:
        async def both(step: Any) -> Any:
            returned = act(step)
            if returned is not None:
                await returned
            step.state.log.append(id)
            return Complete("done") if id == "c" else None

        return both

    a, b = does(noted("a"), "a", State), does(noted("b"), "b", State)
    c = does(noted("c"), "c", State, Complete[Any])
    end = does(lambda step: Complete("error"), "end", State, Complete[Any])
    rows = [a.to(b), b.to(c), c, end]
    return Flow("three", *[row.using(**using) if using else row for row in rows], on_error=end)


def threaded(fn: Callable[[Any], Any], id: str = "a") -> Any:
    """Returns a node that calls the function in a thread."""

    def work(step: Any) -> Any:
        return fn(step)

    work.__annotations__.update(step=Step[State], **{"return": Complete[Any]})
    return node(id=id)(work)


async def kinds(run: Run[Any]) -> list[str]:
    return [event.kind async for event in run.events()]


async def started(run: Run[Any], path: str) -> None:
    """Returns when the visit has begun."""
    async with aclosing(run.events()) as stream:  # type: ignore[type-var]
        async for event in stream:
            if (event.kind, event.path) == ("node.started", path):
                break


async def begun(event: threading.Event) -> None:
    """Returns when a thread has set the event."""
    with anyio.fail_after(HANG):
        while not event.is_set():  # noqa: ASYNC110 - a thread sets it
            await anyio.sleep(0.001)


def cancelled_class() -> type[BaseException]:
    return anyio.get_cancelled_exc_class()


# ---- Where -------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("A55", "A47", "A61", "S4-20")
@pytest.mark.parametrize("position", [0, 1, 2])
@pytest.mark.parametrize("retry", [None, Retry(attempts=3)])
async def test_a_run_is_cancelled_at_every_position_in_the_same_way(position: int, retry: Retry | None) -> None:
    clock = StepClock()
    flow = three(lambda step: clock.sleep(1), **({"retry": retry} if retry else {}))
    async with flow.start(State(), clock=clock) as run:
        for _ in range(position):
            await passes(10)
            clock.tick()
        await passes(10)
        await run.cancel()
        told = await kinds(run)
        result = await run.wait()
    done = ["a", "b", "c"][:position]
    assert (result.status, result.reason, result.value, result.failure) == ("cancelled", "user", None, None)
    assert result.state.log == done
    assert result.trace.path == " > ".join([*done, f"{'abc'[position]}!"])
    assert [visit.kind for visit in result.trace] == [*["next"] * position, "unfinished"]
    assert told[-2:] == ["node.failed", "run.cancelled"]
    assert result.stragglers == ()


@pytest.mark.behaviour("A57", "A61")
@pytest.mark.parametrize("position", [0, 1, 2])
@pytest.mark.parametrize("order", ["woken first", "cancelled first"])
async def test_a_run_that_is_cancelled_as_an_await_resolves_still_stops(position: int, order: str) -> None:
    clock = StepClock()
    gates = [anyio.Event() for _ in range(3)]
    visits = iter(gates)
    flow = three(lambda step: next(visits).wait())
    async with anyio.create_task_group() as group, flow.start(State(), clock=clock) as run:
        for gate in gates[:position]:
            gate.set()
        await passes(10)
        if order == "woken first":
            gates[position].set()
            await run.cancel()
        else:
            group.start_soon(run.cancel)
            await anyio.lowlevel.checkpoint()
            gates[position].set()
        result = await run.wait()
    assert result.status == "cancelled"
    assert result.state.log == ["a", "b", "c"][:position]
    assert len(result.trace) == position + 1


async def test_a_cancellation_before_the_first_step_starts_nothing() -> None:
    seen: list[str] = []
    async with three(lambda step: seen.append("began")).start(State()) as run:
        await run.cancel("stop")
        assert await kinds(run) == ["run.started", "run.cancelled"]
    result = await run.wait()
    assert (result.status, result.reason, seen, list(result.trace)) == ("cancelled", "stop", [], [])


@pytest.mark.behaviour("S4-05", "S4-07")
async def test_a_run_can_be_cancelled_and_watched_as_soon_as_it_is_there() -> None:
    called: list[str] = []
    async with three(lambda step: called.append("tool")).start(State()) as run:
        stream = run.events()
        first = await anext(stream)
        await run.cancel()
        assert [first.kind, *[event.kind async for event in stream]] == ["run.started", "run.cancelled"]
    assert called == []


# ---- Who ---------------------------------------------------------------------------------------------------


async def test_cancelling_twice_is_cancelling_once_and_the_first_reason_stands() -> None:
    clock = StepClock()
    async with anyio.create_task_group() as group, three(cleaning(clock)).start(State(), clock=clock) as run:
        await started(run, "a#1")
        for reason in ("stop", "user", "interrupt"):
            group.start_soon(run.cancel, reason)
            await passes(10)
        clock.leap(3)
        result = await run.wait()
        await run.cancel("shutdown")
        told = await kinds(run)
    assert result.reason == "stop"
    assert told.count("run.cancelled") == 1


def cleaning(clock: StepClock, steps: list[str] | None = None) -> Callable[[Any], Awaitable[None]]:
    """Returns an act that, when it is stopped, cleans up for three seconds."""

    async def act(step: Any) -> None:
        try:
            await clock.sleep(100)
        finally:
            with anyio.CancelScope(shield=True):
                await clock.sleep(3)
            if steps is not None:
                steps.append("cleaned")

    return act


async def test_a_node_that_cancels_its_own_run_goes_no_further() -> None:
    seen: list[str] = []
    box: list[Run[Any]] = []

    async def act(step: Any) -> None:
        await box[0].cancel("stop")
        seen.append("went on")

    async with three(act).start(State()) as run:
        box.append(run)
        with anyio.fail_after(HANG):
            result = await run.wait()
    assert (result.status, result.reason, result.trace.path, seen) == ("cancelled", "stop", "a!", [])


async def test_a_task_of_a_node_that_cancels_its_run_goes_no_further() -> None:
    box: list[Run[Any]] = []
    seen: list[str] = []

    async def child() -> None:
        await box[0].cancel()
        seen.append("went on")

    async def act(step: Any) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(child)
            await anyio.sleep_forever()

    async with three(act).start(State()) as run:
        box.append(run)
        with anyio.fail_after(HANG):
            result = await run.wait()
    assert (result.status, seen) == ("cancelled", [])


async def test_a_thread_of_a_run_may_cancel_it() -> None:
    box: list[Run[Any]] = []

    def blocking(step: Any) -> Any:
        anyio.from_thread.run(box[0].cancel)
        step.state.log.append("blocking")
        return Complete("late")

    last = Flow("f", threaded(blocking))
    async with last.start(State()) as run:
        box.append(run)
        with anyio.fail_after(HANG):
            result = await run.wait()
    assert (result.status, result.state.log, result.stragglers) == ("cancelled", [], ())


async def test_a_thread_of_somebody_else_may_cancel_a_run_and_waits_for_its_end() -> None:
    clock = StepClock()
    async with three(lambda step: clock.sleep(1)).start(State(), clock=clock) as run:
        await passes(5)
        await anyio.to_thread.run_sync(lambda: anyio.from_thread.run(run.cancel))
        assert (await kinds(run))[-1] == "run.cancelled"


async def test_cancelling_an_ended_run_changes_nothing() -> None:
    async with three(lambda step: None).start(State()) as run:
        result = await run.wait()
        told = await kinds(run)
        await run.cancel()
        assert await run.wait() is result
        assert await kinds(run) == told
    assert (result.status, await run.result()) == ("completed", "done")


@pytest.mark.parametrize("reason", ["", "because", None])
async def test_a_reason_that_is_none_is_refused_and_cancels_nothing(reason: Any) -> None:
    async with three(lambda step: None).start(State()) as run:
        with pytest.raises(ValueError, match="the reason is one of"):
            await run.cancel(reason)
        assert (await run.wait()).status == "completed"


@pytest.mark.behaviour("S4-20", "S2-09")
async def test_the_end_of_a_caller_is_the_end_of_its_runs_at_every_depth() -> None:
    clock = StepClock()
    told: dict[str, list[Event]] = {"outer": [], "inner": []}
    raised: list[BaseException] = []

    async def call(step: Any) -> None:
        try:
            await three(lambda step: clock.sleep(1)).run(State(), observers=[told["inner"].append])
        except cancelled_class() as error:
            raised.append(error)
            raise

    alive = living()
    with anyio.CancelScope() as caller:
        async with anyio.create_task_group() as group:
            group.start_soon(started_soon, told["inner"], caller)
            await three(call).run(State(), observers=[told["outer"].append])
    await quiet_down(alive)
    assert caller.cancelled_caught
    assert [told[name][-1].kind for name in told] == ["run.cancelled", "run.cancelled"]
    assert [told[name][-1].reason for name in told] == ["user", "parent"]  # type: ignore[attr-defined]
    assert result_of(raised[0]).reason == "parent"
    assert living() == alive


async def started_soon(events: list[Event], caller: anyio.CancelScope) -> None:
    while not any(event.kind == "node.started" for event in events):
        await anyio.lowlevel.checkpoint()
    caller.cancel()


async def test_an_outer_run_that_is_cancelled_takes_the_nested_one_along() -> None:
    clock = StepClock()
    inner: list[Event] = []

    async def call(step: Any) -> None:
        await three(lambda step: clock.sleep(1)).run(State(), observers=[inner.append])

    async with three(call).start(State()) as run:
        await passes(20)
        await run.cancel("stop")
        assert inner[-1].kind == "run.cancelled"
    assert (await run.wait()).trace.path == "a!"


async def test_a_nested_run_that_is_cancelled_is_a_failure_of_the_node_that_called_it() -> None:
    async def call(step: Any) -> None:
        async with three(lambda step: anyio.sleep_forever()).start(State()) as run:
            await run.cancel("stop")
            await run.result()

    result = await three(call).run(State(), check=False)
    assert (result.status, result.value, result.trace.path) == ("completed", "error", "a! > end")
    assert result.trace[0].failure is not None
    assert result.trace[0].failure.type == "RunCancelled"


@pytest.mark.behaviour("Z05", "A51")
async def test_leaving_early_waits_for_cleanup_and_keeps_the_callers_own_cancellation() -> None:
    clock = StepClock()
    alive = living()
    steps: list[str] = []

    async def call(caller: anyio.CancelScope) -> None:
        with caller:
            async with three(cleaning(clock, steps)).start(State(), clock=clock) as run:
                await started(run, "a#1")
            steps.append("left")
            await anyio.lowlevel.checkpoint()
            steps.append("went on")

    async with anyio.create_task_group() as group:
        caller = anyio.CancelScope()
        group.start_soon(call, caller)
        await passes(30)
        caller.cancel()
        await passes(30)
        assert steps == []
        clock.leap(3)
        await passes(30)
    assert steps == ["cleaned", "left"]
    assert caller.cancelled_caught
    await quiet_down(alive)
    assert living() == alive


@pytest.mark.behaviour("Z05", "A51")
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("way", ["run", "leave"])
async def test_however_often_asyncio_cancels_the_caller_it_waits_and_is_cancelled(way: str) -> None:
    clock = StepClock()
    steps: list[str] = []

    async def call() -> None:
        flow = three(cleaning(clock, steps))
        if way == "run":
            await flow.run(State(), clock=clock)
        else:
            async with flow.start(State(), clock=clock) as run:
                await started(run, "a#1")

    task = asyncio.create_task(call())
    for _ in range(3):
        await passes(30)
        task.cancel()
    await passes(30)
    assert (task.done(), steps) == (False, [])
    clock.leap(3)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert steps == ["cleaned"]


@pytest.mark.parametrize("way", ["node", "thread"])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
async def test_an_interrupt_that_a_node_raises_ends_the_run_and_goes_out(
    way: str, kind: type[BaseException]
) -> None:
    def act(step: Any) -> Any:
        raise kind

    flow = Flow("f", threaded(act)) if way == "thread" else three(act)
    async with flow.start(State()) as run:
        result = await run.wait()
        assert (result.status, result.reason) == ("cancelled", "interrupt")
        with pytest.raises(kind) as caught:
            await run.result()
    assert result_of(caught.value) is result


@pytest.mark.behaviour("S4-20")
async def test_a_run_that_nobody_watches_any_more_ends_when_it_says_so() -> None:
    clock = StepClock()
    alive = living()
    async with three(lambda step: clock.sleep(100)).start(State(), clock=clock, cancel_when_unwatched=5) as run:
        for watched in (4.0, 4.9):
            async with aclosing(run.events()) as stream:  # type: ignore[type-var]
                await anext(stream)
                clock.leap(10)
            clock.leap(watched)
            await passes(10)
            assert run.trace.notes[-1].event.kind == "run.started"
        clock.leap(0.1)
        result = await run.wait()
    assert (result.status, result.reason) == ("cancelled", "subscriber_lost")
    await quiet_down(alive)
    assert living() == alive


# ---- When the loop ends ------------------------------------------------------------------------------------


@pytest.mark.behaviour("S4-20")
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("where", ["loop", "thread"])
def test_a_loop_that_shuts_down_ends_its_runs(backend: str, where: str) -> None:
    gate = threading.Event()
    told: list[Event] = []
    box: list[Run[Any]] = []

    async def main() -> None:
        flow = three(lambda step: anyio.sleep_forever()) if where == "loop" else Flow("f", threaded(hold))
        run = flow.start(State(), observers=[told.append])
        await run.__aenter__()
        box.append(run)
        await started(run, "a#1")
        if where == "thread":
            await begun(holding)

    holding = threading.Event()

    def hold(step: Any) -> Any:
        holding.set()
        gate.wait(HANG)
        return Complete("late")

    anyio.run(main, backend=backend)
    gate.set()

    async def look() -> Any:
        return await box[0].wait()

    result = anyio.run(look, backend=backend)
    assert (result.status, result.reason) == ("cancelled", "shutdown")
    assert result.stragglers == (() if where == "loop" else ("a#1",))


# ---- Streams -----------------------------------------------------------------------------------------------


@pytest.mark.behaviour("A49", "A53", "S4-21")
@pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")  # trio's word on what is forgotten
@pytest.mark.parametrize("way", ["break", "aclose", "forget", "raise", "cancel"])
async def test_a_stream_may_be_left_in_any_way_and_the_run_goes_on(way: str) -> None:
    clock = StepClock()
    async with three(lambda step: clock.sleep(1)).start(State(), clock=clock) as run:
        stream: Any = run.events()
        await anext(stream)
        if way == "break":
            async for _ in stream:
                break
        elif way == "raise":
            with suppress(Boom):
                async for _ in stream:
                    raise Boom
        elif way == "cancel":
            with anyio.CancelScope() as scope:
                async for event in stream:
                    if event.kind == "node.started":
                        scope.cancel()
            assert scope.cancelled_caught
        if way == "forget":
            del stream
            gc.collect()
        else:
            await stream.aclose()
        for _ in range(3):
            await passes(10)
            clock.tick()
        assert (await run.wait()).status == "completed"


@pytest.mark.behaviour("A113", "S4-17", "S4-21")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("how", ["completed", "failed", "cancelled"])
async def test_every_stream_ends_with_the_terminal_event(how: str, when: str) -> None:
    clock = StepClock()

    async def act(step: Any) -> Any:
        await clock.sleep(1)
        if how == "failed":
            raise Boom("no")
        return Complete("yes")

    async with Flow("f", does(act, "a", State, Complete[Any])).start(State(), clock=clock) as run:
        seen: list[str] = []

        async def follow() -> None:
            seen.extend(await kinds(run))

        async with anyio.create_task_group() as group:
            if when == "before":
                group.start_soon(follow)
            await passes(10)
            await (run.cancel() if how == "cancelled" else anyio.lowlevel.checkpoint())
            clock.tick()
            await run.wait()
            if when == "after":
                group.start_soon(follow)
    assert seen[-1] == f"run.{how}"
    assert seen[0] == "run.started"
    assert [kind.startswith("run.") for kind in seen].count(True) == 2


@pytest.mark.behaviour("A115", "A21", "A13")
@pytest.mark.parametrize("where", ["run", "deadline"])
async def test_time_that_runs_out_is_a_failure_that_lists_what_was_under_way(where: str) -> None:
    clock = StepClock()
    inner = three(lambda step: clock.sleep(3))
    end = does(lambda step: Complete("end"), "end", State, Complete[Any])
    flow = Flow("outer", inner.as_node("part", state=State).to(end).on_error(end), end)
    limit: dict[str, Any] = (
        {"budget": Budget(seconds=4)} if where == "run" else {"deadline": clock.utcnow() + timedelta(seconds=4)}
    )
    async with flow.start(State(), clock=clock, **limit) as run:
        await passes(10)
        clock.leap(3)
        await passes(10)
        clock.leap(1)
        events = [event async for event in run.events()]
        result = await run.wait()
        with pytest.raises(BudgetExhausted) as caught:
            await run.result()
    assert (result.status, result.exhausted, result.trace.path) == ("failed", "seconds", "part!(a > b!)")
    assert (caught.value.dimension, caught.value.limit, caught.value.path) == ("seconds", 4, "")
    assert [visit.path for visit in result.trace if visit.kind == "unfinished"] == ["part#1", "part#1/b#1"]
    assert events[-1].exhausted == "seconds"  # type: ignore[attr-defined]
    assert [event.path for event in events if event.kind == "node.failed"] == ["part#1/b#1", "part#1"]


async def test_a_deadline_in_the_past_starts_nothing_and_one_without_a_zone_is_refused() -> None:
    seen: list[str] = []
    flow = three(lambda step: seen.append("began"))
    result = await flow.run(State(), deadline=datetime.now(UTC) - timedelta(hours=1), check=False)
    assert (result.status, result.exhausted, seen) == ("failed", "seconds", [])
    assert "-" not in str(result.failure)
    with pytest.raises(ValueError, match="time zone"):
        await flow.run(State(), deadline=datetime(2026, 1, 1))


@pytest.mark.behaviour("A117")
async def test_an_event_arrives_when_it_is_told_and_not_at_the_end() -> None:
    clock = StepClock()
    arrived: list[tuple[object, float]] = []

    async def act(step: Any) -> Any:
        for number in range(3):
            step.emit("tick", number)
            await clock.sleep(1)
        return Complete("done")

    async def follow(run: Run[Any]) -> None:
        async for event in run.events():
            if event.kind == "custom":
                arrived.append((event.data, clock.now))  # type: ignore[attr-defined]  # noqa: PERF401

    flow = Flow("f", does(act, "a", State, Complete[Any]))
    async with anyio.create_task_group() as group, flow.start(State(), clock=clock) as run:
        group.start_soon(follow, run)
        for _ in range(3):
            await passes(10)
            clock.tick()
        await run.wait()
    assert arrived == [(0, 0.0), (1, 1.0), (2, 2.0)]


async def test_time_that_runs_out_first_is_not_turned_into_a_cancellation() -> None:
    clock = StepClock()

    async with (
        anyio.create_task_group() as group,
        three(cleaning(clock)).start(State(), clock=clock, budget=Budget(seconds=2)) as run,
    ):
        await passes(10)
        clock.leap(2)
        await passes(10)
        group.start_soon(run.cancel)
        await passes(10)
        clock.leap(3)
        result = await run.wait()
    assert (result.status, result.exhausted) == ("failed", "seconds")


async def test_a_handle_raises_what_the_run_was_cancelled_for() -> None:
    async with three(lambda step: anyio.sleep_forever()).start(State()) as run:
        await run.cancel("stop")
        with pytest.raises(RunCancelled, match="stop") as caught:
            await run.result()
    assert result_of(caught.value).reason == "stop"


async def test_who_waits_may_be_cancelled_and_the_run_goes_on() -> None:
    clock = StepClock()
    async with three(lambda step: clock.sleep(1)).start(State(), clock=clock) as run:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await run.wait()
        for _ in range(3):
            await passes(10)
            clock.tick()
        assert (await run.wait()).status == "completed"


# ---- Threads -----------------------------------------------------------------------------------------------


@pytest.mark.behaviour("Z05")
@pytest.mark.parametrize("stop", ["cancel", "seconds", "timeout"])
async def test_a_thread_that_blocks_is_waited_for_and_then_named(stop: str) -> None:
    clock = StepClock()
    gate, holding = threading.Event(), threading.Event()
    refused: list[type[BaseException]] = []

    def hold(step: Any) -> Any:
        holding.set()
        gate.wait(HANG)
        step.emit("late")
        try:
            step.scope.charge(requests=1)
        except BaseException as error:
            refused.append(type(error))
        step.state.log.append("late")
        return Complete("late")

    row = threaded(hold).using(timeout=1, retry=Retry(attempts=3)) if stop == "timeout" else threaded(hold)
    budget = Budget(seconds=1) if stop == "seconds" else None
    async with (
        anyio.create_task_group() as group,
        Flow("f", row).start(State(), clock=clock, budget=budget, grace=2) as run,
    ):
        await begun(holding)
        if stop == "cancel":
            group.start_soon(run.cancel)
        else:
            clock.leap(1)
        await passes(30)
        if stop == "cancel":
            assert run.trace.notes[-1].event.kind == "run.started"
            clock.leap(2)
        with anyio.fail_after(HANG):
            result = await run.wait()
        told = await kinds(run)
        gate.set()
        while not refused:  # noqa: ASYNC110 - a thread adds to it
            await anyio.sleep(0.001)
        await passes(20)
        assert await kinds(run) == told
    assert result.status == ("cancelled" if stop == "cancel" else "failed")
    assert result.stragglers == ("a#1",)
    assert (result.state.log, result.usage.requests, "node.retrying" in told) == ([], 0, False)
    assert (await run.wait()).usage == result.usage


async def test_a_thread_that_ends_in_time_is_no_straggler() -> None:
    clock = StepClock()
    gate, holding = threading.Event(), threading.Event()

    def hold(step: Any) -> Any:
        holding.set()
        gate.wait(HANG)
        return Complete("late")

    ended: list[float] = []
    async with anyio.create_task_group() as group, Flow("f", threaded(hold)).start(State(), clock=clock) as run:
        await begun(holding)

        async def ask() -> None:
            await run.cancel()
            ended.append(clock.now)

        group.start_soon(ask)
        await passes(30)
        assert ended == []
        gate.set()
        with anyio.fail_after(HANG):
            result = await run.wait()
    assert (result.status, result.stragglers, ended) == ("cancelled", (), [0.0])


async def test_a_thread_that_had_not_begun_never_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    gate, ran, real = threading.Event(), [], anyio.to_thread.run_sync

    async def slow(fn: Callable[[], Any], *args: Any, **options: Any) -> Any:
        return await real(lambda: (gate.wait(HANG), fn(*args))[1], **options)

    monkeypatch.setattr(anyio.to_thread, "run_sync", slow)
    flow = Flow("f", threaded(lambda step: ran.append(1) or Complete("late")))
    async with flow.start(State()) as run:
        await started(run, "a#1")
        await anyio.sleep(0.01)
        await run.cancel()
        result = await run.wait()
    gate.set()
    await anyio.sleep(0.02)
    assert (result.status, result.stragglers, ran) == ("cancelled", (), [])


async def test_emitting_from_any_thread_keeps_the_order_of_numbers() -> None:
    async def act(step: Any) -> None:
        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(anyio.to_thread.run_sync, lambda: [step.emit("x", n) for n in range(200)])

    flow = three(act)
    async with flow.start(State()) as run:
        events = [event async for event in run.events()]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert sum(event.kind == "custom" for event in events) == 3 * 4 * 200


# ---- A cancellation of the loop's own ----------------------------------------------------------------------


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_node_that_awaits_what_somebody_cancelled_has_failed() -> None:
    async def act(step: Any) -> None:
        task = asyncio.ensure_future(asyncio.sleep(100))
        asyncio.get_running_loop().call_soon(task.cancel)
        await task

    result = await three(act).run(State(), check=False)
    assert (result.status, result.value, result.trace.path) == ("completed", "error", "a! > end")


async def test_a_trio_scope_of_a_node_is_its_own_affair(anyio_backend_name: str) -> None:
    async def act(step: Any) -> None:
        if anyio_backend_name == "trio":
            with trio.CancelScope() as scope:
                scope.cancel()
                await trio.sleep_forever()
        else:
            with anyio.CancelScope() as own:
                own.cancel()
                await anyio.sleep_forever()

    result = await three(act).run(State(), check=False)
    assert (result.status, result.state.log) == ("completed", ["a", "b", "c"])
