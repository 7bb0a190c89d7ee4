"""Limits of a node: its timeout, its retries, its visits; and what happens when they are reached."""

from __future__ import annotations

import threading
import time
from typing import Any, Literal

import anyio
import anyio.lowlevel
import pytest

from flowcore import (
    Budget,
    BudgetExhausted,
    Complete,
    Continue,
    ContractError,
    Flow,
    NodeTimeout,
    Retry,
    RunResult,
    Step,
    node,
)

from ..clock import HandClock
from ..runs import Boom, does, ends, raising
from ..states import Note


async def forever(step: Any) -> None:
    """Lets a minute pass on the clock that it gets as deps, and waits."""
    step.deps.advance(60)
    await anyio.sleep_forever()


async def swallows(step: Any) -> None:
    try:
        await forever(step)
    except BaseException:
        step.state.text = "late"


async def swallows_and_raises(step: Any) -> None:
    try:
        await forever(step)
    except BaseException as error:
        raise KeyError("another error") from error


async def run(flow: Flow[Any, Any, Any], **options: Any) -> RunResult[Any]:
    """Runs on a clock that the nodes move."""
    clock = HandClock()
    return await flow.run(Note(), deps=clock, clock=clock, check=False, **options)


# ---- Timeouts ----------------------------------------------------------------------------------------------


@pytest.mark.behaviour("S2-30", "A141")
@pytest.mark.parametrize("act", [forever, swallows, swallows_and_raises])
@pytest.mark.parametrize("attempts", [1, 3])
async def test_a_node_that_takes_too_long_takes_its_error_route_however_it_behaves(
    act: Any, attempts: int
) -> None:
    last = ends(Note)
    row = does(act, "slow", Note).to(last).using(timeout=5, retry=Retry(attempts=attempts))
    result = await run(Flow("f", row.on_error(last, NodeTimeout), last))
    assert result.value is not None
    assert (result.value.type, result.value.code, result.value.path) == ("NodeTimeout", "node_timeout", "slow#1")
    assert (result.value.attempts, result.trace[0].attempts) == (attempts, attempts)
    assert result.value.message == "slow#1 took longer than its timeout of 5 s"
    assert (result.state, result.trace.path) == (Note(), "slow! > end")


async def test_a_timeout_without_a_route_is_raised_as_a_timeout_error() -> None:
    last = ends(Note)
    clock = HandClock()
    with pytest.raises(TimeoutError) as caught:
        await Flow("f", does(forever, "slow", Note).to(last).using(timeout=5), last).run(
            Note(), deps=clock, clock=clock
        )
    assert isinstance(caught.value, NodeTimeout)
    assert (caught.value.path, caught.value.seconds) == ("slow#1", 5)


async def test_the_flows_node_timeout_is_for_nodes_that_say_nothing_else() -> None:
    last = ends(Note)
    slow = does(forever, "slow", Note)
    result = await run(Flow("f", slow.to(last).on_error(last), last, node_timeout=5))
    assert result.trace.path == "slow! > end"

    async def a_minute(step: Any) -> None:
        step.deps.advance(60)
        await anyio.lowlevel.checkpoint()

    patient = does(a_minute, "slow", Note).to(last).using(timeout=None)
    result = await run(Flow("f", patient, last, node_timeout=5))
    assert result.trace.path == "slow > end"


async def test_each_attempt_has_the_whole_timeout() -> None:
    clock = HandClock()

    def act(step: Any) -> None:
        clock.now += 4
        if step.attempt < 3:
            raise Boom

    last = ends(Note)
    flow = Flow("f", does(act, "slow", Note).to(last).using(timeout=5, retry=Retry(attempts=3)), last)
    result = await flow.run(Note(), check=False, clock=clock)
    assert (result.status, result.trace[0].attempts, clock.now) == ("completed", 3, 12)


async def test_a_timeout_of_a_sub_flow_ends_everything_inside() -> None:
    ended: list[str] = []

    async def inside(step: Any) -> None:
        try:
            await forever(step)
        finally:
            ended.append(step.path)

    last = ends(Note)
    inner = Flow("inner", does(inside, "slow", Note).to(last).on_error(last), last)
    flow = Flow("f", inner.as_node("in").using(timeout=5).to(last).on_error(last), last)
    result = await run(flow)
    assert result.value is not None
    assert (result.value.type, result.value.path) == ("NodeTimeout", "in#1")
    assert ended == ["in#1/slow#1"]
    assert [(visit.path, visit.kind) for visit in result.trace] == [
        ("in#1", "error"),
        ("in#1/slow#1", "unfinished"),
        ("end#1", "complete"),
    ]


class Gate:
    """Where a thread waits until it is let on, and says that it is through."""

    def __init__(self) -> None:
        self.free, self.through = threading.Event(), threading.Event()


@node
def blocks(step: Step[Note, Gate]) -> Continue:
    step.state.number = 7
    step.deps.free.wait(10)
    try:
        step.emit("late")
        step.scope.add(tokens=5)
    finally:
        step.deps.through.set()
    return Continue()


async def test_a_thread_that_takes_too_long_is_abandoned_and_changes_nothing() -> None:
    gate = Gate()

    async def after(step: Any) -> Complete[Any]:
        gate.free.set()
        assert await anyio.to_thread.run_sync(gate.through.wait, 10)
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        return Complete(step.error)

    seen: list[str] = []
    last = does(after, "after", Note, Complete[Any])
    flow = Flow("f", blocks.to(last).using(timeout=0.02, retry=Retry(attempts=3)).on_error(last), last)
    result = await flow.run(Note(), deps=gate, check=False, observers=[lambda event: seen.append(event.kind)])
    assert result.value is not None
    assert (result.value.type, result.value.attempts) == ("NodeTimeout", 1)
    assert result.state == Note()
    assert "custom" not in seen


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_a_timeout_that_is_not_above_zero_is_refused(timeout: float) -> None:
    with pytest.raises(ValueError, match="give seconds above zero"):
        ends(Note).using(timeout=timeout)
    with pytest.raises(ValueError, match="give seconds above zero"):
        Flow("f", ends(Note), node_timeout=timeout)


# ---- Retries -----------------------------------------------------------------------------------------------


@pytest.mark.behaviour("S2-30", "A41")
async def test_only_the_failing_node_is_tried_again_and_each_attempt_starts_fresh() -> None:
    sent: list[str] = []
    seen: list[tuple[int, list[str]]] = []

    def bad(step: Any) -> None:
        step.state.words.append(f"attempt {step.attempt}")
        seen.append((step.attempt, list(step.state.words)))
        if step.attempt < 3:
            raise Boom(step.attempt)

    last = ends(Note)
    first = does(lambda step: sent.append("sent"), "first", Note)
    x = does(bad, "x", Note)
    flow = Flow("f", first.to(x), x.to(last).using(retry=Retry(attempts=3)), last)
    result = await flow.run(Note(), check=False)
    assert sent == ["sent"]
    assert seen == [(1, ["attempt 1"]), (2, ["attempt 2"]), (3, ["attempt 3"])]
    assert result.state.words == ["attempt 3"]
    visit = result.trace[1]
    assert (visit.attempts, visit.failure, result.usage.rounds, len(result.trace)) == (3, None, 1, 3)
    assert [(failure.attempts, failure.message) for failure in visit.retried] == [(1, "1"), (2, "2")]


async def test_the_waits_between_attempts_grow_to_their_limit() -> None:
    clock = HandClock(jumps=True)
    last = ends(Note)
    retry = Retry(attempts=6, wait=1, factor=3, max_wait=10)
    flow = Flow("f", does(raising(), "bad", Note).to(last).using(retry=retry).on_error(last), last)
    result = await flow.run(Note(), check=False, clock=clock)
    assert clock.slept == [1, 3, 9, 10, 10]
    assert result.value is not None
    assert result.value.attempts == 6


async def test_a_wait_is_no_time_of_the_attempt() -> None:
    clock = HandClock(jumps=True)
    last = ends(Note)
    row = does(raising(), "bad", Note).to(last).using(timeout=1, retry=Retry(attempts=2, wait=30)).on_error(last)
    result = await Flow("f", row, last).run(Note(), check=False, clock=clock)
    assert result.value is not None
    assert (result.value.type, result.value.attempts) == ("Boom", 2)


async def test_waiting_for_an_attempt_holds_nobody_up() -> None:
    clock = HandClock()
    last = ends(Note)
    retry = Retry(attempts=2, wait=60)

    def once(step: Any) -> None:
        if step.attempt == 1:
            raise Boom

    waits = Flow("f", does(once, "bad", Note).to(last).using(retry=retry), last)
    async with waits.start(Note(), clock=clock) as run:
        while not clock.slept:
            await anyio.lowlevel.checkpoint()
        other = await Flow("g", ends(Note)).run(Note(), check=False, clock=clock)
        assert other.status == "completed"
        clock.advance(60)
        assert (await run.wait()).status == "completed"


@pytest.mark.parametrize(
    ("error", "on", "attempts"),
    [
        (Boom(), (Exception,), 3),
        (Boom(), (Boom,), 3),
        (Boom(), (KeyError,), 1),
        (ContractError("x"), (Exception,), 1),
        (BudgetExhausted("requests", 1, 1), (Exception,), 1),
        (ExceptionGroup("g", [Boom()]), (Boom,), 3),
    ],
    ids=["any", "of this kind", "of another kind", "contract", "budget", "group of one"],
)
async def test_which_errors_are_worth_another_attempt(error: Exception, on: Any, attempts: int) -> None:
    tried: list[int] = []
    act = raising(lambda step: tried.append(step.attempt), error)
    last = ends(Note)
    flow = Flow("f", does(act, "bad", Note).to(last).using(retry=Retry(attempts=3, on=on)), last)
    await flow.run(Note(), check=False)
    assert tried == list(range(1, attempts + 1))


async def test_a_node_with_effects_is_attempted_once() -> None:
    tried: list[int] = []
    act = raising(lambda step: tried.append(step.attempt))
    last = ends(Note)
    row = does(act, "pay", Note, effects=True).to(last).using(retry=Retry(attempts=3)).on_error(last)
    result = await Flow("f", row, last).run(Note(), check=False)
    assert (tried, result.trace.path) == ([1], "pay! > end")


async def test_a_node_with_effects_that_timed_out_is_not_routed() -> None:
    last = ends(Note)
    row = does(forever, "pay", Note, effects=True).to(last).using(timeout=5).on_error(last)
    result = await run(Flow("f", row, last, on_error=last))
    assert (result.status, result.trace.path) == ("failed", "pay!")


@pytest.mark.parametrize("options", [{"attempts": 0}, {"wait": -1}, {"factor": float("nan")}, {"max_wait": -1}])
def test_a_retry_out_of_range_is_refused(options: Any) -> None:
    with pytest.raises(ValueError, match=f"Retry\\({next(iter(options))}="):
        Retry(**options)


def test_a_retry_on_what_is_no_error_is_refused() -> None:
    with pytest.raises(TypeError, match="name subclasses of Exception"):
        Retry(on=(KeyboardInterrupt,))  # type: ignore[arg-type]


# ---- Visits ------------------------------------------------------------------------------------------------


def repairing() -> tuple[Any, Any, Any]:
    """Returns check, repair and give_up: repair leads back to a check that is never content."""
    check = does(lambda step: Continue("bad"), "check", Note, Continue[Literal["bad", "good"]], starts_round=True)
    repair = does(lambda step: step.state.words.append("repaired"), "repair", Note)
    give_up = does(lambda step: Complete((step.visit, step.error)), "give_up", Note, Complete[Any])
    return check, repair, give_up


@pytest.mark.behaviour("A17")
async def test_the_visit_over_the_limit_takes_the_over_limit_route_and_does_not_run() -> None:
    check, repair, give_up = repairing()
    last = ends(Note)
    row = repair.to(check).using(max_visits=2).over_limit(give_up)
    flow = Flow("f", check.to(bad=repair, good=last), row, give_up, last)
    result = await flow.run(Note(), budget=Budget(rounds=20), check=False)
    assert (result.status, result.exhausted, result.usage.rounds) == ("completed", None, 3)
    assert result.value == (1, None)
    assert result.state.words == ["repaired", "repaired"]
    assert [(visit.kind, visit.attempts) for visit in result.trace if visit.node == "repair"] == [
        ("next", 1),
        ("next", 1),
        ("over_limit", 0),
    ]


@pytest.mark.behaviour("S2-26")
async def test_without_an_over_limit_route_the_run_fails_and_no_error_route_takes_it() -> None:
    check, repair, give_up = repairing()
    row = repair.to(check).using(max_visits=2).on_error(give_up)
    flow = Flow("f", check.to(bad=repair, good=give_up), row, give_up, on_error=give_up)
    result = await flow.run(Note(), check=False)
    assert result.failure is not None
    assert (result.status, result.exhausted, result.failure.path) == ("failed", "visits", "repair#3")


async def test_visits_are_counted_in_each_walk_of_its_own() -> None:
    limited = does(lambda step: None, "limited", Note)
    last = ends(Note)
    inner = Flow("inner", limited.to(last).using(max_visits=1), last)
    one, two = inner.as_node("one"), inner.as_node("two")
    result = await Flow("f", one.to(two), two.to(last), last).run(Note(), check=False)
    assert (result.status, result.trace.path) == ("completed", "one(limited > end) > two(limited > end) > end")


@pytest.mark.behaviour("A17")
async def test_a_refused_visit_pays_no_round() -> None:
    paid = does(lambda step: None, "paid", Note, starts_round=True)
    last = ends(Note)
    flow = Flow("f", paid.to(last).using(max_visits=0).over_limit(last), last)
    result = await flow.run(Note(), budget=Budget(rounds=0), check=False)
    assert (result.status, result.usage.rounds) == ("completed", 0)


def test_a_negative_number_of_visits_is_refused() -> None:
    with pytest.raises(ValueError, match="give zero or more"):
        ends(Note).using(max_visits=-1)


# ---- The time of the run -----------------------------------------------------------------------------------


@pytest.mark.behaviour("S2-30")
@pytest.mark.parametrize("act", [forever, swallows, swallows_and_raises])
async def test_time_that_runs_out_in_a_visit_fails_the_run_and_drops_the_visit(act: Any) -> None:
    last = ends(Note)
    flow = Flow("f", does(act, "slow", Note).to(last).on_error(last), last, on_error=last)
    result = await run(flow, budget=Budget(seconds=5))
    assert (result.status, result.exhausted, result.state) == ("failed", "seconds", Note())
    assert [visit.node for visit in result.trace] == ["slow"]
    assert result.trace[0].failure is not None


async def test_time_that_ran_out_takes_no_route_whatever_the_node_makes_of_it() -> None:
    last = ends(Note)
    flow = Flow("f", does(swallows_and_raises, "slow", Note).to(last).on_error(last), last)
    result = await run(flow, budget=Budget(seconds=5))
    assert [visit.kind for visit in result.trace] in (["unfinished"], ["failed"])


@pytest.mark.behaviour("S2-26")
@pytest.mark.parametrize("fails", [True, False])
async def test_time_that_ran_out_while_nobody_looked_ends_the_run_before_the_next_step(fails: bool) -> None:
    clock = HandClock()

    def slow(step: Any) -> None:
        clock.now += 10
        step.state.number = 5
        if fails:
            raise Boom

    ran: list[str] = []
    last = does(lambda step: Complete(ran.append("last")), "last", Note, Complete[Any])
    row = does(slow, "slow", Note).to(last).using(retry=Retry(attempts=3)).on_error(last)
    result = await Flow("f", row, last).run(Note(), budget=Budget(seconds=5), check=False, clock=clock)
    assert (result.status, result.exhausted, result.state, ran) == ("failed", "seconds", Note(), [])


async def test_no_seconds_refuse_the_first_node() -> None:
    result = await Flow("f", ends(Note)).run(Note(), budget=Budget(seconds=0), check=False)
    assert (result.status, result.exhausted, len(result.trace)) == ("failed", "seconds", 0)


async def test_a_deadline_that_has_passed_refuses_the_first_node_and_one_without_a_zone_is_refused() -> None:
    clock = HandClock()
    passed = clock.utcnow()
    clock.now += 1
    result = await Flow("f", ends(Note)).run(Note(), deadline=passed, check=False, clock=clock)
    assert (result.status, result.exhausted) == ("failed", "seconds")
    with pytest.raises(ValueError, match="deadline has no time zone"):
        await Flow("f", ends(Note)).run(Note(), deadline=passed.replace(tzinfo=None))


async def test_a_walk_that_never_waits_lets_others_run() -> None:
    ticks: list[float] = []

    async def tick() -> None:
        while True:
            ticks.append(time.monotonic())
            await anyio.lowlevel.checkpoint()

    def act(step: Any) -> Any:
        time.sleep(0.0005)
        return Continue("done" if step.visit == 60 else "more")

    again = does(act, "again", Note, Continue[Literal["more", "done"]])
    last = ends(Note)
    flow = Flow("loop", again.to(more=again, done=last), last)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tick)
        await flow.run(Note(), budget=Budget(rounds=None))
        tasks.cancel_scope.cancel()
    assert len(ticks) >= 4
