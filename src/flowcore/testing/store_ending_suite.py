"""The part of the store contract suite on endings: one ending of a run, and of everything in it."""

from __future__ import annotations

from collections import Counter

import anyio
import pytest

from ..errors import RunConflict
from ..store import RunStore
from ..trigger import Trigger
from .store_rows import (
    BEGAN,
    LEASE,
    ME,
    call_row,
    end_row,
    frame_row,
    request_row,
    run_row,
    visit_row,
    write_of,
    written,
)

__all__ = ["EndingContract"]


class EndingContract:
    """A run ends once, and what is under way in it ends with it."""

    async def test_an_ending_is_written_with_everything_that_it_ends(self, store: RunStore) -> None:
        calls = (call_row("a"), call_row("b", status="done", result="1"), call_row("c", status="failed"))
        requests = (request_row("q1"), request_row("q2", status="answered", answer="yes", by="bob", at=BEGAN + 4))
        await store.create(run_row(), write_of(calls=calls, requests=requests))
        end = end_row(
            "cancelled",
            value="",
            failure='{"type": "E"}',
            reason="user",
            exhausted="rounds",
            stragglers=("a#1", "b"),
            usage="{}",
            state='{"draft": "x"}',
        )
        last = write_of(visits=(visit_row(9),), spent='{"rounds": 3}')
        assert await store.settle("run", end, last, owner=ME) is True
        stored = await store.load("run")
        assert stored.run == run_row(owner="", lease=0.0, status="cancelled", spent='{"rounds": 3}', end=end)
        assert stored.visits == [visit_row(9)]
        assert [row.status for row in stored.calls] == ["unknown", "done", "failed"]
        assert stored.requests == [request_row("q1", status="withdrawn", at=end.ended), requests[1]]

    @pytest.mark.parametrize(("first", "second"), [("cancelled", "completed"), ("completed", "cancelled")])
    async def test_the_first_ending_stands(self, store: RunStore, first: str, second: str) -> None:
        await store.create(run_row(), write_of())
        assert await store.settle("run", end_row(first), None, owner=ME) is True
        late = write_of(visits=(visit_row(1),), calls=(call_row(),))
        assert await store.settle("run", end_row(second, BEGAN + 99), late, owner=ME) is False
        assert await store.settle("run", end_row(second), None, owner=None) is False
        stored = await store.load("run")
        assert (stored.run.end, stored.visits, stored.calls) == (end_row(first), [], [])

    async def test_of_a_hundred_who_end_a_run_one_does(self, store: RunStore) -> None:
        await store.create(run_row(), write_of())
        told: Counter[bool] = Counter()
        winners: list[int] = []

        async def end(number: int) -> None:
            status = ("completed", "failed", "cancelled")[number % 3]
            is_first = await store.settle("run", end_row(status, reason=str(number)), None, owner=ME)
            told[is_first] += 1
            winners.extend([number] * is_first)

        async with anyio.create_task_group() as group:
            for number in range(100):
                group.start_soon(end, number)
        assert told == {True: 1, False: 99}
        run = await store.run("run")
        assert run.end is not None
        assert run.end.reason == str(winners[0])

    async def test_only_its_owner_ends_a_run_that_is_walked(self, store: RunStore) -> None:
        await store.create(run_row(), write_of())
        with pytest.raises(RunConflict, match=ME):
            await store.settle("run", end_row(), None, owner="host two")
        with pytest.raises(RunConflict, match=ME):
            await store.settle("run", end_row("cancelled", LEASE - 1), None, owner=None)
        assert await store.run("run") == run_row()
        assert await store.settle("run", end_row("cancelled", LEASE + 1), None, owner=None) is True

    async def test_a_run_that_nobody_walks_is_ended_by_anybody(self, store: RunStore) -> None:
        await store.create(run_row(), write_of())
        await store.release("run", ME)
        assert await store.settle("run", end_row("cancelled", BEGAN + 1), None, owner=None) is True
        assert (await store.run("run")).status == "cancelled"

    async def test_delegated_runs_end_with_the_one_that_delegated_them(self, store: RunStore) -> None:
        for run_id, parent in (("run", ""), ("child", "run"), ("grandchild", "child"), ("other", "elsewhere")):
            row = run_row(run_id, owner=f"host of {run_id}", trigger=Trigger("delegation", parent=parent))
            rows = {"calls": (call_row(),), "requests": (request_row(),)}
            await store.create(row, write_of(run_id, f"host of {run_id}", **rows))
        await store.create(run_row("done", trigger=Trigger("delegation", parent="run")), write_of("done"))
        await store.settle("done", end_row("completed"), None, owner=ME)
        await store.settle("run", end_row("failed", BEGAN + 70), None, owner="host of run")
        for run_id in ("child", "grandchild"):
            stored = await store.load(run_id)
            assert stored.run.end == end_row("cancelled", BEGAN + 70, reason="parent")
            assert (stored.run.status, stored.run.owner) == ("cancelled", "")
            assert [row.status for row in stored.calls] == ["unknown"]
            assert [row.status for row in stored.requests] == ["withdrawn"]
            with pytest.raises(RunConflict):
                await written(store, write_of(run_id, f"host of {run_id}", visits=(visit_row(1),)))
        assert (await store.run("done")).end == end_row("completed")
        assert (await store.run("other")).status == "waiting"
        active = await store.runs(status=("running", "paused", "waiting"))
        assert [run.run_id for run in active] == ["other"]

    async def test_runs_that_delegated_one_another_end_as_well(self, store: RunStore) -> None:
        for run_id, parent in (("run", "other"), ("other", "run"), ("own", "own")):
            await store.create(run_row(run_id, trigger=Trigger("delegation", parent=parent)), write_of(run_id))
        assert await store.settle("run", end_row(), None, owner=ME) is True
        assert await store.settle("own", end_row(), None, owner=ME) is True
        told = [(run.run_id, run.status) for run in await store.runs()]
        assert told == [("own", "completed"), ("other", "cancelled"), ("run", "completed")]

    async def test_what_was_handed_over_before_an_ending_is_written_before_it(self, store: RunStore) -> None:
        await store.create(run_row(), write_of())
        await store.create(run_row("other"), write_of("other"))
        for seq in (1, 2, 3):
            store.commit(write_of("other", visits=(visit_row(seq),)))
            store.commit(write_of(visits=(visit_row(seq),)))
        assert await store.settle("run", end_row(), None, owner=ME) is True
        assert [row.seq for row in (await store.load("run")).visits] == [1, 2, 3]

    async def test_an_ending_that_cannot_be_written_changes_nothing(self, store: RunStore) -> None:
        await store.create(run_row(), write_of(visits=(visit_row(1),), calls=(call_row(),)))
        await store.create(run_row("child", trigger=Trigger("delegation", parent="run")), write_of("child"))
        again = write_of(frames=(frame_row(),), visits=(visit_row(1),))
        with pytest.raises(RunConflict):
            await store.settle("run", end_row(), again, owner=ME)
        stored = await store.load("run")
        assert (stored.run, stored.frames, stored.calls) == (run_row(), [], [call_row()])
        assert (await store.run("child")).status == "running"
        assert await store.settle("run", end_row(), None, owner=ME) is True
