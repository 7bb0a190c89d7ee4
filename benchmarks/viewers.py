"""`python -m benchmarks.viewers`: what a run costs that is watched, beside the same run that nobody watches.

The viewers stand in a process of their own, read everything, and are connected before the run begins its work.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from statistics import median
from typing import Literal

import anyio

from flowcore import Budget, Complete, Continue, Flow, Step, node
from flowcore.live import watch

_VIEWERS = """
import selectors, socket, sys
from urllib.parse import urlsplit
url, count = urlsplit(sys.argv[1]), int(sys.argv[2])
waiting = selectors.DefaultSelector()
for _ in range(count):
    viewer = socket.create_connection((url.hostname, url.port))
    viewer.sendall(f"GET {url.path}events HTTP/1.0\\r\\nhost: {url.hostname}\\r\\n\\r\\n".encode())
    waiting.register(viewer, selectors.EVENT_READ)
begun, ended = set(), 0
while ended < count:
    for key, _ in waiting.select():
        if piece := key.fileobj.recv(1 << 20):
            begun.add(key.fd)
            if len(begun) == count:
                print("all there", flush=True)
                begun.add(-1)
        else:
            ended += 1
            waiting.unregister(key.fileobj)
"""


@dataclass
class Count:
    number: int = 0


@dataclass(frozen=True)
class Work:
    """What the nodes do: `wait` is in seconds, `begin` opens when everybody is there."""

    visits: int
    wait: float
    begin: anyio.Event


@node(starts_round=True)
async def first(step: Step[Count, Work]) -> Continue:
    await step.deps.begin.wait()
    return Continue()


@node(starts_round=True)
async def work(step: Step[Count, Work]) -> Continue[Literal["on", "end"]]:
    step.state.number += 1
    if step.deps.wait:
        await anyio.sleep(step.deps.wait)
    return Continue("on" if step.state.number < step.deps.visits else "end")


@node
async def last(step: Step[Count, Work]) -> Complete[int]:
    return Complete(step.state.number)


flow = Flow("loop", first.to(work), work.to(on=work, end=last), last)


async def seconds(visits: int, wait: float, viewers: int | None) -> tuple[float, float]:
    """Return what a run takes, by the clock and of the processor, from the moment when all its viewers are there.

    None is a run without a page.
    """
    begin = anyio.Event()
    async with AsyncExitStack() as stack:
        handle = flow.start(Count(), deps=Work(visits, wait, begin), budget=Budget(rounds=None))
        run = await stack.enter_async_context(handle)
        if viewers is not None:
            page = await stack.enter_async_context(watch(run))
            if viewers:
                command = [sys.executable, "-c", _VIEWERS, page.url, str(viewers)]
                crowd = await anyio.open_process(command, stdout=subprocess.PIPE, stderr=None)
                await stack.enter_async_context(crowd)
                assert crowd.stdout is not None
                await crowd.stdout.receive()
                stack.callback(crowd.kill)  # what they are still to be told is not measured
        started, worked = time.perf_counter(), time.process_time()
        begin.set()
        await run.result()
        return time.perf_counter() - started, time.process_time() - worked


def compare(title: str, visits: int, wait: float, viewers: int, rounds: int) -> None:
    """Print the medians, and the ratios to the run that has no page at all."""
    sides: dict[str, int | None] = {"no page": None, "no viewer": 0, f"{viewers} viewers": viewers}
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, count in sides.items():
            taken[name].append(anyio.run(seconds, visits, wait, count))
    print(f"{title}: {visits:,} visits")
    bare = median(clock for clock, _ in taken["no page"])
    for name, times in taken.items():
        clock, processor = (median(column) for column in zip(*times, strict=True))
        print(f"  {name:<12} {clock:7.3f} s   ratio {clock / bare:.3f}   processor {processor:.3f} s")


def main() -> None:
    """Compare a flow whose nodes wait, and one whose nodes do nothing."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.viewers", description=__doc__)
    parser.add_argument("--viewers", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--visits", type=int, default=200)
    parser.add_argument("--hot", action="store_true", help="the hot loop alone")
    chosen = parser.parse_args()
    if not chosen.hot:
        for milli in (20, 5):
            compare(f"nodes of {milli} ms", chosen.visits, milli / 1000, chosen.viewers, chosen.rounds)
    compare("a hot loop, nodes that do nothing", chosen.visits * 250, 0.0, chosen.viewers, chosen.rounds)


if __name__ == "__main__":
    main()
