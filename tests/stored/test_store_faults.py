"""A store that fails in the middle of a run: file, cause, remedy are told, and nothing is lost."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.core.runs import chain
from tests.stepping import living, quiet_down
from tests.stored.in_process import Process

from flowcore import Flow, result_of
from flowcore.errors import StoreError
from flowcore.store import MemoryRunStore, RunStore, SQLiteRunStore, Write
from flowcore.testing import FakeClock
from flowcore.testing.host_flows import Work

pytestmark = pytest.mark.anyio
ran: list[str] = []


class Failing(Process):
    """Fails from the k-th write on, at once or when it is waited for, until it is mended."""

    def __init__(self, store: RunStore, write: int, *, later: bool) -> None:
        super().__init__(store)
        self.good = write - 1
        self.later = later
        self.refused = 0

    def commit(self, write: Write) -> Awaitable[None] | None:
        self.good -= 1
        if self.good >= 0:
            return self._store.commit(write)
        self.refused += 1
        if not self.later:
            raise self._fault()
        return self._fails()

    async def _fails(self) -> None:
        await anyio.lowlevel.checkpoint()
        raise self._fault()

    async def settle(self, *args: Any, **options: Any) -> bool:
        self.good -= 1
        if self.good >= 0:
            return await self._store.settle(*args, **options)
        raise self._fault()

    def _fault(self) -> StoreError:
        return StoreError("runs.db: the disk is full (database or disk is full): free some space")


def noting(step: Any) -> None:
    ran.append(step.path)
    step.state.done.append(step.path)


def flow_of(count: int = 4) -> Flow[Any, Any, Any]:
    return chain(Work, *[noting] * count, value=lambda step: list(step.state.done))


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("write", range(1, 7))
async def test_a_write_that_fails_ends_the_run_and_it_goes_on_later(write: int, later: bool) -> None:
    before, clock, store = living(), FakeClock(), MemoryRunStore()
    ran.clear()
    failing: Any = Failing(store, write, later=later)
    with anyio.fail_after(10):
        result = await flow_of().run(Work(), store=failing, run_id="run", clock=clock, check=False)
    assert (result.status, result.failure and result.failure.type) == ("failed", "StoreError")
    assert "runs.db: the disk is full" in str(result.failure)
    assert "free some space" in str(result.failure)
    assert await quiet_down(before) == before
    assert [row.node for row in (await store.load("run")).visits] == ["n1", "n2", "n3", "n4", "end"][: write - 1]
    assert len(ran) == min(write, 4)
    await clock.advance(31)
    ran.clear()
    assert await flow_of().resume("run", store=store, clock=clock) == [f"n{number}#1" for number in range(1, 5)]
    assert ran == [f"n{number}#1" for number in range(write, 5)]
    assert (await store.run("run")).status == "completed"


async def test_it_is_raised_by_run() -> None:
    failing: Any = Failing(MemoryRunStore(), 2, later=True)
    with pytest.raises(StoreError, match="disk is full") as caught:
        await flow_of().run(Work(), store=failing, run_id="run")
    assert (found := result_of(caught.value)) is not None
    assert found.status == "failed"


async def test_a_full_disk_while_the_run_is_paused() -> None:
    store, started = MemoryRunStore(), anyio.Event()
    failing: Any = Failing(store, 2, later=True)

    async def hold(step: Any) -> None:
        started.set()
        await anyio.sleep_forever()

    async with chain(Work, noting, hold).start(Work(), store=failing, run_id="run", clock=FakeClock()) as run:
        await started.wait()
        with anyio.fail_after(10):
            await run.pause()
            result = await run.wait()
    assert (result.status, result.failure and result.failure.type) == ("failed", "StoreError")
    assert (await store.run("run")).status == "running"


def locked_out(path: Path) -> sqlite3.Connection:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    return other


async def test_a_file_that_is_locked_in_the_middle(tmp_path: Path) -> None:
    path, clock = tmp_path / "runs.db", FakeClock()
    store = SQLiteRunStore(path, busy_timeout=0.05)
    locks: list[sqlite3.Connection] = []
    flow = chain(
        Work, noting, lambda step: locks.append(locked_out(path)), noting, value=lambda step: len(step.state.done)
    )
    with anyio.fail_after(20):
        result = await flow.run(Work(), store=store, run_id="run", clock=clock, check=False)
    assert (result.status, result.failure and result.failure.type) == ("failed", "StoreError")
    assert "runs.db: it is locked by another process" in str(result.failure)
    assert "busy_timeout" in str(result.failure)
    locks.pop().close()
    assert [row.node for row in (await store.load("run")).visits] == ["n1"]
    await clock.advance(31)
    flow = chain(Work, noting, lambda step: None, noting, value=lambda step: len(step.state.done))
    assert await flow.resume("run", store=store, clock=clock) == 2
    await store.aclose()


async def test_a_disk_that_is_full_in_the_middle(tmp_path: Path) -> None:
    path, clock = tmp_path / "runs.db", FakeClock()
    store = SQLiteRunStore(path)

    def limit(pages: int) -> None:
        connection = store._writer._line.connection
        connection.execute(f"PRAGMA max_page_count = {pages}")

    def fill(step: Any) -> None:
        connection = store._writer._line.connection
        limit(connection.execute("PRAGMA page_count").fetchone()[0])
        step.state.consent = "x" * 200_000

    flow = chain(Work, noting, fill, noting, value=lambda step: len(step.state.done))
    with anyio.fail_after(20):
        result = await flow.run(Work(), store=store, run_id="run", clock=clock, check=False)
    assert (result.status, result.failure and result.failure.type) == ("failed", "StoreError")
    assert "runs.db: the disk is full" in str(result.failure)
    assert "free some space; what was written before is intact" in str(result.failure)
    limit(1_000_000)
    assert [row.node for row in (await store.load("run")).visits] == ["n1"]
    await clock.advance(31)
    flow = chain(Work, noting, lambda step: None, noting, value=lambda step: len(step.state.done))
    assert await flow.resume("run", store=store, clock=clock) == 2
    await store.aclose()
