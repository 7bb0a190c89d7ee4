"""How the SQLite store writes: at once, together, in a thread; how long its log is, and how large a visit."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from flowcore.store import SQLiteRunStore, VisitRow, Write, checkpoint, writer
from flowcore.testing.store_rows import ME, end_row, run_row, visit_row, write_of, written


class Watched:
    """Notes each transaction of a store, and the thread that it is made in."""

    def __init__(self, store: SQLiteRunStore) -> None:
        self.statements: list[str] = []
        self.threads: list[str] = []
        store._file.writing.connection.set_trace_callback(self._note)

    def _note(self, statement: str) -> None:
        if statement.startswith(("BEGIN", "INSERT INTO visits")):
            self.statements.append(statement.split()[0])
            self.threads.append(threading.current_thread().name)


def _size(path: str | Path) -> int:
    return Path(path).stat().st_size if Path(path).exists() else 0


@pytest.fixture(autouse=True)
def disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is, its disk counts as fast, unless a test says otherwise."""
    monkeypatch.setattr(writer, "_SLOW", float("inf"))


async def _begun(path: Path, *ids: str, **options: Any) -> SQLiteRunStore:
    store = SQLiteRunStore(path / "runs.db", **options)
    for run_id in ids:
        await store.create(run_row(run_id), write_of(run_id))
    return store


async def test_a_run_by_itself_writes_a_visit_in_one_statement_and_without_a_thread(tmp_path: Path) -> None:
    store = await _begun(tmp_path, "run")
    watched = Watched(store)
    assert [store.commit(write_of(visits=(visit_row(seq),))) for seq in (1, 2, 3)] == [None] * 3
    assert watched.statements == ["INSERT"] * 3
    assert watched.threads == [threading.current_thread().name] * 3
    await store.aclose()


async def test_what_comes_in_during_a_turn_of_the_loop_is_one_transaction(tmp_path: Path) -> None:
    ids = [f"run {number}" for number in range(30)]
    store = await _begun(tmp_path, *ids)
    watched = Watched(store)

    async def walk(run_id: str) -> None:
        for seq in (1, 2, 3):
            await written(store, write_of(run_id, visits=(visit_row(seq),)))

    async with anyio.create_task_group() as group:
        for run_id in ids:
            group.start_soon(walk, run_id)
    assert watched.statements.count("BEGIN") <= 6
    assert watched.statements.count("INSERT") == 90
    assert set(watched.threads) == {threading.current_thread().name}
    await store.aclose()


async def test_a_slow_disk_is_written_to_in_a_thread_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await _begun(tmp_path, "run", "other")
    await written(store, write_of(visits=(visit_row(1),)))
    monkeypatch.setattr(writer, "_SLOW", -1.0)
    watched = Watched(store)
    with store._file.writing.lock:
        waiting = [store.commit(write_of(visits=(visit_row(seq),))) for seq in range(2, 22)]
    for each in waiting:
        assert each is not None
        await each
    assert set(watched.threads) == {"flowcore store writer"}
    assert watched.statements.count("BEGIN") <= 2
    assert len((await store.load("run")).visits) == 21
    await store.aclose()


async def test_a_large_write_does_not_hold_the_loop_up(tmp_path: Path) -> None:
    store = await _begun(tmp_path, "run")
    watched = Watched(store)
    waiting = store.commit(write_of(visits=tuple(visit_row(seq) for seq in range(1, 5000))))
    assert waiting is not None
    small = store.commit(write_of(visits=(visit_row(9000),)))
    assert small is not None
    await waiting
    await small
    assert watched.threads[0] == "flowcore store writer"
    assert (await store.load("run")).visits[-1].seq == 9000
    await store.aclose()


@pytest.mark.parametrize("count", [1, 8])
async def test_the_log_stays_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(checkpoint, "_EVERY", 50)
    monkeypatch.setattr(checkpoint, "_LONG", 200_000)
    ids = [f"run {number}" for number in range(count)]
    store = await _begun(tmp_path, *ids, synchronous="NORMAL")
    sizes: list[int] = []

    async def walk(run_id: str) -> None:
        for seq in range(1, 4000 // count):
            await written(store, write_of(run_id, visits=(visit_row(seq),)))
            sizes.append(store._file.log_size())
            if seq % 50 == 0:  # the disk of a busy machine is given the time that it takes
                await anyio.to_thread.run_sync(store._writer._checkpoints.wait)

    async with anyio.create_task_group() as group:
        for run_id in ids:
            group.start_soon(walk, run_id)
    assert 200_000 < max(sizes) < 3_000_000
    await store.aclose()
    assert _size(f"{store.name}-wal") == 0


async def test_a_visit_takes_less_than_200_bytes_at_any_length(tmp_path: Path) -> None:
    sizes = [await _size_with(tmp_path / f"{visits}.db", visits) for visits in (10, 2_000, 10_000, 18_000)]
    assert (sizes[2] - sizes[1]) / 8_000 < 150
    assert (sizes[3] - sizes[2]) / 8_000 < 150
    assert sizes[0] < 150_000


async def _size_with(path: Path, visits: int) -> int:
    store = SQLiteRunStore(path, synchronous="NORMAL")
    await store.create(run_row(), write_of())
    for seq in range(1, visits + 1):
        await written(store, Write("run", ME, visits=(_ordinary(seq),)))
    await store.aclose()
    return _size(path)


def _ordinary(n: int) -> VisitRow:
    row = visit_row(
        5 * n, last=5 * n + 4, node="node_name_", number=n, target="node_next_", patch=f'{{"count":{n}}}'
    )
    return row._replace(rounds=0, requests=0, tool_calls=0, tokens=0, cost=0.0, round=n, walk_round=n, charged=0)


async def test_runs_of_one_flow_share_what_it_declares(tmp_path: Path) -> None:
    declared = "x" * 50_000
    store = SQLiteRunStore(tmp_path / "runs.db")
    for number in range(20):
        await store.create(run_row(str(number), declared=declared), write_of(str(number)))
    assert [run.declared for run in await store.runs()] == [declared] * 20
    await store.settle("3", end_row(), None, owner=ME)
    await store.delete("3")
    assert (await store.run("4")).declared == declared
    await store.aclose()
    assert _size(store.name) < 250_000


async def test_removing_the_last_run_of_a_flow_removes_what_it_declares(tmp_path: Path) -> None:
    store = await _begun(tmp_path, "run")
    await store.settle("run", end_row(), None, owner=ME)
    assert await store.prune(1e12) == 1
    await store.aclose()
    connection = sqlite3.connect(store.name)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    assert {
        name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables
    } == dict.fromkeys(tables, 0)
    connection.close()
