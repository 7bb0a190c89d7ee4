"""Whatever is asked of them, and in whatever order: both stores answer the same, and hold the same."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowcore.errors import RunConflict, RunNotFound
from flowcore.store import MemoryRunStore, RunStore, SQLiteRunStore
from flowcore.testing.store_rows import (
    BEGAN,
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
from flowcore.trigger import Trigger

Ask = Callable[[RunStore], Awaitable[Any]]

ids = st.sampled_from(["a", "b", "c"])
owners = st.sampled_from(["one", "two", ""])
times = st.integers(0, 12).map(lambda number: BEGAN + number * 10.0)
few = st.integers(1, 6)


def _tuples(rows: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(rows, max_size=2).map(tuple)


writes = st.fixed_dictionaries(
    {},
    optional={
        "visits": _tuples(few.map(visit_row)),
        "notes": _tuples(few.map(note_row)),
        "frames": _tuples(st.builds(lambda number, node: frame_row(number, node=node), few, ids)),
        "calls": _tuples(
            st.builds(
                lambda key, status: call_row(key, status=status), ids, st.sampled_from(["dispatched", "done"])
            )
        ),
        "requests": _tuples(
            st.builds(
                lambda id, status, opened: request_row(id, status=status, opened=opened, expires=opened + 60),
                ids,
                st.sampled_from(["pending", "expired"]),
                times,
            )
        ),
        "status": st.sampled_from(["", "running", "paused"]),
        "spent": st.sampled_from(["", "1", "2"]),
    },
)
ends = st.builds(end_row, st.sampled_from(["completed", "failed", "cancelled"]), times)
signals = st.sampled_from(["", "resume", "pause", "stop", "interrupt"])


def _create(run_id: str, parent: str, owner: str, lease: float, rows: dict[str, Any]) -> Ask:
    run = run_row(run_id, owner=owner, lease=lease, trigger=Trigger("delegation", parent=parent, user=parent))
    return lambda store: store.create(run, write_of(run_id, owner, **rows))


def _settle(run_id: str, end: Any, rows: dict[str, Any] | None, owner: str | None) -> Ask:
    write = None if rows is None else write_of(run_id, owner or "", **rows)
    return lambda store: store.settle(run_id, end, write, owner=owner)


def _method(name: str, *values: st.SearchStrategy[Any]) -> st.SearchStrategy[Ask]:
    return st.builds(lambda *given: lambda store: getattr(store, name)(*given), *values)


asks: st.SearchStrategy[Ask] = st.one_of(
    st.builds(_create, ids, st.sampled_from(["", "a", "b"]), owners, times, writes),
    st.builds(
        lambda run_id, owner, rows: lambda store: written(store, write_of(run_id, owner, **rows)),
        ids,
        owners,
        writes,
    ),
    st.builds(_settle, ids, ends, st.none() | writes, st.none() | owners),
    _method("take", ids, owners.filter(bool), times, times),
    _method("renew", ids, owners, times),
    _method("release", ids, owners),
    _method("signal", ids, signals, ids),
    _method("answer", ids, ids, ids, ids, times),
    _method("attention", ids, owners, times),
    _method("delete", ids),
    _method("prune", times),
)


FIRST = (
    _create(
        "a", "", "one", BEGAN + 60, {"requests": (request_row("a"), request_row("b")), "calls": (call_row("a"),)}
    ),
    _create("b", "a", "one", BEGAN + 60, {"visits": (visit_row(1),)}),
)


async def _answer_of(store: RunStore, ask: Ask) -> Any:
    try:
        return await ask(store)
    except (RunConflict, RunNotFound) as error:
        return type(error), str(error).replace(store.name, "the store")


async def _all_of(store: RunStore) -> Any:
    runs = await store.runs()
    stored = [await store.load(run.run_id) for run in runs]
    waiting = [run.run_id for run in await store.runs(status=("waiting",), user="a")]
    pending = [await store.requests(run.run_id) for run in runs]
    return runs, stored, waiting, pending


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(asks, max_size=30))
def test_both_stores_answer_the_same(given: list[Ask]) -> None:
    async def ask_both(path: Path) -> None:
        one, other = MemoryRunStore(), SQLiteRunStore(path, synchronous="NORMAL")
        for number, ask in enumerate([*FIRST, *given]):
            assert (number, await _answer_of(one, ask)) == (number, await _answer_of(other, ask))
        assert await _all_of(one) == await _all_of(other)
        await other.aclose()

    with tempfile.TemporaryDirectory() as folder:
        anyio.run(ask_both, Path(folder) / "runs.db")
