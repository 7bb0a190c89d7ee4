"""Pausing: what is at work sees that it is stopped, time stands still, and what is finished stays finished."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from tests.core.runs import chain, does, ends
from tests.people.desk import Letter, consent_flow, in_words, note_consent, pending, plain
from tests.stepping import living, quiet_down
from tests.stored.slowly import Slowly

from flowcore import Budget, Complete, Continue, Flow, Retry, Step, approve, node, parallel
from flowcore.messages import ModelRequest
from flowcore.models import ModelRunner
from flowcore.store import MemoryRunStore, RunStore
from flowcore.testing import FakeClock, ScriptedLine, ScriptedModel
from flowcore.testing.host_flows import Work

pytestmark = pytest.mark.anyio
ASKED = anyio.lowlevel.checkpoint


@pytest.fixture(params=["no store", "memory"])
def store(request: pytest.FixtureRequest) -> RunStore | None:
    return None if request.param == "no store" else MemoryRunStore()


async def until(condition: Any) -> None:
    with anyio.fail_after(10):
        while not condition():
            await ASKED()


class Slow(ScriptedModel):
    """Answers late the first time, and notes that it was cut off."""

    cut_off = 0
    asked = 0

    async def complete(self, request: ModelRequest, **options: Any) -> Any:
        self.asked += 1
        try:
            return await super().complete(request, **options)
        except anyio.get_cancelled_exc_class():
            self.cut_off += 1
            raise


@pytest.mark.behaviour("S1-18")
async def test_the_model_sees_that_it_is_cut_off_and_the_run_waits(store: RunStore | None) -> None:
    clock = FakeClock()
    model = Slow([ScriptedLine("never", wait=1000), "hello"], clock=clock)
    runner = ModelRunner(model)

    async def ask(step: Any) -> None:
        step.state.consent = (await runner.invoke("hi")).text

    flow = chain(Work, ask, value=lambda step: step.state.consent)
    async with flow.start(Work(), store=store, run_id="run", clock=clock) as run:
        await until(lambda: model.asked == 1)
        await run.pause()
        assert (model.cut_off, run.is_paused, run.trace.ending) == (1, True, None)
        if store is not None:
            row = await store.run("run")
            assert (row.status, bool(row.owner)) == ("paused", True)
        await clock.advance(5000)
        assert (model.asked, run.is_paused) == (1, True)
        await run.resume()
        assert await run.result() == "hello"
        kinds = [event.kind async for event in run.events()]
    assert model.asked == 2
    assert kinds.index("run.paused") < kinds.index("run.resumed") < kinds.index("run.completed")


async def test_a_branch_that_finished_keeps_its_result(store: RunStore | None) -> None:
    ran: list[str] = []
    held = anyio.Event()

    async def slow(step: Any) -> None:
        ran.append("slow")
        if ran.count("slow") == 1:
            held.set()
            await anyio.sleep_forever()
        step.state.number = 2

    def quick(step: Any) -> None:
        ran.append("quick")
        step.state.count = 1

    last = ends(Work, lambda step: (step.state.count, step.state.number))
    fan = parallel("fan", does(quick, "quick", Work), does(slow, "slow", Work))
    async with Flow("f", fan.to(last), last).start(Work(), store=store) as run:
        await held.wait()
        await until(lambda: len(run.trace) == 1)
        await run.pause()
        await run.resume()
        assert await run.result() == (1, 2)
    assert sorted(ran) == ["quick", "slow", "slow"]


async def test_the_pause_before_a_retry_is_cut_off_and_attempts_begin_anew(store: RunStore | None) -> None:
    clock, attempts = FakeClock(), list[int]()

    def fails(step: Any) -> None:
        attempts.append(step.attempt)
        if len(attempts) < 2:
            raise ValueError("once more")

    last = ends(Work, lambda step: "done")
    first = does(fails, "first", Work).to(last).using(retry=Retry(attempts=3, wait=50))
    async with Flow("f", first, last).start(Work(), store=store, clock=clock) as run:
        await until(lambda: attempts == [1] and clock.is_awaited)
        await run.pause()
        await clock.advance(500)
        assert attempts == [1]
        await run.resume()
        assert await run.result() == "done"
    assert attempts == [1, 1]


async def test_time_stands_still_but_a_deadline_does_not(store: RunStore | None) -> None:
    clock = FakeClock()

    async def work(step: Any) -> None:
        await clock.sleep(8)

    flow = chain(Work, work, value=lambda step: "in time")
    async with flow.start(Work(), store=store, clock=clock, budget=Budget(seconds=10)) as run:
        await clock.advance(1)
        await run.pause()
        await clock.advance(1000)
        await run.resume()
        await until(lambda: clock.is_awaited)
        await clock.advance(8.5)
        result = await run.wait()
        assert (result.value, result.usage.seconds) == ("in time", 9.0)
    deadline = clock.utcnow() + timedelta(seconds=60)
    async with flow.start(Work(), store=store, clock=clock, deadline=deadline) as run:
        await clock.advance(1)
        await run.pause()
        await clock.advance(100)
        await run.resume()
        result = await run.wait()
    assert (result.status, result.exhausted) == ("failed", "seconds")


async def test_a_timeout_of_a_node_begins_anew(store: RunStore | None) -> None:
    clock = FakeClock()
    last = ends(Work, lambda step: type(step.error).__name__)
    slow = does(lambda step: clock.sleep(8), "slow", Work).to(last).using(timeout=10)
    async with Flow("f", slow, last).start(Work(), store=store, clock=clock) as run:
        await clock.advance(5)
        await run.pause()
        await clock.advance(100)
        await run.resume()
        await until(lambda: clock.is_awaited)
        await clock.advance(8)
        assert await run.result() == "NoneType"


async def test_a_thread_ends_first_and_its_visit_begins_again(store: RunStore | None) -> None:
    begun, free = threading.Event(), threading.Event()
    ran: list[int] = []

    @node
    def work(step: Step[Work]) -> Continue:
        ran.append(1)
        begun.set()
        free.wait(10)
        step.state.count += 1
        return Continue()

    last = ends(Work, lambda step: step.state.count)
    async with Flow("f", work.to(last), last).start(Work(), store=store) as run:
        await until(begun.is_set)
        async with anyio.create_task_group() as group:
            group.start_soon(run.pause)
            await ASKED()
            free.set()
        assert run.is_paused
        await run.resume()
        assert await run.result() == 1
    assert len(ran) == 2


@pytest.mark.behaviour("S1-18")
@pytest.mark.parametrize("moments", range(8))
async def test_a_pause_right_after_a_resume_is_followed(store: RunStore | None, moments: int) -> None:
    entered: list[str] = []
    free = anyio.Event()

    async def hold(step: Any) -> None:
        entered.append(step.path)
        await free.wait()

    slow: Any = None if store is None else Slowly(store)
    flow = chain(Work, lambda step: None, hold, value=lambda step: "on")
    async with flow.start(Work(), store=slow, run_id="run") as run:
        await until(lambda: entered)
        await run.pause()
        for _ in range(5):
            await run.resume()
            for _ in range(moments):
                await ASKED()
            with anyio.fail_after(10):
                await run.pause()
            assert run.is_paused
            began = len(entered)
            for _ in range(20):
                await ASKED()
            assert (run.is_paused, len(entered), run.trace.ending) == (True, began, None)
            if store is not None:
                assert (await store.run("run")).status == "paused"
        free.set()
        await run.resume()
        result = await run.wait()
        told = [event async for event in run.events()]
    assert (result.value, result.usage.rounds, set(entered)) == ("on", 1, {"n2#1"})
    assert [event.path for event in told if event.kind == "round.started"] == ["n1#1"]
    assert [visit.round for visit in result.trace] == [1, 1, 1]


async def test_a_pause_at_the_very_end_comes_too_late(store: RunStore | None) -> None:
    async with chain(Work, lambda step: None, value=lambda step: 7).start(Work(), store=store) as run:
        result = await run.wait()
        await run.pause()
        assert (run.is_paused, result.value) == (False, 7)
    if store is not None:
        assert (await store.run(run.run_id)).status == "completed"


async def test_a_run_that_pauses_itself(store: RunStore | None) -> None:
    runs: list[Any] = []

    async def pauses(step: Any) -> None:
        if step.state.count == 0 and len(runs) == 1:
            runs.append("asked")
            await runs[0].pause()

    async with chain(Work, pauses, value=lambda step: "on").start(Work(), store=store) as run:
        runs.append(run)
        await until(lambda: run.is_paused)
        await run.resume()
        assert await run.result() == "on"


async def test_leaving_a_paused_run_cancels_it_and_leaves_nothing(store: RunStore | None) -> None:
    before = living()
    held = anyio.Event()

    async def hold(step: Any) -> None:
        held.set()
        await anyio.sleep_forever()

    async with chain(Work, hold).start(Work(), store=store) as run:
        await held.wait()
        await run.pause()
    result = await run.wait()
    assert (result.status, result.reason) == ("cancelled", "user")
    assert await quiet_down(before) == before
    if store is not None:
        assert (await store.run(run.run_id)).status == "cancelled"


async def test_a_question_that_expires_while_the_run_is_paused(store: RunStore | None) -> None:
    clock = FakeClock()
    async with consent_flow(plain).start(Letter(), store=store, clock=clock) as run:
        await pending(run)
        await run.pause()
        assert len(run.requests) == 1
        await clock.advance(301)
        assert not run.requests
        await run.resume()
        result = await run.wait()
    assert (result.value, result.trace[0].label) == ("dropped", "expired")


@pytest.mark.behaviour("A85")
async def test_two_branches_wait_and_one_is_answered(store: RunStore | None) -> None:
    @node
    async def done(step: Step[Letter]) -> Complete[str]:
        return Complete("both")

    def branch(id: str) -> Any:
        gate = approve("gate", show=in_words, take=note_consent, expires=10_000)
        yes, no = (does(lambda step: Complete(None), name, Letter, Complete[None]) for name in ("yes", "no"))

        def enter(letter: Letter) -> Letter:
            return letter.model_copy(deep=True)

        def leave(letter: Letter, value: None) -> Continue:
            return Continue()

        return Flow(id, gate.to(approved=yes, denied=no), yes, no).as_node(
            id, state=Letter, enter=enter, leave=leave
        )

    fan = parallel("fan", branch("left"), branch("right"))
    async with Flow("f", fan.to(done), done).start(Letter(), store=store) as run:
        first, second = await pending(run, 2)
        await run.answer(first.id, True)
        await until(lambda: len(run.requests) == 1)
        assert ([one.id for one in run.requests], run.trace.ending) == ([second.id], None)
        if store is not None:
            assert (await store.run(run.run_id)).status == "waiting"
        await run.answer(second.id, True)
        assert await run.result() == "both"
