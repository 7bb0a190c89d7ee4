"""Stored runs beside the least that stores: two statements in a transaction for each visit, in SQLite too.

The files lie in the folder for temporary files; TMPDIR names another one. In memory nothing would be flushed.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal

import anyio

from benchmarks.harness_adapter import UNLIMITED, Count, build_loop
from flowcore import Complete, Continue, Flow, Step, node
from flowcore.store import SQLiteRunStore

Job = Callable[[], Awaitable[int]]
Synchronous = Literal["FULL", "NORMAL"]
VERSIONS: tuple[str, ...] = ()
_AT_ONCE = 50
_TABLES = """
CREATE TABLE runs (id TEXT PRIMARY KEY, node TEXT NOT NULL);
CREATE TABLE visits (run INTEGER, number INTEGER, node TEXT, patch TEXT, PRIMARY KEY (run, number)) WITHOUT ROWID;
"""


@cache
def _folder() -> Path:
    """Return a folder that goes when this process does."""
    _kept.append(tempfile.TemporaryDirectory())
    return Path(_kept[0].name)


_kept: list[tempfile.TemporaryDirectory[str]] = []


def on_disk() -> int:
    """Return how many bytes all the databases have when their logs are brought over."""
    found = list(_folder().glob("*.db"))
    for path in found:
        connection = sqlite3.connect(path)
        while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            time.sleep(0.01)  # the store is just doing the same
        connection.close()
    return sum(path.stat().st_size for path in found)


def _store(synchronous: Synchronous) -> SQLiteRunStore:
    return SQLiteRunStore(_folder() / f"{uuid.uuid4().hex}.db", synchronous=synchronous)


def _durable(size: int, synchronous: Synchronous) -> Job:
    flow, store = build_loop(size), _store(synchronous)
    return lambda: flow.run(Count(goal=size), budget=UNLIMITED, store=store)


def durable_full(size: int) -> Job:
    """A stored loop of two nodes; each visit survives a loss of power."""
    return _durable(size, "FULL")


def durable_normal(size: int) -> Job:
    """The same; each visit survives the end of the process."""
    return _durable(size, "NORMAL")


def durable50(size: int) -> Job:
    """The same for 50 runs at once, which have `size` visits together."""
    runs = min(_AT_ONCE, size // 2)
    flow, store = build_loop(size // runs), _store("FULL")

    async def job() -> int:
        counted: list[int] = []

        async def one() -> None:
            counted.append(await flow.run(Count(goal=size // runs), budget=UNLIMITED, store=store))

        async with anyio.create_task_group() as group:
            for _ in range(runs):
                group.start_soon(one)
        return sum(counted)

    return job


def resume(size: int) -> Job:
    """Take a copy of a run that was left after `size` visits, and resume it: one visit is missing."""
    waiting = anyio.Event()

    @node(starts_round=True)
    async def count(step: Step[Count]) -> Continue | Complete[int]:
        if step.state.n == size and left == []:
            waiting.set()
            await anyio.sleep_forever()
        step.state.n += step.state.n < size
        return Continue() if step.visit <= size else Complete(step.state.n)

    flow = Flow("long", count.to(count))
    left: list[Path] = []

    async def leave() -> None:
        """Walk to the last visit, and let somebody else have the run."""
        store = _store("NORMAL")
        async with flow.start(Count(), budget=UNLIMITED, store=store, run_id="long") as run:
            await waiting.wait()
            await store.release("long", (await store.run("long")).owner)
            await run.wait()
        await store.aclose()
        left.append(Path(store.name))

    async def job() -> int:
        if not left:
            await leave()
        path = _folder() / f"{uuid.uuid4().hex}.db"
        shutil.copyfile(left[0], path)
        store = SQLiteRunStore(path, synchronous="NORMAL")
        counted: int = await flow.resume("long", store=store)
        await store.aclose()
        path.unlink()
        return counted

    return job


def _database(synchronous: Synchronous) -> sqlite3.Connection:
    connection = sqlite3.connect(_folder() / f"{uuid.uuid4().hex}.db", isolation_level=None)
    connection.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous}; {_TABLES}")
    return connection


class _Bare:
    """Bare loops of two handlers, which write each visit and where they stand next."""

    def __init__(self, synchronous: Synchronous) -> None:
        self.connection = _database(synchronous)
        self._runs = 0

    def begin(self) -> tuple[int, str]:
        """Write a run that begins."""
        self._runs += 1
        self.connection.execute("INSERT INTO runs VALUES (?, 'one')", (f"run {self._runs}",))
        return self._runs, f"run {self._runs}"

    def write(self, key: int, run: str, state: dict[str, int], here: str) -> None:
        """Write a visit, in a transaction that somebody has begun."""
        visit = (key, state["n"], here, json.dumps({"n": state["n"]}))
        self.connection.execute("INSERT INTO visits VALUES (?, ?, ?, ?)", visit)
        self.connection.execute("UPDATE runs SET node = ? WHERE id = ?", (here, run))


async def _add(state: dict[str, int]) -> None:
    state["n"] += 1


_HANDLERS: dict[str, tuple[Callable[[dict[str, int]], Awaitable[None]], str]] = {
    "one": (_add, "two"),
    "two": (_add, "one"),
}


def _bare(size: int, synchronous: Synchronous) -> Job:
    bare = _Bare(synchronous)
    execute = bare.connection.execute

    async def job() -> int:
        key, run = bare.begin()
        state, here = {"n": 0}, "one"
        while state["n"] < size:
            handler, here = _HANDLERS[here]
            await handler(state)
            execute("BEGIN IMMEDIATE")
            bare.write(key, run, state, here)
            execute("COMMIT")
        return state["n"]

    return job


def bare_full(size: int) -> Job:
    return _bare(size, "FULL")


def bare_normal(size: int) -> Job:
    return _bare(size, "NORMAL")


def bare50(size: int) -> Job:
    """50 bare loops in step: what they write at once is one transaction."""
    bare, runs = _Bare("FULL"), min(_AT_ONCE, size // 2)

    async def job() -> int:
        walks: list[list[Any]] = [[*bare.begin(), {"n": 0}, "one"] for _ in range(runs)]
        for _ in range(size // runs):
            for walk in walks:
                handler, walk[3] = _HANDLERS[walk[3]]
                await handler(walk[2])
            bare.connection.execute("BEGIN IMMEDIATE")
            for walk in walks:
                bare.write(*walk)
            bare.connection.execute("COMMIT")
        return sum(walk[2]["n"] for walk in walks)

    return job


def bare_resume(size: int) -> Job:
    """Read the visits of a bare loop, and put their patches together."""
    bare = _Bare("NORMAL")
    key, run = bare.begin()
    bare.connection.execute("BEGIN IMMEDIATE")
    for number in range(1, size + 1):
        bare.write(key, run, {"n": number}, "one")
    bare.connection.execute("COMMIT")

    def patches() -> Iterator[dict[str, int]]:
        query = "SELECT patch FROM visits WHERE run = ? ORDER BY number"
        for (text,) in bare.connection.execute(query, (key,)):
            yield json.loads(text)

    async def job() -> int:
        state: dict[str, int] = {}
        for patch in patches():
            state |= patch
        return state["n"]

    return job
