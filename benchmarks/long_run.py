"""`python -m benchmarks.long_run`: what the visits of a long stored run cost, early and late, and its resume."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import anyio

from flowcore import Budget, Complete, Continue, Flow, Log, Step, node
from flowcore.clock import SystemClock
from flowcore.errors import StoreError
from flowcore.store import MemoryRunStore, RunStore, SQLiteRunStore, Write

STRETCH = 1_000
"""Visits that are timed together, at the beginning and at the end."""
LEASE_IS_OVER = timedelta(seconds=40)


@dataclass
class State:
    n: int = 0
    log: Log[str] = field(default_factory=Log)


@dataclass
class Times:
    """How many visits there are, and when some of them took place."""

    visits: int
    at: dict[int, float] = field(default_factory=dict)


@node(starts_round=True)
async def count(step: Step[State, Times]) -> Continue[Literal["more", "done"]]:
    step.state.n += 1
    step.state.log.append("one line of a history")
    if step.state.n % STRETCH == 0:
        step.deps.at[step.state.n] = time.perf_counter()
    return Continue("more" if step.state.n < step.deps.visits else "done")


@node
async def end(step: Step[State, Times]) -> Complete[int]:
    return Complete(len(step.state.log))


flow = Flow("long", count.to(more=count, done=end), end)


class LaterClock(SystemClock):
    """Real time, ahead by more than a lease."""

    def utcnow(self) -> datetime:
        return datetime.now(UTC) + LEASE_IS_OVER


class Dying:
    """A store that takes nothing more after so many writes: its process is dead."""

    def __init__(self, store: RunStore, writes: int) -> None:
        self.name = store.name
        self._store = store
        self._left = writes

    def commit(self, write: Write) -> Any:
        self._left -= 1
        if self._left < 0:
            raise StoreError(f"{self.name}: this process is dead")
        return self._store.commit(write)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


async def measure(store: RunStore, visits: int) -> list[str]:
    """Return what was measured, as lines."""
    times, budget = Times(visits), Budget(rounds=None)
    dying: Any = Dying(store, visits - 10)
    began = time.perf_counter()
    await flow.run(State(), deps=times, budget=budget, store=dying, run_id="long", check=False)
    whole = time.perf_counter() - began
    early, late = (times.at[n + STRETCH] - times.at[n] for n in (STRETCH, visits - 2 * STRETCH))
    run = flow.reopen("long", store=store, clock=LaterClock(), deps=times)
    began = time.perf_counter()
    await run.prepare()
    taken = time.perf_counter() - began
    async with run:
        value = await run.result()
    assert value == visits
    return [
        f"{visits:,} visits in {whole:.1f} s",
        f"a visit costs {early / STRETCH * 1e6:.0f} µs at the beginning, {late / STRETCH * 1e6:.0f} µs at the end",
        f"resumed in {taken:.2f} s; it ended {time.perf_counter() - began - taken:.2f} s later",
    ]


async def main(visits: int, kind: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        store: RunStore = MemoryRunStore() if kind == "memory" else SQLiteRunStore(path)
        lines = await measure(store, visits)
        await store.aclose()
        if kind == "sqlite":
            lines.append(f"{path.stat().st_size / visits:.0f} bytes a visit")
    print(f"{kind}, load {os.getloadavg()[0]:.1f}")
    print("\n".join(lines))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visits", type=int, default=100_000)
    parser.add_argument("--store", choices=("sqlite", "memory"), default="sqlite")
    options = parser.parse_args()
    anyio.run(main, options.visits, options.store)
