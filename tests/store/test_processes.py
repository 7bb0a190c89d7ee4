"""Several processes on one file: contention, forks, ends without warning, and what a process left behind."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from flowcore.errors import StoreError
from flowcore.store import SQLiteRunStore
from flowcore.testing.store_rows import ME, end_row, run_row, visit_row, write_of, written

WALKER = """
import sys, anyio, anyio.lowlevel
from flowcore.store import SQLiteRunStore
from flowcore.testing.store_rows import ME, end_row, run_row, visit_row, write_of, written

async def walk(store, run_id):
    await store.create(run_row(run_id), write_of(run_id))
    for seq in range(1, 41):
        await written(store, write_of(run_id, visits=(visit_row(seq),)))
        await anyio.lowlevel.checkpoint()
    assert await store.settle(run_id, end_row(), None, owner=ME)

async def main():
    store = SQLiteRunStore(sys.argv[1])
    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(walk, store, f"{sys.argv[2]} {number}")
    await store.aclose()

anyio.run(main, backend=sys.argv[3])
"""
ENDLESS = """
import sys, anyio, anyio.lowlevel
from flowcore.store import SQLiteRunStore
from flowcore.testing.store_rows import run_row, visit_row, write_of, written

async def main():
    store = SQLiteRunStore(sys.argv[1])
    await store.create(run_row(), write_of())
    for seq in range(1, 100_000):
        await written(store, write_of(visits=(visit_row(seq),)))
        print(seq, flush=True)

anyio.run(main)
"""
UNAWAITED = """
import sys, anyio, anyio.lowlevel
from flowcore.store import SQLiteRunStore
from flowcore.testing.store_rows import run_row, visit_row, write_of

async def main():
    store = SQLiteRunStore(sys.argv[1])
    for run_id in ("a", "b"):
        await store.create(run_row(run_id), write_of(run_id))
    for seq in range(1, 6):
        for run_id in ("a", "b"):
            store.commit(write_of(run_id, visits=(visit_row(seq),)))

anyio.run(main, backend=sys.argv[2])
"""


def _started(code: str, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.PIPE, text=True)


@pytest.mark.behaviour("A97")
async def test_two_processes_with_twenty_runs_each_lose_nothing(tmp_path: Path, anyio_backend_name: str) -> None:
    path = tmp_path / "runs.db"
    walkers = [_started(WALKER, str(path), name, anyio_backend_name) for name in ("one", "two")]
    for walker in walkers:
        walker.communicate(timeout=50)
    assert [walker.returncode for walker in walkers] == [0, 0]
    store = SQLiteRunStore(path)
    runs = await store.runs(status=("completed",))
    assert len(runs) == 40
    for run in runs:
        assert [row.seq for row in (await store.load(run.run_id)).visits] == list(range(1, 41))
    await store.aclose()


async def test_what_was_written_outlives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    process = _started(ENDLESS, str(path))
    assert process.stdout is not None
    told = 0
    while told < 150:
        told = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    told = max([told, *(int(line) for line in process.stdout.read().split("\n")[:-1])])
    process.wait()
    process.stdout.close()
    store = SQLiteRunStore(path)
    seqs = [row.seq for row in (await store.load("run")).visits]
    assert seqs == list(range(1, len(seqs) + 1))
    assert len(seqs) in (told, told + 1)
    await store.aclose()


async def test_a_process_that_ends_has_written_what_it_handed_over(
    tmp_path: Path, anyio_backend_name: str
) -> None:
    path = tmp_path / "runs.db"
    process = _started(UNAWAITED, str(path), anyio_backend_name)
    process.communicate(timeout=30)
    assert process.returncode == 0
    store = SQLiteRunStore(path)
    for run_id in ("a", "b"):
        assert [row.seq for row in (await store.load(run_id)).visits] == [1, 2, 3, 4, 5]
    await store.aclose()


async def test_a_lock_of_another_process_is_waited_for_and_the_loop_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = SQLiteRunStore(path)
    await store.create(run_row(), write_of())
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while ticks < 10:
            await anyio.sleep(0.01)
            ticks += 1
        other.execute("ROLLBACK")

    async with anyio.create_task_group() as group:
        group.start_soon(tick)
        for seq in range(1, 4):
            await written(store, write_of(visits=(visit_row(seq),)))
            assert ticks == 10
    assert [row.seq for row in (await store.load("run")).visits] == [1, 2, 3]
    other.close()
    await store.aclose()


async def test_a_lock_that_lasts_too_long_is_told_and_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = SQLiteRunStore(path, busy_timeout=0.1)
    await store.create(run_row(), write_of(visits=(visit_row(1),)))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match=r"runs\.db: it is locked by another process, for more than 0\.1 s"):
        await written(store, write_of(visits=(visit_row(2),)))
    with pytest.raises(StoreError, match="locked"):
        await store.settle("run", end_row(), None, owner=ME)
    assert [row.seq for row in (await store.load("run")).visits] == [1]
    other.execute("ROLLBACK")
    other.close()
    await written(store, write_of(visits=(visit_row(3),)))
    assert await store.settle("run", end_row(), None, owner=ME) is True
    assert [row.seq for row in (await store.load("run")).visits] == [1, 3]
    await store.aclose()


async def test_a_file_that_somebody_has_for_himself_is_told(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = SQLiteRunStore(path, busy_timeout=0.05)
    await store.create(run_row(), write_of())
    await store.aclose()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match=r"runs\.db: it is locked by another process"):
        SQLiteRunStore(path, busy_timeout=0.05)
    other.execute("ROLLBACK")
    other.close()
    again = SQLiteRunStore(path, busy_timeout=0.05)
    assert await again.run("run") == run_row()
    await again.aclose()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_parent_and_child_both_go_on_after_a_fork(tmp_path: Path) -> None:
    store = SQLiteRunStore(tmp_path / "runs.db")
    for run_id in ("parent", "child"):
        await store.create(run_row(run_id), write_of(run_id))
        await written(store, write_of(run_id, visits=(visit_row(1),)))
    await store.load("parent")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            thread = threading.Thread(target=lambda: anyio.run(_walk_on, store, "child"))
            thread.start()
            thread.join()
            code = 0
        finally:
            os._exit(code)
    await _walk_on(store, "parent")
    _, status = await anyio.to_thread.run_sync(os.waitpid, child, 0)
    assert status == 0
    for run_id in ("parent", "child"):
        assert [row.seq for row in (await store.load(run_id)).visits] == list(range(1, 101))
    await store.aclose()


async def _walk_on(store: SQLiteRunStore, run_id: str) -> None:
    for seq in range(2, 101):
        await written(store, write_of(run_id, visits=(visit_row(seq),)))


async def test_two_stores_on_one_file_see_each_other(tmp_path: Path) -> None:
    one, two = SQLiteRunStore(tmp_path / "runs.db"), SQLiteRunStore(tmp_path / "runs.db")
    await one.create(run_row(), write_of())
    assert await one.attention("run", ME, 0.0) is None
    await two.signal("run", "pause", "bob")
    attention = await one.attention("run", ME, 0.0)
    assert attention is not None
    assert (attention.signal, attention.signal_by) == ("pause", "bob")
    await two.aclose()
    await written(one, write_of(visits=(visit_row(1),)))
    await one.aclose()


async def test_stores_in_threads_of_their_own_loops_share_one_object(tmp_path: Path) -> None:
    store = SQLiteRunStore(tmp_path / "runs.db")
    ids = [f"run {number}" for number in range(4)]
    for run_id in ids:
        await store.create(run_row(run_id), write_of(run_id))
        await written(store, write_of(run_id, visits=(visit_row(1),)))
    threads = [threading.Thread(target=anyio.run, args=(_walk_on, store, run_id)) for run_id in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        await anyio.to_thread.run_sync(thread.join, 30)
    for run_id in ids:
        assert [row.seq for row in (await store.load(run_id)).visits] == list(range(1, 101))
    await store.aclose()
