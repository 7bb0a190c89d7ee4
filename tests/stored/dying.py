"""Runs whose process dies in the middle of a visit, and tools and nodes that hang until it does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel

from flowcore import Flow, Run, RunResult
from flowcore.errors import StoreError
from flowcore.events import Event
from flowcore.store import CallRow, MemoryRunStore, RunStore, SQLiteRunStore
from flowcore.testing import FakeClock

RUN = "run"
LEASE = 31.0
ROOT = Path(__file__).parents[2]


@dataclass
class Job:
    text: str = ""
    paid: list[str] = field(default_factory=list)


class Process:
    """What a process has of a store: as long as it lives."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self.is_dead = False

    def __getattr__(self, name: str) -> Any:
        if self.is_dead and name != "listen":
            raise StoreError("this process is dead")
        return getattr(self._store, name)


@dataclass
class Hangs:
    """Hangs where it is told to, and says that it does."""

    at: set[str] = field(default_factory=set)
    did: list[str] = field(default_factory=list)
    begun: anyio.Event = field(default_factory=anyio.Event)

    async def do(self, name: str) -> None:
        """Does something, and then hangs, if it is to."""
        self.did.append(name)
        if name in self.at:
            self.at.discard(name)
            self.begun.set()
            await anyio.sleep_forever()


def store_of(kind: str, folder: Path) -> RunStore:
    return MemoryRunStore() if kind == "memory" else SQLiteRunStore(folder / "runs.db")


@asynccontextmanager
async def dying(
    flow: Flow[Any, Any, Any], store: RunStore, clock: FakeClock, start: Any = None, **options: Any
) -> AsyncIterator[Run[Any]]:
    """Begins a run, or goes on with one; its process dies with the block, and then its lease runs out.

    It begins with a `Job`, if it is not said with what.
    """
    process: Any = Process(store)
    known = [row.run_id for row in await store.runs()]
    run = (
        flow.reopen(RUN, store=process, clock=clock, **options)
        if RUN in known
        else flow.start(Job() if start is None else start, run_id=RUN, store=process, clock=clock, **options)
    )
    async with run:
        with anyio.fail_after(10):
            yield run
        process.is_dead = True
        await run.cancel("shutdown")
    await clock.advance(LEASE)


async def killed_at(
    hangs: Hangs, flow: Flow[Any, Any, Any], store: RunStore, clock: FakeClock, **options: Any
) -> None:
    """Runs a flow until it hangs; then the process dies."""
    async with dying(flow, store, clock, **options) as run:
        while not hangs.begun.is_set():
            await anyio.lowlevel.checkpoint()
            assert run.trace.ending is None, run.trace.ending
    hangs.begun = anyio.Event()


@dataclass
class Resumed:
    """How a run ended that was resumed, and what was told of it."""

    result: RunResult[Any]
    events: list[Event]
    calls: list[CallRow]

    @property
    def value(self) -> Any:
        return self.result.value

    def heard(self, *kinds: str) -> list[Any]:
        return [event for event in self.events if event.kind in kinds]

    @property
    def statuses(self) -> list[tuple[str, str, str]]:
        """Kind, name and status of each recorded call."""
        return [(row.kind, row.name, row.status) for row in self.calls]


async def resumed(
    flow: Flow[Any, Any, Any],
    store: RunStore,
    clock: FakeClock,
    meanwhile: Callable[[Run[Any]], Any] | None = None,
    **options: Any,
) -> Resumed:
    """Goes on with a run to its end."""
    events: list[Event] = []
    async with flow.reopen(RUN, store=store, clock=clock, **options) as run:
        seen = run.trace.notes[-1].seq if run.trace.notes else 0
        with anyio.fail_after(20):
            if meanwhile is not None:
                await meanwhile(run)
            result = await run.wait()
        events = [event async for event in run.events(after=seen)]
    return Resumed(result, events, (await store.load(RUN)).calls)


async def asked(run: Run[Any]) -> Any:
    """Returns the first request, when there is one."""
    while not run.requests:
        await anyio.lowlevel.checkpoint()
    return run.requests[0]


def process(*command: str) -> int:
    """Runs a test file as a process of its own; returns how it ended."""
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False, timeout=50
    )
    return done.returncode
