"""Both stores of flowcore, and a file that is opened anew for every look, keep the contract of stores."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from flowcore.store import MemoryRunStore, RunStore, SQLiteRunStore, writer
from flowcore.testing import StoreContract

for promise, proof in (
    ("S1-01", StoreContract.test_each_source_leaves_one_record),
    ("S1-01", StoreContract.test_there_is_one_run_of_an_id),
    ("S1-28", StoreContract.test_the_first_ending_stands),
    ("S1-28", StoreContract.test_of_a_hundred_who_end_a_run_one_does),
    ("S1-30", StoreContract.test_an_ending_is_written_with_everything_that_it_ends),
    ("S1-30", StoreContract.test_delegated_runs_end_with_the_one_that_delegated_them),
    ("S1-30", StoreContract.test_an_ending_that_cannot_be_written_changes_nothing),
):
    pytest.mark.behaviour(promise)(proof)

_READS = ("attention", "load", "requests", "run", "runs")


class Reopened:
    """A store that is read through another one, which was made at the same place only after the last write."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written = SQLiteRunStore(path, synchronous="NORMAL")

    def __getattr__(self, name: str) -> Any:
        return self._elsewhere(name) if name in _READS else getattr(self._written, name)

    def _elsewhere(self, name: str) -> Any:
        async def read(*values: Any, **options: Any) -> Any:
            if self._written._writer.is_closed:
                return await getattr(self._written, name)(*values, **options)
            other = SQLiteRunStore(self._path)
            try:
                return await getattr(other, name)(*values, **options)
            finally:
                await other.aclose()

        return read


class TestMemory(StoreContract):
    is_durable = False

    def make_store(self, tmp_path: Path) -> RunStore:
        return MemoryRunStore()


class TestSQLite(StoreContract):
    def make_store(self, tmp_path: Path) -> RunStore:
        return SQLiteRunStore(tmp_path / "runs.db")


class TestInThread(StoreContract):
    """As on a slow disk: a thread writes everything."""

    @pytest.fixture(autouse=True)
    def slow(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(writer, "_SLOW", -1.0)

    def make_store(self, tmp_path: Path) -> RunStore:
        return SQLiteRunStore(tmp_path / "runs.db", synchronous="NORMAL")


class TestContended(StoreContract):
    """As beside a process that has the lock half of the time."""

    @pytest.fixture(autouse=True)
    def other(self, tmp_path: Path) -> Iterator[None]:
        ended = threading.Event()

        def lock_again_and_again() -> None:
            with closing(sqlite3.connect(tmp_path / "runs.db", isolation_level=None)) as connection:
                while not ended.wait(0.002):
                    with suppress(sqlite3.OperationalError):
                        connection.execute("BEGIN IMMEDIATE")
                        ended.wait(0.002)
                        connection.execute("ROLLBACK")

        SQLiteRunStore(tmp_path / "runs.db")
        thread = threading.Thread(target=lock_again_and_again)
        thread.start()
        yield
        ended.set()
        thread.join()

    def make_store(self, tmp_path: Path) -> RunStore:
        return SQLiteRunStore(tmp_path / "runs.db", synchronous="NORMAL")


class TestReopened(StoreContract):
    def make_store(self, tmp_path: Path) -> RunStore:
        store: Any = Reopened(tmp_path / "runs.db")
        return store  # type: ignore[no-any-return]
