"""`step.once`: a value that is made once in a visit, however often the visit or its attempts begin again."""

from __future__ import annotations

import os
import sys
import threading
import uuid
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from tests.stored.dying import RUN, Hangs, Job, killed_at, process, resumed, store_of

from flowcore import Complete, Flow, Retry, Step, node
from flowcore.errors import ContractError, NotSerialisable
from flowcore.store import RunStore, SQLiteRunStore
from flowcore.testing import FakeClock


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> RunStore:
    return store_of(request.param, tmp_path)


@pytest.mark.behaviour("A89")
async def test_a_value_is_the_same_after_a_death(store: RunStore) -> None:
    hangs, clock, made = Hangs({"after"}), FakeClock(), list[Any]()

    @node
    async def go(step: Step[Job]) -> Complete[tuple[uuid.UUID, None, Job]]:
        async def nothing() -> None:
            made.append("nothing")

        values = (
            await step.once("id", uuid.uuid4),
            await step.once("nothing", nothing),  # type: ignore[func-returns-value]
            await step.once("job", lambda: Job("x", ["y"])),
        )
        made.append(values)
        await hangs.do("after")
        return Complete(values)

    flow = Flow("once", go)
    await killed_at(hangs, flow, store, clock)
    again = await resumed(flow, store, clock)
    assert made == ["nothing", again.value, again.value]
    assert again.statuses == [("once", "id", "done"), ("once", "nothing", "done"), ("once", "job", "done")]
    assert [(event.of, event.name) for event in again.heard("call.recalled")] == [
        ("once", "id"),
        ("once", "nothing"),
        ("once", "job"),
    ]


async def test_attempts_of_a_visit_share_it_and_visits_do_not() -> None:
    made: list[int] = []

    @node
    async def go(step: Step[Job]) -> Complete[int]:
        def make() -> int:
            made.append(step.attempt)
            return len(made)

        first, second = await step.once("number", make), await step.once("number", make)
        assert first == second
        if step.attempt < 3:
            raise ValueError("again")
        return Complete(first)

    flow = Flow("once", go.using(retry=Retry(attempts=3)))
    assert [await flow.run(Job()), await flow.run(Job())] == [1, 2]
    assert made == [1, 1]


async def test_a_failed_or_interrupted_call_is_made_again(store: RunStore) -> None:
    hangs, clock = Hangs({"begun"}), FakeClock()

    @node
    async def go(step: Step[Job]) -> Complete[int]:
        async def make() -> int:
            await hangs.do("begun")
            if len(hangs.did) < 3:
                raise ValueError("not yet")
            return len(hangs.did)

        return Complete(await step.once("number", make))

    flow = Flow("once", go.using(retry=Retry(attempts=2)))
    await killed_at(hangs, flow, store, clock)
    again = await resumed(flow, store, clock)
    assert (again.value, hangs.did) == (3, ["begun"] * 3)


async def test_two_at_once_make_it_once() -> None:
    made: list[str] = []

    @node
    async def go(step: Step[Job]) -> Complete[list[Any]]:
        found: list[Any] = []

        async def make() -> int:
            made.append(step.path)
            await anyio.lowlevel.checkpoint()
            return len(made)

        async def one() -> None:
            found.append(await step.once("number", make))

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(one)
        return Complete(found)

    assert await Flow("once", go).run(Job()) == [1, 1, 1]


async def test_what_cannot_be_written_is_refused_with_its_place() -> None:
    @node
    async def go(step: Step[Job]) -> Complete[None]:
        await step.once("lock", lambda: {"held": threading.Lock()})
        return Complete(None)

    for store in (None, store_of("memory", Path())):
        with pytest.raises(NotSerialisable, match=r"go#1: once 'lock'"):
            await Flow("once", go).run(Job(), store=store)


async def test_what_is_no_key_and_no_function_is_refused() -> None:
    step: Step[Job, Any] = Step(Job())
    assert await step.once("text", lambda: "x") == "x"
    wrong: list[Any] = [(1, str), ("x", "y")]
    for key, fn in wrong:
        with pytest.raises(ContractError, match="give a text, and a function of nothing"):
            await step.once(key, fn)


async def test_what_it_returned_may_be_changed_and_is_recorded_as_it_was(store: RunStore) -> None:
    hangs, clock = Hangs({"after"}), FakeClock()

    @node
    async def go(step: Step[Job]) -> Complete[list[int]]:
        numbers = await step.once("numbers", lambda: [1])
        numbers.append(2)
        await hangs.do("after")
        return Complete(numbers)

    flow = Flow("once", go)
    await killed_at(hangs, flow, store, clock)
    assert (await resumed(flow, store, clock)).result.value == [1, 2]


@pytest.mark.behaviour("A89")
def test_a_killed_process_finds_its_value(tmp_path: Path) -> None:
    database, seen = tmp_path / "runs.db", tmp_path / "seen"
    assert process(__file__, str(database), str(seen), "dies") == 9
    assert process(__file__, str(database), str(seen), "") == 0
    first, second = seen.read_text().split()
    assert first == second


async def _child(database: str, seen: Path, dies: str) -> None:
    @node
    async def go(step: Step[Job]) -> Complete[datetime]:
        now = await step.once("now", datetime.now)
        with seen.open("a") as file:
            file.write(f"{now.isoformat()}\n")
        if dies:
            os._exit(9)
        return Complete(now)

    flow, store, clock = Flow("once", go), SQLiteRunStore(database), FakeClock()
    if dies:
        await flow.run(Job(), store=store, run_id=RUN, clock=clock)
    await clock.advance(60)
    await flow.resume(RUN, store=store, clock=clock)


if __name__ == "__main__":
    anyio.run(_child, sys.argv[1], Path(sys.argv[2]), sys.argv[3])
