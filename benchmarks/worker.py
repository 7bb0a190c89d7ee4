"""A worker: a process that holds one side and takes samples of its work when it is told to.

It reads one request a line and answers each with one line, both JSON. It needs the standard library and its side,
so that it also runs in the environment of a peer.
"""

from __future__ import annotations

import asyncio  # noqa: TID251 - the floor is asyncio's own loop, and the peers know no other
import gc
import importlib
import importlib.metadata
import json
import os
import sys
import time
import tracemalloc
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

Job = Callable[[], Awaitable[int]]
CLOCKS = {"cpu": time.process_time, "wall": time.perf_counter}


class Worker:
    """Takes samples of one side. The work is prepared, tried and checked once, before its first sample."""

    def __init__(self, side: str) -> None:
        self._side = importlib.import_module(f"benchmarks.sides.{side}")
        self._jobs: dict[tuple[str, int], Job] = {}

    def answer(self, request: dict[str, Any]) -> Any:
        """Return the seconds that one run took, or the bytes; None for work that this side does not have."""
        if request["op"] == "versions":
            return {name: importlib.metadata.version(name) for name in self._side.VERSIONS}
        make = getattr(self._side, request["work"], None)
        if make is None:
            return None
        key = (request["work"], request["size"])
        if key not in self._jobs:
            self._jobs[key] = make(request["size"])
            _run(self._warm_up(self._jobs[key], request["want"]), request["loop"])
        job = self._jobs[key]
        if request["op"] == "memory":
            return _run(_peak(job), request["loop"])
        if request["op"] == "disk":
            before = self._side.on_disk()
            _run(_timed(job, 1, CLOCKS["cpu"]), request["loop"])
            return float(self._side.on_disk() - before)
        return _run(_timed(job, request["runs"], CLOCKS[request["op"]]), request["loop"])

    async def _warm_up(self, job: Job, want: int) -> None:
        got = await job()
        if got != want:
            raise AssertionError(f"{self._side.__name__} returned {got}, not {want}")


async def _timed(job: Job, runs: int, clock: Callable[[], float]) -> float:
    gc.collect()
    began = clock()
    for _ in range(runs):
        await job()
    return (clock() - began) / runs


async def _peak(job: Job) -> float:
    gc.collect()
    tracemalloc.start()
    await job()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(peak)


def _run(work: Coroutine[Any, Any, Any], loop: str) -> Any:
    if loop == "asyncio":
        return asyncio.run(work)
    import trio  # noqa: PLC0415 - not in the environments of the peers

    async def within() -> Any:
        return await work

    return trio.run(within)


def main() -> None:
    """Answer requests until the input ends."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints must not stand among the answers
    worker = Worker(sys.argv[1])
    for line in sys.stdin:
        try:
            answer: dict[str, Any] = {"value": worker.answer(json.loads(line))}
        except Exception as error:  # told in the table, and the other work goes on
            answer = {"error": f"{type(error).__name__}: {error}"[:200]}
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main()
