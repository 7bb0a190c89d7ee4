"""The flow runner: never raises for how a run ended, takes no time, and is the same in async tests."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import anyio
import pytest

from flowcore import Budget, Complete, Continue, ContractError, Flow, Retry, Step, node
from flowcore.testing import FakeClock, FlowRunner

HOUR = 3600.0


@dataclass
class Note:
    text: str = ""


@node
async def sleep(step: Step[Note, FakeClock]) -> Continue:
    await step.deps.sleep(HOUR)
    step.state.text += "slept "
    return Continue()


@node
async def end(step: Step[Note]) -> Complete[str]:
    return Complete(f"{step.state.text}{step.error.type if step.error else ''}")


sleeper = Flow("sleeper", sleep.to(end).on_error(end), end)
impatient = Flow("impatient", sleep.to(end).using(timeout=60).on_error(end), end)


@pytest.fixture(params=["asyncio", "trio"])
def runner(request: pytest.FixtureRequest) -> FlowRunner:
    return FlowRunner("note", backend=request.param)


@pytest.mark.behaviour("TEST-5")
def test_an_hour_takes_no_time(runner: FlowRunner) -> None:
    began = runner.clock.monotonic()
    result = runner(sleeper, Note(), deps=runner.clock)
    assert (result.status, result.value, result.usage.seconds) == ("completed", "slept ", HOUR)
    assert runner.clock.monotonic() - began == HOUR


@pytest.mark.behaviour("TEST-5")
def test_a_timeout_comes_before_a_longer_sleep(runner: FlowRunner) -> None:
    result = runner(impatient, Note(), deps=runner.clock)
    assert (result.value, result.path, result.usage.seconds) == ("NodeTimeout", "sleep! > end", 60)


@pytest.mark.behaviour("TEST-5")
def test_the_time_of_a_budget_ends_a_run(runner: FlowRunner) -> None:
    result = runner(sleeper, Note(), deps=runner.clock, budget=Budget(seconds=30))
    assert (result.status, result.exhausted, result.usage.seconds) == ("failed", "seconds", 30)


def test_waits_between_retries_take_no_time(runner: FlowRunner) -> None:
    @node
    async def flaky(step: Step[Note]) -> Continue:
        if step.attempt < 3:
            raise OSError("not yet")
        return Continue()

    flow = Flow("flaky", flaky.to(end).using(retry=Retry(attempts=3, wait=600, factor=1, max_wait=600)), end)
    result = runner(flow, Note())
    assert (result.trace[0].attempts, result.status) == (3, "completed")
    assert result.usage.seconds == 1200


def test_a_node_that_hangs_is_given_up_at_its_timeout(runner: FlowRunner) -> None:
    @node
    async def hang(step: Step[Note]) -> Continue:
        await anyio.sleep_forever()
        return Continue()

    flow = Flow("hanging", hang.to(end).using(timeout=60).on_error(end), end)
    assert runner(flow, Note()).value == "NodeTimeout"
    assert runner.clock.monotonic() == 60


def test_threads_are_waited_for(runner: FlowRunner) -> None:
    @node
    def work(step: Step[Note]) -> Continue:
        time.sleep(0.05)
        step.state.text = "worked"
        return Continue()

    flow = Flow("thread", work.to(end).using(timeout=60).on_error(end), end)
    assert runner(flow, Note()).value == "worked"
    assert runner.clock.monotonic() == 0


def test_what_really_waits_for_a_moment_is_waited_for(runner: FlowRunner) -> None:
    @node
    async def wait(step: Step[Note]) -> Continue:
        await anyio.sleep(0.02)
        step.state.text = "waited"
        return Continue()

    flow = Flow("waiting", wait.to(end).using(timeout=60).on_error(end), end)
    assert runner(flow, Note()).value == "waited"
    assert runner.clock.monotonic() == 0


def test_fakes_stand_in_for_nodes(runner: FlowRunner) -> None:
    @node
    async def nap(step: Step[Note]) -> Continue:
        step.state.text = "napped"
        return Continue()

    result = runner(sleeper, Note(), deps=runner.clock, fakes={"sleep": nap})
    assert (result.value, result.usage.seconds) == ("napped", 0)
    with pytest.raises(KeyError, match="flow 'sleeper' has no node 'doze': it has sleep, end"):
        runner(sleeper, Note(), deps=runner.clock, fakes={"doze": nap})


def test_the_ids_of_runs_are_made_of_the_name_and_can_be_given(runner: FlowRunner) -> None:
    ids: list[str] = []

    @node
    async def tell(step: Step[Note]) -> Complete[str]:
        ids.append(step.run_id)
        return Complete("told")

    flow = Flow("tell", tell)
    for options in ({}, {}, {"run_id": "mine"}):
        runner(flow, Note(), **options)
    assert ids == ["note", "note-2", "mine"]
    assert [run.value for run in runner.runs] == ["told"] * 3


def test_another_clock_can_be_given(runner: FlowRunner) -> None:
    clock = FakeClock()
    assert runner(sleeper, Note(), deps=clock, clock=clock).usage.seconds == HOUR
    assert (clock.monotonic(), runner.clock.monotonic()) == (HOUR, 0)


async def test_an_async_test_awaits_it() -> None:
    runner = FlowRunner()
    result = await runner.run(sleeper, Note(), deps=runner.clock)
    assert (result.value, result.usage.seconds) == ("slept ", HOUR)
    with pytest.raises(ContractError, match=r"inside a running event loop: use `await flow_runner\.run"):
        runner(sleeper, Note(), deps=runner.clock)


async def test_runs_side_by_side_share_the_clock() -> None:
    runner = FlowRunner()
    results: list[Any] = []

    async def one() -> None:
        results.append(await runner.run(sleeper, Note(), deps=runner.clock))

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(one)
    assert [result.value for result in results] == ["slept "] * 3
    assert {result.trace.run_id for result in results} == {"test", "test-2", "test-3"}


def test_the_fixture_names_runs_by_the_test(flow_runner: FlowRunner) -> None:
    result = flow_runner(sleeper, Note(), deps=flow_runner.clock)
    assert result.trace.run_id == "test_the_fixture_names_runs_by_the_test"
