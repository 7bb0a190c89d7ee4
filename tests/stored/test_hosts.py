"""The in-process host, without a store and with each of ours, keeps the contract of hosts."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.stored.in_process import InProcess

from flowcore.store import MemoryRunStore, SQLiteRunStore
from flowcore.testing import DurableHost, DurableHostContract, FakeClock, FlowHost, HostContract


@pytest.mark.behaviour("S1-27", "S1-28", "S1-29")
class TestWithoutStore(HostContract):
    def make_host(self, tmp_path: Path, clock: FakeClock) -> FlowHost:
        return InProcess(clock)


@pytest.mark.behaviour("S1-17", "S1-18", "S1-19", "S1-27", "S1-28", "S1-29", "S1-30")
class TestMemory(DurableHostContract):
    def make_host(self, tmp_path: Path, clock: FakeClock) -> DurableHost:
        return InProcess(clock, MemoryRunStore())


@pytest.mark.behaviour("S1-17", "S1-18", "S1-19", "S1-27", "S1-28", "S1-29", "S1-30")
class TestSQLite(DurableHostContract):
    def make_host(self, tmp_path: Path, clock: FakeClock) -> DurableHost:
        return InProcess(clock, SQLiteRunStore(tmp_path / "runs.db", synchronous="NORMAL"))
