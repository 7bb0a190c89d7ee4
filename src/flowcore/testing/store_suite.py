"""The store contract suite: what every store must do, as tests that pytest runs on a store of yours.

Needs pytest: `pip install "flowcore[test]"`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, ClassVar

import anyio
import anyio.lowlevel
import pytest

from ..errors import RunConflict, StoreError
from ..store import RunStore
from .store_control_suite import ControlContract
from .store_ending_suite import EndingContract
from .store_listing_suite import ListingContract
from .store_rows import call_row, end_row, frame_row, note_row, request_row, run_row, visit_row, write_of, written

__all__ = ["StoreContract"]


class WritingContract:
    """What is written is there, whole and in order, and nothing else is."""

    async def test_everything_that_is_written_comes_back(self, store: RunStore) -> None:
        first = write_of(frames=(frame_row(0), frame_row(1, parent=0, owner=0, place=3)))
        await store.create(run_row(deadline=2e9), first)
        rows: dict[str, Any] = {
            "visits": (visit_row(1), visit_row(6, rest="{}")),
            "notes": (note_row(11), note_row(12, frame=-1)),
            "calls": (call_row("k1"), call_row("k2", status="done", result="1")),
            "requests": (request_row("q1"), request_row("q2", expires=float("inf"))),
        }
        await written(store, write_of(**rows))
        stored = await store.load("run")
        assert stored.frames == list(first.frames)
        assert stored.visits == list(rows["visits"])
        assert stored.notes == list(rows["notes"])
        assert stored.calls == list(rows["calls"])
        assert stored.requests == list(rows["requests"])
        assert stored.run == run_row(deadline=2e9, status="waiting")

    async def test_there_is_one_run_of_an_id(self, store: RunStore) -> None:
        await store.create(run_row(), write_of(visits=(visit_row(1),)))
        with pytest.raises(RunConflict, match="run"):
            await store.create(run_row(flow="other"), write_of(visits=(visit_row(2),)))
        stored = await store.load("run")
        assert (stored.run.flow, [row.seq for row in stored.visits]) == ("triage", [1])

    async def test_visits_and_notes_are_in_the_order_of_their_seq(self, store: RunStore) -> None:
        await store.create(run_row(), write_of())
        for seq in (5, 1, 300, 20):
            await written(store, write_of(visits=(visit_row(seq),), notes=(note_row(seq + 1),)))
        stored = await store.load("run")
        assert [row.seq for row in stored.visits] == [1, 5, 20, 300]
        assert [row.seq for row in stored.notes] == [2, 6, 21, 301]

    async def test_frames_calls_and_requests_are_replaced_where_they_stand(self, store: RunStore) -> None:
        calls, requests = (call_row("b"), call_row("a")), (request_row("z"), request_row("y"))
        await store.create(run_row(), write_of(frames=(frame_row(0),), calls=calls, requests=requests))
        done, expired = call_row("b", status="done", result="7"), request_row("z", status="expired", at=9.0)
        again = frame_row(0, node="check", number=2, spent="{}")
        await written(store, write_of(frames=(again,), calls=(done,), requests=(expired,)))
        stored = await store.load("run")
        assert stored.frames == [again]
        assert stored.calls == [done, calls[1]]
        assert stored.requests == [expired, requests[1]]

    async def test_a_closed_request_stays_as_it_was_closed(self, store: RunStore) -> None:
        await store.create(run_row(), write_of(requests=(request_row(),)))
        answered = await store.answer("run", "q1", "yes", "bob", request_row().opened)
        await written(store, write_of(requests=(request_row(status="expired"),)))
        assert await store.requests("run", pending=False) == [answered]

    async def test_status_and_spent_change_where_a_write_says_so(self, store: RunStore) -> None:
        await store.create(run_row(spent="{}"), write_of())
        await written(store, write_of(visits=(visit_row(1),)))
        assert await store.run("run") == run_row(spent="{}")
        await written(store, write_of(status="paused"))
        await written(store, write_of(spent='{"rounds": 2}'))
        assert await store.run("run") == run_row(status="paused", spent='{"rounds": 2}')

    @pytest.mark.parametrize("owner", ["host two", ""])
    async def test_only_the_owner_writes(self, store: RunStore, owner: str) -> None:
        await store.create(run_row(), write_of())
        for rows in ({"visits": (visit_row(1),)}, {"frames": (frame_row(1),), "status": "paused"}):
            with pytest.raises(RunConflict):
                await written(store, write_of("run", owner, **rows))
        await store.release("run", run_row().owner)
        with pytest.raises(RunConflict):
            await written(store, write_of("run", owner, visits=(visit_row(1),)))
        stored = await store.load("run")
        assert (stored.visits, stored.frames, stored.run.status) == ([], [], "running")

    async def test_nothing_is_written_of_a_run_that_has_ended(self, store: RunStore) -> None:
        await store.create(run_row(), write_of())
        await store.settle("run", end_row("failed"), None, owner=run_row().owner)
        writes = (write_of(visits=(visit_row(1),)), write_of(status="running"))
        for write in writes:
            with pytest.raises(RunConflict, match="failed"):
                await written(store, write)
        stored = await store.load("run")
        assert (stored.visits, stored.run.status) == ([], "failed")

    async def test_a_write_happens_whole_or_not_at_all(self, store: RunStore) -> None:
        await store.create(run_row(), write_of(visits=(visit_row(6),)))
        again = write_of(
            frames=(frame_row(3),), calls=(call_row(),), visits=(visit_row(1), visit_row(6)), spent="9"
        )
        with pytest.raises(RunConflict):
            await written(store, again)
        with pytest.raises(RunConflict):
            await written(store, write_of(visits=(visit_row(6, node="other"),)))
        stored = await store.load("run")
        assert (stored.frames, stored.calls, stored.visits) == ([], [], [visit_row(6)])
        assert stored.run == run_row()

    async def test_writes_of_a_run_keep_their_order(self, store: RunStore) -> None:
        await store.create(run_row(), write_of())
        given = [store.commit(write_of(calls=(call_row(f"k{n}"),), spent=str(n))) for n in range(30)]
        for waiting in given:
            if waiting is not None:
                await waiting
        stored = await store.load("run")
        assert [row.key for row in stored.calls] == [f"k{n}" for n in range(30)]
        assert stored.run.spent == "29"

    async def test_runs_side_by_side_write_each_their_own(self, store: RunStore) -> None:
        ids = [f"run {n}" for n in range(20)]
        for run_id in ids:
            await store.create(run_row(run_id), write_of(run_id))
        refused: list[str] = []

        async def walk(run_id: str) -> None:
            try:
                for seq in range(1, 16):
                    await written(store, write_of(run_id, visits=(visit_row(seq, label=run_id),)))
                    await anyio.lowlevel.checkpoint()
            except RunConflict:
                refused.append(run_id)

        await store.take("run 7", "host two", run_row().lease + 1, run_row().lease + 60)
        async with anyio.create_task_group() as group:
            for run_id in ids:
                group.start_soon(walk, run_id)
        assert refused == ["run 7"]
        for run_id in ids:
            expected = [] if run_id == "run 7" else [visit_row(seq, label=run_id) for seq in range(1, 16)]
            assert (await store.load(run_id)).visits == expected

    async def test_what_was_handed_over_is_written_though_nobody_waits(self, store: RunStore) -> None:
        ids = ["a", "b", "c"]
        for run_id in ids:
            await store.create(run_row(run_id), write_of(run_id))
        with anyio.CancelScope() as scope:
            scope.cancel()
            waiting = [store.commit(write_of(run_id, visits=(visit_row(1),))) for run_id in ids]
            for each in waiting:
                if each is not None:
                    await each
        for run_id in ids:
            await written(store, write_of(run_id, visits=(visit_row(6),)))
            assert [row.seq for row in (await store.load(run_id)).visits] == [1, 6]

    @pytest.mark.parametrize("text", ["", "a\x00b", "漢字 é 🙂", "'; DROP TABLE runs; --", "a\nb\u2028c", "%_"])
    async def test_any_text_comes_back(self, store: RunStore, text: str) -> None:
        run = run_row(f"id {text}", title=text, flow=text, declared=text)
        rows: dict[str, Any] = {"visits": (visit_row(label=text),), "requests": (request_row(f"q{text}"),)}
        await store.create(run, write_of(run.run_id, **rows))
        await store.answer(run.run_id, f"q{text}", text, text, request_row().opened)
        stored = await store.load(run.run_id)
        assert (stored.run, stored.visits) == (run, list(rows["visits"]))
        assert (stored.requests[0].answer, stored.requests[0].by) == (text, text)

    async def test_text_that_is_none_comes_back_or_is_refused(self, store: RunStore) -> None:
        half = "half \ud800"
        try:
            await store.create(run_row("odd", title=half), write_of("odd"))
            assert (await store.run("odd")).title == half
        except StoreError:
            assert await store.runs() == []
        await store.create(run_row(), write_of())
        try:
            await written(store, write_of(visits=(visit_row(1, label=half),)))
            assert (await store.load("run")).visits == [visit_row(1, label=half)]
        except StoreError:
            assert (await store.load("run")).visits == []
        await written(store, write_of(visits=(visit_row(6),)))


class StoreContract(WritingContract, EndingContract, ControlContract, ListingContract):
    """The contract of stores. Derive a class of tests from it that makes your store.

        from flowcore.testing import StoreContract

        class TestMyStore(StoreContract):
            def make_store(self, tmp_path):
                return MyStore(tmp_path / "runs")

    Each test gets a store of its own. A store whose records live no longer than it does says `is_durable = False`.
    """

    pytestmark = pytest.mark.anyio
    is_durable: ClassVar[bool] = True
    """Whether another store that is made at the same place finds the records."""

    def make_store(self, tmp_path: Path) -> RunStore:
        """Return a store that keeps its records in this folder, or anywhere that belongs to this test alone."""
        raise NotImplementedError

    @pytest.fixture
    async def store(self, tmp_path: Path, anyio_backend: object) -> AsyncIterator[RunStore]:
        """Make a store, and close it after the test."""
        made = self.make_store(tmp_path)
        yield made
        await made.aclose()

    async def test_the_records_outlive_the_store(self, store: RunStore, tmp_path: Path) -> None:
        if not self.is_durable:
            pytest.skip("the records of this store live no longer than it does")
        await store.create(run_row(), write_of(frames=(frame_row(),)))
        store.commit(write_of(visits=(visit_row(1),)))
        waiting = store.commit(write_of(visits=(visit_row(6),)))
        await store.aclose()
        if waiting is not None:
            await waiting
        again = self.make_store(tmp_path)
        stored = await again.load("run")
        assert stored.visits == [visit_row(1), visit_row(6)]
        assert (stored.run, stored.frames) == (run_row(), [frame_row()])
        await again.aclose()

    async def test_a_closed_store_says_that_it_is_closed(self, store: RunStore) -> None:
        await store.create(run_row(), write_of())
        await store.aclose()
        await store.aclose()
        with pytest.raises(StoreError, match="closed"):
            await written(store, write_of(visits=(visit_row(1),)))
        with pytest.raises(StoreError, match="closed"):
            await store.load("run")
