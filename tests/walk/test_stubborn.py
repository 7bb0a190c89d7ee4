"""Nodes that swallow, shield, ignore, delay or answer what stops them: status, time, work and what is left."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.stepping import living, passes, quiet_down

from flowcore.events import Event

from .stubborn import AT_ONCE, GRACE, NEVER, SOON, STOPS, Manner, Room, Seen, stop_it

MOST_DELIVERIES = 20
ALL = [*AT_ONCE, *SOON, *NEVER]


def named(manner: Any) -> str:
    return manner.__name__ if callable(manner) else str(manner)


@pytest.mark.behaviour("A45", "A47", "A51", "A61", "Z05", "S4-20")
@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("manner", ALL, ids=named)
async def test_however_a_node_takes_it_the_request_decides(manner: Manner, stop: str) -> None:
    alive = living()
    room = Room()
    began = time.process_time()
    async with held(room):
        seen = await stop_it(room, manner, stop)
        used = time.process_time() - began
        expect_stopped(room, seen, manner, stop)
    assert used < 0.5
    await quiet_down(alive)
    assert (living(), room.working) == (alive, 0)


def expect_stopped(room: Room, seen: Seen, manner: Manner, stop: str) -> None:
    expect_status(seen, manner, stop)
    assert seen.took == pytest.approx(0.0 if manner in AT_ONCE else 0.5 if manner in SOON else GRACE)
    assert room.deliveries <= MOST_DELIVERIES
    path = "part#1/work#1" if stop.startswith("sub") else "work#1"
    assert seen.result.stragglers == ((path,) if manner in NEVER else ())
    assert room.working == (manner in NEVER)
    expect_whole(seen.events)


@asynccontextmanager
async def held(room: Room) -> AsyncGenerator[None]:
    """Lets go, in the end, of what holds out in the room; by then nobody may listen to it."""
    try:
        yield
        seen = list(room.seen)
        room.released.set()
        await passes(50)
        assert room.seen == seen
    finally:
        room.released.set()


def expect_status(seen: Seen, manner: Manner, stop: str) -> None:
    result = seen.result
    last = seen.events[-1]
    assert last.kind == f"run.{result.status}"
    if stop in ("cancel", "caller", "leave"):
        assert (result.status, result.reason, result.exhausted) == ("cancelled", "user", None)
        assert result.trace.path == "work!"
        assert result.failure is None
    elif stop in ("seconds", "deadline"):
        assert (result.status, result.exhausted) == ("failed", "seconds")
        assert result.failure is not None
        assert result.failure.code == "budget_exhausted"
        assert result.trace.path == "work!"
        assert [event.kind for event in seen.events].count("budget.exhausted") == 1
    elif manner in NEVER:
        assert result.status == "failed"
        assert result.failure is not None
        assert result.failure.type == ("BudgetExhausted" if stop == "sub seconds" else "NodeTimeout")
    else:
        kind = "BudgetExhausted" if stop == "sub seconds" else "NodeTimeout"
        path = "part!(work!) > end" if stop.startswith("sub") else "work! > end"
        assert (result.status, result.value, result.trace.path) == ("completed", kind, path)
    assert result.state.log == []


def expect_whole(events: list[Event]) -> None:
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [event.kind.startswith("run.") for event in events] == [True, *[False] * (len(events) - 2), True]
    began = [event.path for event in events if event.kind == "node.started"]
    over = [event.path for event in events if event.kind in ("node.finished", "node.failed")]
    assert sorted(began) == sorted(over)


@pytest.mark.parametrize("stop", ["cancel", "seconds", "timeout", "sub timeout"])
@pytest.mark.parametrize("manner", [m for m in ALL if m not in SOON], ids=named)
async def test_without_grace_a_node_is_asked_and_not_waited_for(manner: Manner, stop: str) -> None:
    alive = living()
    room = Room()
    began = time.process_time()
    async with held(room):
        seen = await stop_it(room, manner, stop, grace=0)
        await passes(300)
        used = time.process_time() - began
        assert seen.took == 0
        assert room.deliveries <= MOST_DELIVERIES
        assert seen.result.status in (("cancelled",) if stop == "cancel" else ("failed", "completed"))
        assert room.working == (manner in NEVER)
    assert used < 0.5
    await quiet_down(alive)
    assert (living(), room.working) == (alive, 0)
