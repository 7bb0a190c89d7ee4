"""The in-process host, without a store and with each of ours, keeps the contract of hosts."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.stored.in_process import InProcess

from flowcore.store import MemoryRunStore, SQLiteRunStore
from flowcore.testing import DurableHost, DurableHostContract, FakeClock, FlowHost, HostContract

for promise, proof in (
    ("S1-17", DurableHostContract.test_what_has_ended_cannot_be_resumed),
    ("S1-18", HostContract.test_a_pause_anywhere_changes_nothing),
    ("S1-18", DurableHostContract.test_a_paused_run_outlives_the_process),
    ("S1-19", DurableHostContract.test_only_its_user_resumes_a_run),
    ("S1-28", HostContract.test_the_first_who_cancels_says_why),
    ("S1-28", HostContract.test_what_has_ended_stays_as_it_is),
    ("S1-29", HostContract.test_what_comes_late_changes_nothing),
    ("S1-29", DurableHostContract.test_a_process_that_lost_its_run_changes_nothing),
):
    pytest.mark.behaviour(promise)(proof)


class TestWithoutStore(HostContract):
    def make_host(self, tmp_path: Path, clock: FakeClock) -> FlowHost:
        return InProcess(clock)


class TestMemory(DurableHostContract):
    def make_host(self, tmp_path: Path, clock: FakeClock) -> DurableHost:
        return InProcess(clock, MemoryRunStore())


class TestSQLite(DurableHostContract):
    def make_host(self, tmp_path: Path, clock: FakeClock) -> DurableHost:
        return InProcess(clock, SQLiteRunStore(tmp_path / "runs.db", synchronous="NORMAL"))
