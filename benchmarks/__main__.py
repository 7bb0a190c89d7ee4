"""`python -m benchmarks`: the cost of a visit and of a declared node, beside a bare loop."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from functools import partial

import anyio

from benchmarks.measure import Figure, pairs
from benchmarks.workloads import UNLIMITED, Model, Record, big_floor, big_flow, loop_floor, loop_flow


def figures() -> Iterator[Figure]:
    """Measure everything, a line at a time."""
    for state in (Model, Record):
        flow = loop_flow(state)
        for visits in (100, 1_000, 10_000):

            async def ours(goal: int = visits, flow: object = flow, state: type = state) -> object:
                return await flow.run(state(goal=goal), budget=UNLIMITED)  # type: ignore[attr-defined]

            floor = partial(anyio.run, loop_floor, visits)
            yield pairs(f"{flow.name}: us a visit", visits, partial(anyio.run, ours), floor)
    for size in (1_000, 5_000, 20_000):
        yield pairs(
            "declare and check a chain: us a node", size, partial(big_flow, size), partial(big_floor, size), 5
        )


def main() -> None:
    """Print the table."""
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores; CPU time, medians of pairs")
    print(f"{'workload':<44}{'units':>8}{'flowcore':>12}{'floor':>12}{'ratio':>9}")
    for figure in figures():
        print(figure)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
