"""Who walks a run: one process at a time, another one after its lease, never before."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.stepping import StepClock, passes

from flowcore import Complete, Continue, Flow, Log, Step, node
from flowcore.errors import RunConflict
from flowcore.runtime.tenure import LEASE
from flowcore.store import MemoryRunStore, SQLiteRunStore

from .mortal import MortalStore

RUN_ID = "run"
_ROOT = Path(__file__).parents[2]


class Deaf(MortalStore):
    """What a process that has been stopped for a while has of a store: it believes that nothing has changed."""

    async def renew(self, run_id: str, owner: str, lease: float) -> bool:
        return True

    async def attention(self, run_id: str, owner: str, since: float) -> Any:
        return None


class Steps:
    """What the nodes of one process see: the second of them waits until it is let go."""

    def __init__(self, *, go_on: bool = False) -> None:
        self.began: list[str] = []
        self.waits = anyio.Event()
        if go_on:
            self.waits.set()


@dataclass
class State:
    log: Log[str] = field(default_factory=Log)


@node
async def first(step: Step[State, Steps]) -> Continue:
    step.deps.began.append(step.path)
    step.state.log.append(step.path)
    return Continue()


@node
async def second(step: Step[State, Steps]) -> Continue:
    step.deps.began.append(step.path)
    step.state.log.append(step.path)
    await step.deps.waits.wait()
    return Continue()


@node
async def third(step: Step[State, Steps]) -> Complete[str]:
    step.deps.began.append(step.path)
    return Complete(" ".join(step.state.log))


flow = Flow("steps", first.to(second), second.to(third), third)
VALUE = "first#1 second#1"


async def moved(clock: StepClock, seconds: float) -> None:
    """Moves the clock in small steps, so that whoever renews a lease does so in time."""
    for _ in range(int(seconds / 0.25)):
        await passes(6)
        clock.leap(0.25)
    await passes(6)


async def until_second(steps: Steps) -> None:
    while len(steps.began) < 2:
        await anyio.lowlevel.checkpoint()


async def test_a_run_that_is_walked_is_refused_and_says_who_walks_it() -> None:
    store, clock, steps = MemoryRunStore(), StepClock(), Steps()
    async with flow.start(State(), store=store, run_id=RUN_ID, clock=clock, deps=steps) as run:
        await until_second(steps)
        owner = (await store.run(RUN_ID)).owner
        for seconds in (0.0, LEASE + 1, 10 * LEASE):  # it is alive, and so its lease never ends
            await moved(clock, seconds)
            with pytest.raises(RunConflict, match=f"is walked by '{owner}', whose lease goes on until"):
                await flow.resume(RUN_ID, store=store, clock=clock, deps=Steps())
        steps.waits.set()
        assert await run.result() == VALUE
    with pytest.raises(RunConflict, match="completed"):
        await flow.resume(RUN_ID, store=store, clock=clock, deps=Steps())


@pytest.mark.parametrize("seconds", [0.0, LEASE / 2, LEASE - 0.5])
async def test_a_dead_owner_keeps_his_run_until_his_lease_is_over(seconds: float) -> None:
    store, clock, steps = MemoryRunStore(), StepClock(), Steps()
    mortal = MortalStore(store, 2)  # the record, and the visit of `first`
    async with flow.start(State(), store=mortal, run_id=RUN_ID, clock=clock, deps=steps) as run:
        await until_second(steps)
        steps.waits.set()
        assert (await run.wait()).status == "failed"
    clock.leap(seconds)
    with pytest.raises(RunConflict, match="whose lease goes on until"):
        await flow.resume(RUN_ID, store=store, clock=clock, deps=Steps())
    clock.leap(LEASE - seconds + 0.01)
    after = Steps(go_on=True)
    assert await flow.resume(RUN_ID, store=store, clock=clock, deps=after) == VALUE
    assert (steps.began, after.began) == (["first#1", "second#1"], ["second#1", "third#1"])


async def test_of_two_who_resume_one_walks() -> None:
    store, clock, steps = MemoryRunStore(), StepClock(), Steps()
    async with flow.start(State(), store=MortalStore(store, 2), run_id=RUN_ID, clock=clock, deps=steps) as run:
        await until_second(steps)
        steps.waits.set()
        await run.wait()
    clock.leap(LEASE + 1)
    ends: list[Any] = []

    async def resume() -> None:
        try:
            ends.append(await flow.resume(RUN_ID, store=store, clock=clock, deps=Steps(go_on=True)))
        except RunConflict as conflict:
            ends.append(conflict)

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(resume)
    assert [end for end in ends if not isinstance(end, RunConflict)] == [VALUE]
    assert len((await store.load(RUN_ID)).visits) == 3


async def test_who_was_replaced_while_he_slept_changes_nothing() -> None:
    store, clock, steps = MemoryRunStore(), StepClock(), Steps()
    deaf = Deaf(store, 1_000)
    async with flow.start(State(), store=deaf, run_id=RUN_ID, clock=clock, deps=steps) as run:
        await until_second(steps)
        clock.leap(LEASE + 1)
        after = Steps()
        async with flow.reopen(RUN_ID, store=store, clock=clock, deps=after) as heir:
            await _begun(after, "second#1")
            before = await store.load(RUN_ID)
            steps.waits.set()  # the first one wakes up, and commits
            result = await run.wait()
            assert (result.status, result.failure and result.failure.type) == ("failed", "RunConflict")
            assert await store.load(RUN_ID) == before
            after.waits.set()
            assert await heir.result() == VALUE
    assert steps.began == ["first#1", "second#1"]
    assert (await store.run(RUN_ID)).status == "completed"
    assert [row.node for row in (await store.load(RUN_ID)).visits] == ["first", "second", "third"]


async def test_who_was_replaced_hears_of_it_even_if_he_writes_nothing() -> None:
    store, clock, steps, after = MemoryRunStore(), StepClock(), Steps(), Steps()
    async with flow.start(State(), store=store, run_id=RUN_ID, clock=clock, deps=steps) as run:
        await until_second(steps)
        clock.now += LEASE + 1  # nobody had a chance to renew the lease
        async with flow.reopen(RUN_ID, store=store, clock=clock, deps=after) as heir:
            await moved(clock, 1.0)
            result = await run.wait()
            assert (result.status, result.failure and result.failure.type) == ("failed", "RunConflict")
            after.waits.set()
            assert await heir.result() == VALUE


async def _begun(steps: Steps, path: str) -> None:
    while path not in steps.began:
        await anyio.lowlevel.checkpoint()


class Adjusted(StepClock):
    """A clock whose time of day somebody sets."""

    adjusted = 0.0

    def utcnow(self) -> datetime:
        return super().utcnow() + timedelta(seconds=self.adjusted)


@pytest.mark.parametrize("seconds", [-3600.0, -5.0, 20.0])
async def test_a_time_of_day_that_is_set_neither_loses_a_run_nor_keeps_it(seconds: float) -> None:
    store, clock, steps = MemoryRunStore(), Adjusted(), Steps()
    async with flow.start(State(), store=store, run_id=RUN_ID, clock=clock, deps=steps) as run:
        await until_second(steps)
        clock.adjusted = seconds
        await moved(clock, LEASE)
        row = await store.run(RUN_ID)
        assert 0 < row.lease - clock.utcnow().timestamp() <= LEASE
        with pytest.raises(RunConflict, match="is walked by"):
            await flow.resume(RUN_ID, store=store, clock=clock, deps=Steps())
        steps.waits.set()
        assert await run.result() == VALUE


# ---- Real processes ----------------------------------------------------------------------------------------

CHILD = """
import json, sys
from pathlib import Path
import anyio
from flowcore.runtime import opening, residence, tenure
for module in (opening, residence, tenure):
    module.LEASE = 1.0
from flowcore.store import SQLiteRunStore
from tests.stored.test_owners import RUN_ID, State, Steps, flow

async def main(folder, begins, name):
    steps = Steps(go_on=name == "heir")
    store = SQLiteRunStore(folder / "runs.db")
    make = (lambda: flow.start(State(), store=store, run_id=RUN_ID, deps=steps)) if begins else (
        lambda: flow.reopen(RUN_ID, store=store, deps=steps))
    try:
        async with make() as run:
            while not steps.waits.is_set():
                if "second#1" in steps.began:
                    print("second", flush=True)
                    if not (folder / "go").exists():
                        while not (folder / "go").exists():
                            await anyio.sleep(0.01)
                    steps.waits.set()
                await anyio.sleep(0.01)
            result = await run.wait()
        print(json.dumps([result.status, result.value, result.failure and result.failure.type, steps.began]))
    except Exception as error:
        print(json.dumps([type(error).__name__, str(error)]))
    await store.aclose()

anyio.run(main, Path(sys.argv[1]), sys.argv[2] == "start", sys.argv[3], backend=sys.argv[4])
"""


def child(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder), *words], cwd=_ROOT, stdout=subprocess.PIPE, text=True
    )


def said(process: subprocess.Popen[str]) -> list[Any]:
    """Returns the last line that a process printed, when it has ended."""
    text, _ = process.communicate(timeout=40)
    found: list[Any] = json.loads(text.splitlines()[-1])
    return found


def test_a_process_that_was_stopped_and_replaced_ends_without_a_trace(
    tmp_path: Path, anyio_backend_name: str
) -> None:
    zombie = child(tmp_path, "start", "zombie", anyio_backend_name)
    assert zombie.stdout is not None
    assert zombie.stdout.readline() == "second\n"
    early = said(child(tmp_path, "resume", "heir", anyio_backend_name))
    assert early[0] == "RunConflict"
    assert f":{zombie.pid}:" in early[1]
    zombie.send_signal(signal.SIGSTOP)
    time.sleep(1.5)  # its lease of a second is over
    heir = said(child(tmp_path, "resume", "heir", anyio_backend_name))
    assert heir == ["completed", VALUE, None, ["second#1", "third#1"]]
    (tmp_path / "go").touch()
    zombie.send_signal(signal.SIGCONT)
    assert said(zombie) == ["failed", None, "RunConflict", ["first#1", "second#1"]]

    async def visits() -> list[str]:
        store = SQLiteRunStore(tmp_path / "runs.db")
        stored = await store.load(RUN_ID)
        await store.aclose()
        assert stored.run.status == "completed"
        return [row.node for row in stored.visits]

    assert anyio.run(visits) == ["first", "second", "third"]
