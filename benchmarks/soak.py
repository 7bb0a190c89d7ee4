"""`python -m benchmarks.soak`: many agents at once, with failures, timeouts and cancellations by chance.

It looks whether each run ends once, and whether tasks, files, connections or memory are left in the end.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from benchmarks.moody import Outside, moody_agent
from flowcore import Budget, Flow
from flowcore.clock import SystemClock
from flowcore.messages import Message
from flowcore_agent import AgentReply, AgentRequest, AgentSpec, AgentState, admit

__all__ = ["Soak", "main"]

TERMINAL = {"run.completed", "run.failed", "run.cancelled"}
PAUSE = 20.0
"""Seconds between two looks at the memory."""


@dataclass
class Soak:
    """Agents that run again and again, each with a fate by chance, until the clock says that it is enough."""

    outside: Outside
    seconds: float
    ended: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._spec: AgentSpec
        self._flow: Flow[AgentState, object, AgentReply]
        self._spec, self._flow = moody_agent(self.outside)
        self._until = self.outside.clock.monotonic() + self.seconds

    async def run(self, agents: int) -> None:
        """Let so many agents run side by side, and return when all have ended."""
        async with anyio.create_task_group() as group:
            for _ in range(agents):
                group.start_soon(self._agent)

    async def _agent(self) -> None:
        fates: list[Callable[[], Awaitable[None]]] = [self._to_the_end, self._short_of_budget]
        fates += [self._cancelled, self._left, self._cut_off]
        while self.outside.clock.monotonic() < self._until:
            await self.outside.nap(0.5)
            (fate,) = self.outside.chance.choices(fates, (60, 15, 15, 5, 5))
            await fate()

    def _start(self, budget: Budget | None = None) -> Any:
        state = admit(self._spec, AgentRequest((Message("user", "Go."),)))
        return self._flow.start(state, budget=budget or Budget(), clock=self.outside.clock, grace=1.0)

    async def _to_the_end(self) -> None:
        async with self._start() as run:
            await self._look("to the end", run)

    async def _short_of_budget(self) -> None:
        chance = self.outside.chance
        budget = chance.choice([Budget(seconds=chance.uniform(0, 1.5)), Budget(requests=2), Budget(tool_calls=3)])
        async with self._start(budget) as run:
            await self._look("short of budget", run)

    async def _cancelled(self) -> None:
        async with self._start() as run:
            await self.outside.nap(1.0)
            await run.cancel("user")
            await self._look("cancelled", run)

    async def _left(self) -> None:
        async with self._start() as run:
            await self.outside.nap(1.0)
        await self._look("left", run)

    async def _cut_off(self) -> None:
        """The caller's own scope is cancelled around a run."""
        run = self._start()
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:

                async def cut() -> None:
                    await self.outside.nap(1.0)
                    scope.cancel()

                group.start_soon(cut)
                async with run:
                    await run.wait()
                group.cancel_scope.cancel()
        await self._look("cut off", run)

    async def _look(self, fate: str, run: Any) -> None:
        result = await run.wait()
        kinds = [event.kind async for event in run.events()]
        reason = result.value.reason if result.value is not None else result.exhausted or result.reason or ""
        self.ended[f"{fate}: {result.status} {reason}".rstrip()] += 1
        told = [kind for kind in kinds if kind in TERMINAL]
        if told != [f"run.{result.status}"] or kinds[-1] != told[0]:
            self.wrong.append(f"{fate}: {result.status}, and the events end with {kinds[-3:]}")
        if result.stragglers:
            self.wrong.append(f"{fate}: left behind: {', '.join(result.stragglers)}")


def memory() -> float:
    """Return the resident memory, in megabytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def held() -> dict[str, set[str]]:
    """Return what the process holds: files and sockets, and tasks."""
    folder = Path("/proc/self/fd")
    files = {f"{file.name} {file.readlink()}" for file in folder.iterdir() if file.is_symlink()}
    return {"files": files, "tasks": {f"{task.id} {task.name}" for task in anyio.get_running_tasks()}}


async def watch(soak: Soak) -> None:
    """Print the memory now and then."""
    began = anyio.current_time()
    while True:
        await anyio.sleep(PAUSE)
        gc.collect()
        passed = anyio.current_time() - began
        print(f"{passed:6.0f} s  {memory():7.1f} MB  {sum(soak.ended.values()):8,} runs", flush=True)


async def main(agents: int, seconds: float, seed: int) -> bool:
    """Soak, print what was seen, and return whether all is well."""
    soak = Soak(Outside(SystemClock(), random.Random(seed)), seconds)
    before = held()
    print(f"{agents} agents at once for {seconds:g} s, seed {seed}, load {os.getloadavg()[0]:.1f}")
    print(f"{0:6} s  {memory():7.1f} MB", flush=True)
    async with anyio.create_task_group() as group:
        group.start_soon(watch, soak)
        await soak.run(agents)
        group.cancel_scope.cancel()
    gc.collect()
    after = held()
    runs, most = sum(soak.ended.values()), soak.outside.most
    print(f"   end  {memory():7.1f} MB  {runs:8,} runs; at most {most} connections at a time")
    for how, count in sorted(soak.ended.items()):
        print(f"{count:8,}  {how}")
    left = {"connections": soak.outside.connections, "files of tools": soak.outside.files}
    left |= {kind: len(after[kind] - before[kind]) for kind in after}
    print("left: " + ", ".join(f"{count} {kind}" for kind, count in left.items()))
    for line in [f"wrong: {each}" for each in soak.wrong] + sorted(after["tasks"] - before["tasks"]):
        print(line)
    return not soak.wrong and not any(left.values())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--agents", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--backend", choices=("asyncio", "trio"), default="asyncio")
    chosen = parser.parse_args()
    raise SystemExit(not anyio.run(main, chosen.agents, chosen.seconds, chosen.seed, backend=chosen.backend))
