"""Callers of stored runs that are cancelled, at each of their moments: no task is left, and no half record."""

from __future__ import annotations

import asyncio  # noqa: TID251 - its own way of cancelling a task passes through anyio's shields
from typing import Any, NamedTuple

import anyio
import anyio.lowlevel
import pytest
from tests.core.runs import does, ends
from tests.stepping import living, quiet_down
from tests.stored.mortal import MortalStore
from tests.stored.slowly import Slowly

from flowcore import Flow, parallel
from flowcore.errors import RunNotFound, StoreError
from flowcore.runtime.opening import codec_of
from flowcore.store import MemoryRunStore, RunStore, SQLiteRunStore
from flowcore.store.reading import read_trace
from flowcore.testing.host_flows import Work

pytestmark = pytest.mark.anyio
RUN = "run"
_MOST = 120


def moment(step: Any) -> Any:
    return anyio.lowlevel.checkpoint()


LAST = ends(Work, lambda step: "done")
FAN = parallel("fan", does(moment, "left", Work), does(moment, "right", Work))
FLOW = Flow("moments", does(moment, "first", Work).to(FAN), FAN.to(LAST), LAST)


class End(NamedTuple):
    """How a caller ended, and how the record stands then: its status, whose it is, what is active in it."""

    value: Any
    status: str
    owner: str
    active: tuple[str, ...]
    last: str


async def standing(store: RunStore, value: Any) -> End:
    try:
        stored = await store.load(RUN)
    except RunNotFound:
        return End(value, "", "", (), "")
    rows = [row.key for row in stored.calls if row.status == "dispatched"]
    rows += [row.key for row in stored.requests if row.status == "pending"]
    trace = read_trace(stored, codec_of(FLOW.plan))
    return End(
        value, stored.run.status, stored.run.owner, tuple(rows), trace.notes[-1].event.kind if trace.notes else ""
    )


async def left_behind(store: RunStore) -> None:
    """Writes a run whose process has died, and whose lease is over."""
    dying: Any = MortalStore(store, 2)
    with pytest.raises(StoreError):
        await FLOW.run(Work(), store=dying, run_id=RUN)
    await store.release(RUN, (await store.run(RUN)).owner)


async def called(store: Any, *, resumes: bool) -> Any:
    if resumes:
        return await FLOW.resume(RUN, store=store)
    return await FLOW.run(Work(), store=store, run_id=RUN)


async def cancelled_at(moments: int, store: RunStore, call: Any) -> End:
    given: list[Any] = []
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:

            async def work() -> None:
                given.append(await call())

            group.start_soon(work)
            for _ in range(moments):
                await anyio.lowlevel.checkpoint()
            scope.cancel()
    return await standing(store, given[0] if given else None)


async def task_cancelled_at(moments: int, store: RunStore, call: Any) -> End:
    task = asyncio.get_running_loop().create_task(call())
    for _ in range(moments):
        await asyncio.sleep(0)
    task.cancel()
    found = await asyncio.gather(task, return_exceptions=True)
    given = None if isinstance(found[0], asyncio.CancelledError) else found[0]
    return await standing(store, given)


@pytest.fixture(params=["memory", "sqlite"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("resumes", [False, True])
async def test_a_caller_is_cancelled_at_each_moment(kind: str, resumes: bool, tmp_path: Any) -> None:
    await at_each_moment(kind, resumes, tmp_path, cancelled_at)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("resumes", [False, True])
async def test_the_task_of_a_caller_is_cancelled_at_each_moment(kind: str, resumes: bool, tmp_path: Any) -> None:
    await at_each_moment(kind, resumes, tmp_path, task_cancelled_at)


async def at_each_moment(kind: str, resumes: bool, folder: Any, cancelled: Any) -> None:
    seen: set[str] = set()
    for moments in range(_MOST) if kind == "memory" else range(0, _MOST // 2, 3):
        store: RunStore = MemoryRunStore() if kind == "memory" else SQLiteRunStore(folder / f"{moments}.db")
        if resumes:
            await left_behind(store)
        before = living()
        with anyio.fail_after(20):
            end = await cancelled(moments, store, lambda store=store: called(Slowly(store), resumes=resumes))
        assert await quiet_down(before) == before, moments
        untouched = ("running", "", ()) if resumes else ("", "", ())
        if end[1:4] == untouched:
            assert moments < 3, end  # it was cancelled before it began
        else:
            told = {"cancelled": "run.cancelled", "completed": "run.completed"}
            assert end[1:] == (end.status, "", (), told[end.status]), moments
        seen.add(end.status)
        if end.value is not None:
            assert end[:2] == ("done", "completed")
        await store.aclose()
        if end.value is not None:
            break
    assert "cancelled" in seen
    if kind == "memory":  # how long a file takes is chance
        assert "completed" in seen
