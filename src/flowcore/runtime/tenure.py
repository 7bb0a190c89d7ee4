"""The tenure: that this process walks a stored run, kept up, and what others ask of the run meanwhile."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Callable

import anyio

from ..clock import Clock, Loop
from ..errors import RunConflict, StoreError
from ..store import Attention, RunStore

__all__ = ["LEASE", "Tenure", "new_owner"]

LEASE = 30.0
"""Seconds after which a run whose owner is not heard of may be taken by another one."""
_LOOK = 0.25
"""Seconds between two looks at what others asked of a run."""


def new_owner() -> str:
    """Return a name for who walks a run: the machine, the process, and a word that no other has."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


class Tenure:
    """Renews a lease in time, and looks for signals and answers. Ends when the run does."""

    def __init__(
        self,
        store: RunStore,
        run_id: str,
        owner: str,
        clock: Clock,
        loop: Loop,
        heard: Callable[[Attention], None],
        lost: Callable[[Exception], None],
        waits_since: Callable[[], float],
    ) -> None:
        self._store = store
        self._run_id = run_id
        self._owner = owner
        self._clock = clock
        self._loop = loop
        self._heard = heard
        self._lost = lost
        self._until = clock.utcnow().timestamp() + LEASE
        self._waits_since = waits_since
        self._over = False
        self._wake = anyio.Event()
        self._ended = anyio.Event()

    def begin(self) -> None:
        """Look from now on, from time to time and whenever something comes in through the same store."""
        self._loop.spawn(self._work, "flowcore tenure")
        self._store.listen(self._run_id, lambda: self._loop.soon(lambda: self._wake.set()))

    async def end(self) -> None:
        """Look no more; return when nothing of it is at work."""
        self._over = True
        self._store.listen(self._run_id, None)
        self._wake.set()
        await self._ended.wait()

    async def _work(self) -> None:
        try:
            while not self._over:
                await self._look()
                if not self._wake.is_set():
                    timer = self._clock.later(_LOOK, self._wake.set, self._loop)
                    await self._wake.wait()
                    timer.cancel()
                self._wake = anyio.Event()
        finally:
            self._ended.set()

    async def _look(self) -> None:
        try:
            await self._renew()
            since = self._waits_since()
            news = None if self._over else await self._store.attention(self._run_id, self._owner, since)
            if news is not None and not self._over:
                self._heard(news)
        except (
            StoreError
        ) as error:  # it may be better the next time; when the lease is over it is not ours any more
            if not self._over and self._clock.utcnow().timestamp() >= self._until:
                self._over = True
                self._lost(error)

    async def _renew(self) -> None:
        now = self._clock.utcnow().timestamp()
        if self._until - LEASE <= now < self._until - LEASE * 2 / 3:
            return  # who sets the clock back does not make the lease longer
        if not await self._store.renew(self._run_id, self._owner, now + LEASE):
            self._over = True
            said = f"run {self._run_id} is not walked here any more: it has ended, or another owner has taken it"
            self._lost(RunConflict(said))
        self._until = now + LEASE
