"""The in-process host, as the host suite sees it: with a store or without one."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from typing import Any, cast

import anyio

from flowcore import Flow, Run
from flowcore.store import Attention, EndRow, RunStore, Write
from flowcore.testing import FakeClock
from flowcore.testing.host import DurableHost, HostedRun
from flowcore.trigger import Trigger

_A_LEASE = 31.0


class Process:
    """What a process has of a store. The process may die, and its signs of life may get lost.

    `writes` is after how many writes it dies; `hears` says whether it hears that the last one was written.
    """

    def __init__(self, store: RunStore, writes: int = sys.maxsize, *, hears: bool = True) -> None:
        self.name = store.name
        self.is_dead = False
        self.is_unheard = False
        self._store = store
        self._left = writes
        self._hears = hears

    def commit(self, write: Write) -> Awaitable[None] | None:
        """Write, as long as it lives. Whoever waits for a dead process waits for ever."""
        if self.is_dead:
            return anyio.sleep_forever()
        waiting = self._store.commit(write)
        if self._count() and not self._hears:
            return self._unheard(waiting)
        return waiting

    async def _unheard(self, waiting: Awaitable[None] | None) -> None:
        if waiting is not None:
            await waiting
        await anyio.sleep_forever()

    async def settle(self, run_id: str, end: EndRow, write: Write | None, *, owner: str | None) -> bool:
        """Settle, as long as it lives."""
        if self.is_dead:
            return True
        settled = await self._store.settle(run_id, end, write, owner=owner)
        self._count()
        return settled

    def _count(self) -> bool:
        self._left -= 1
        self.is_dead = self._left <= 0
        return self.is_dead

    async def renew(self, run_id: str, owner: str, lease: float) -> bool:
        """Renew a lease, or believe that."""
        return self.is_dead or self.is_unheard or await self._store.renew(run_id, owner, lease)

    async def attention(self, run_id: str, owner: str, since: float) -> Attention | None:
        """Look what others ask, or see nothing."""
        return None if self.is_dead or self.is_unheard else await self._store.attention(run_id, owner, since)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class InProcess(DurableHost):
    """Runs flows in this event loop. What stands for a process is a store that passes on nothing any more."""

    def __init__(self, clock: FakeClock, store: RunStore | None = None) -> None:
        super().__init__(clock)
        self.store = store
        self._processes: dict[HostedRun, Process] = {}
        self._dies: dict[str, Any] = {}
        self._open = AsyncExitStack()

    async def start(
        self, flow: Flow[Any, Any, Any], state: Any, *, deps: Any, run_id: str, trigger: Trigger | None = None
    ) -> HostedRun:
        """Start a flow here."""
        store = self._process()
        run = flow.start(
            state, deps=deps, run_id=run_id, trigger=trigger, clock=self.clock, store=cast("Any", store)
        )
        return await self._entered(run, store)

    async def resume(self, flow: Flow[Any, Any, Any], run_id: str, *, deps: Any, by: str = "") -> HostedRun:
        """Go on with a run from its record."""
        store = self._process()
        run = flow.reopen(run_id, deps=deps, by=by, clock=self.clock, store=cast("Any", store))
        return await self._entered(run, store)

    def _process(self) -> Process | None:
        dies, self._dies = self._dies, {}
        return None if self.store is None else Process(self.store, **dies)

    async def _entered(self, run: Run[Any], store: Process | None) -> HostedRun:
        await self._open.enter_async_context(run)
        if store is not None:
            self._processes[run] = store
        return run

    async def lose(self, run: HostedRun) -> None:
        """Let nothing of the run be written any more, end its tasks, and let its lease run out."""
        self._processes[run].is_dead = True
        await run.cancel("shutdown")
        await self.clock.advance(_A_LEASE)

    def lose_at(self, write: int, *, hears: bool) -> None:
        """Let the store of the next run take so many writes."""
        self._dies = {"writes": write, "hears": hears}

    def is_dead(self, run: HostedRun) -> bool:
        """Return whether it took them."""
        return self._processes[run].is_dead

    async def strand(self, run: HostedRun) -> None:
        """Let the lease of a run that goes on run out."""
        self._processes[run].is_unheard = True
        await self.clock.advance(_A_LEASE)

    async def answer(self, run_id: str, request_id: str, answer: Any, by: str) -> None:
        """Answer in the store."""
        now = self.clock.utcnow().timestamp()
        await self._records.answer(run_id, request_id, json.dumps(answer), by, now)

    async def requests(self, run_id: str) -> list[str]:
        """Look in the store."""
        return [row.id for row in await self._records.requests(run_id)]

    async def standing(self, run_id: str) -> tuple[str, list[str]]:
        """Look in the store."""
        stored = await self._records.load(run_id)
        calls = [row.key for row in stored.calls if row.status == "dispatched"]
        requests = [row.id for row in stored.requests if row.status == "pending"]
        return stored.run.status, [*calls, *requests, *filter(None, [stored.run.owner])]

    @property
    def _records(self) -> RunStore:
        assert self.store is not None  # only hosts with a store are asked
        return self.store

    async def aclose(self) -> None:
        """End the runs, and close the store."""
        await self._open.aclose()
        if self.store is not None:
            await self.store.aclose()
