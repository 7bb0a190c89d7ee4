"""A process that walks a run until somebody elsewhere ends it: `control_child.py FILE RUN_ID`."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import anyio

from flowcore import Budget, Complete, Continue, Flow, Step, node
from flowcore.store import SQLiteRunStore


@dataclass
class Ticks:
    n: int = 0


@node(starts_round=True)
async def tick(step: Step[Ticks]) -> Continue | Complete[int]:
    """Goes on for as long as nobody ends it."""
    step.state.n += 1
    await anyio.sleep(0.02)
    return Complete(step.state.n) if step.state.n == 3_000 else Continue()


TICKING = Flow("ticking", tick.to(tick))


async def main(path: str, run_id: str) -> None:
    store = SQLiteRunStore(path, synchronous="NORMAL")
    result = await TICKING.run(Ticks(), store=store, run_id=run_id, budget=Budget(rounds=9_999), check=False)
    sys.stdout.write(f"{result.status} {result.reason}\n")


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2])
