"""Both stores of flowcore, and a file that is opened anew for every look, keep the contract of stores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flowcore.store import MemoryRunStore, RunStore, SQLiteRunStore
from flowcore.testing import StoreContract

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


@pytest.mark.behaviour("S1-01", "S1-28", "S1-30")
class TestMemory(StoreContract):
    is_durable = False

    def make_store(self, tmp_path: Path) -> RunStore:
        return MemoryRunStore()


@pytest.mark.behaviour("S1-01", "S1-28", "S1-30")
class TestSQLite(StoreContract):
    def make_store(self, tmp_path: Path) -> RunStore:
        return SQLiteRunStore(tmp_path / "runs.db")


class TestReopened(StoreContract):
    def make_store(self, tmp_path: Path) -> RunStore:
        store: Any = Reopened(tmp_path / "runs.db")
        return store  # type: ignore[no-any-return]
