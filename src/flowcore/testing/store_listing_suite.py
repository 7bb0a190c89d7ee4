"""The part of the store contract suite on finding runs and on removing them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from ..errors import RunConflict, RunNotFound
from ..store import RunRow, RunStore
from ..trigger import Trigger
from .store_rows import (
    BEGAN,
    LEASE,
    ME,
    call_row,
    end_row,
    frame_row,
    note_row,
    request_row,
    run_row,
    visit_row,
    write_of,
    written,
)

__all__ = ["ListingContract"]

_Ask = Callable[[RunStore], Awaitable[object]]
_ASKS: tuple[_Ask, ...] = (
    lambda store: written(store, write_of("none", visits=(visit_row(),))),
    lambda store: written(store, write_of("none", status="paused")),
    lambda store: store.settle("none", end_row(), None, owner=None),
    lambda store: store.take("none", ME, BEGAN, LEASE),
    lambda store: store.renew("none", ME, LEASE),
    lambda store: store.release("none", ME),
    lambda store: store.signal("none", "stop", "ann"),
    lambda store: store.answer("none", "q1", "1", "ann", BEGAN),
    lambda store: store.attention("none", ME, BEGAN),
    lambda store: store.run("none"),
    lambda store: store.requests("none"),
    lambda store: store.load("none"),
    lambda store: store.delete("none"),
)
"""Whatever may be asked of a run, of one that is not there."""


class ListingContract:
    """Runs are found, told as they stand, and removed when they have ended."""

    async def test_runs_are_listed_the_latest_first(self, store: RunStore) -> None:
        for run_id, began in (("b", 2.0), ("a", 1.0), ("d", 3.0), ("c", 3.0)):
            await store.create(run_row(run_id, began=began), write_of(run_id))
        assert await ids(store.runs()) == ["c", "d", "b", "a"]
        assert await ids(store.runs(limit=2)) == ["c", "d"]
        assert await ids(store.runs(limit=0)) == []
        assert await ids(store.runs(before=3.0)) == ["b", "a"]
        assert await ids(store.runs(before=3.0, limit=1)) == ["b"]

    async def test_runs_are_found_by_what_they_are(self, store: RunStore) -> None:
        rows = {
            "1": run_row("1", flow="f", trigger=Trigger("chat", user="ann", conversation="c1")),
            "2": run_row("2", flow="f", trigger=Trigger("chat", user="bob", conversation="c1")),
            "3": run_row("3", flow="g", trigger=Trigger("schedule", user="ann")),
            "4": run_row("4", flow="g", trigger=Trigger("delegation", parent="3")),
        }
        for run_id, row in rows.items():
            await store.create(row, write_of(run_id))
        assert await ids(store.runs(flow="f")) == ["2", "1"]
        assert await ids(store.runs(user="ann")) == ["3", "1"]
        assert await ids(store.runs(conversation="c1", user="bob")) == ["2"]
        assert await ids(store.runs(parent="3")) == ["4"]
        assert await ids(store.runs(user="nobody")) == []
        assert await store.runs(parent="3") == [rows["4"]]

    async def test_a_run_that_has_a_pending_request_waits(self, store: RunStore) -> None:
        for run_id, status in (("asks", "running"), ("runs", "running"), ("paused", "paused")):
            requests = () if run_id == "runs" else (request_row(),)
            await store.create(run_row(run_id, status=status), write_of(run_id, requests=requests))
        await store.create(run_row("ended"), write_of("ended"))
        await store.settle("ended", end_row("failed"), None, owner=ME)
        assert [run.status for run in await store.runs()] == ["failed", "paused", "running", "waiting"]
        assert await ids(store.runs(status=("waiting",))) == ["asks"]
        assert await ids(store.runs(status=("running", "failed"))) == ["ended", "runs"]
        assert (await store.run("asks")).status == (await store.load("asks")).run.status == "waiting"
        await store.answer("asks", "q1", "1", "bob", BEGAN + 10)
        assert (await store.run("asks")).status == "running"

    @pytest.mark.parametrize("kind", ["direct", "chat", "schedule", "event", "message", "delegation"])
    async def test_each_source_leaves_one_record(self, store: RunStore, kind: Any) -> None:
        trigger = Trigger(kind, user="ann", agent="desk", conversation="c", parent="p")
        await store.create(run_row(trigger=trigger), write_of(visits=(visit_row(1),)))
        await store.settle("run", end_row(), write_of(visits=(visit_row(6),)), owner=ME)
        assert [run.trigger for run in await store.runs()] == [trigger]

    async def test_an_ended_run_is_removed_with_everything(self, store: RunStore) -> None:
        rows: dict[str, Any] = {
            "frames": (frame_row(),),
            "visits": (visit_row(),),
            "notes": (note_row(),),
            "calls": (call_row(),),
            "requests": (request_row(),),
        }
        for run_id in ("run", "other"):
            await store.create(run_row(run_id), write_of(run_id, **rows))
        with pytest.raises(RunConflict, match="run"):
            await store.delete("run")
        await store.settle("run", end_row(), None, owner=ME)
        other = await store.load("other")
        await store.delete("run")
        with pytest.raises(RunNotFound):
            await store.load("run")
        assert await ids(store.runs()) == ["other"]
        assert await store.load("other") == other
        await store.create(run_row(), write_of())
        stored = await store.load("run")
        assert (stored.frames, stored.visits, stored.notes) == ([], [], [])
        assert (stored.calls, stored.requests, stored.run) == ([], [], run_row())

    async def test_old_runs_are_pruned(self, store: RunStore) -> None:
        for number, status in enumerate(("completed", "failed", "completed", "cancelled")):
            await store.create(run_row(str(number)), write_of(str(number), visits=(visit_row(),)))
            await store.settle(str(number), end_row(status, BEGAN + number), None, owner=ME)
        await store.create(run_row("active", began=0.0), write_of("active"))
        assert await store.prune(BEGAN) == 0
        assert await store.prune(BEGAN + 2, status=("failed", "running")) == 1
        assert await ids(store.runs()) == ["3", "2", "0", "active"]
        assert await store.prune(BEGAN + 3) == 2
        assert await ids(store.runs()) == ["3", "active"]
        assert await store.prune(LEASE + 1e9) == 1
        assert await ids(store.runs()) == ["active"]

    @pytest.mark.parametrize("ask", _ASKS)
    async def test_a_run_that_is_not_there_is_named(self, store: RunStore, ask: _Ask) -> None:
        await store.create(run_row(), write_of())
        with pytest.raises(RunNotFound, match="none"):
            await ask(store)

    async def test_a_status_that_there_is_not_is_refused(self, store: RunStore) -> None:
        done: Any = ("done",)
        with pytest.raises(ValueError, match="done"):
            await store.runs(status=done)


async def ids(listed: Awaitable[list[RunRow]]) -> list[str]:
    """Return the ids of runs."""
    return [run.run_id for run in await listed]
