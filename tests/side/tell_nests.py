"""Prints the texts of many nests, for a test that compares processes: `python -m tests.side.tell_nests 3`."""

from __future__ import annotations

import sys

import anyio

from .nests import random_nest
from .test_against_reference import run_nest

NESTS = 15


async def tell(schedule: int) -> None:
    for seed in range(1000, 1000 + NESTS):
        result = await run_nest(random_nest(seed), schedule)
        sys.stdout.write(f"nest {seed}\n{result.trace.path}\n{result.state!r}\n{result.trace.to_text()}")


if __name__ == "__main__":
    number = int(sys.argv[1])
    anyio.run(tell, number, backend="asyncio")
    sys.stdout.write("== trio ==\n")
    anyio.run(tell, number + 100, backend="trio")
