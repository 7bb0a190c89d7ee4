"""A store whose process dies: after some writes it takes nothing any more, and what was written stays."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from flowcore.errors import StoreError
from flowcore.store import EndRow, RunRow, RunStore, Write


class MortalStore:
    """Passes everything on to another store until its process is to die; then it refuses everything.

    Creating the record and settling the run are writes, too. With `hears=False` the last write is written, and the
    process dies before it hears of that.
    """

    def __init__(self, store: RunStore, writes: int, *, hears: bool = True) -> None:
        self.name = store.name
        self.written = 0
        self._store = store
        self._writes = writes
        self._hears = hears

    @property
    def is_dead(self) -> bool:
        return self.written >= self._writes

    def die(self) -> None:
        """Refuses everything from now on."""
        self._writes = self.written

    async def create(self, run: RunRow, write: Write) -> None:
        self._check()
        await self._store.create(run, write)
        self._count()

    def commit(self, write: Write) -> Awaitable[None] | None:
        self._check()
        waiting = self._store.commit(write)
        if waiting is None:
            self._count()
            return None
        self.written += 1
        return self._unheard(waiting) if self.is_dead and not self._hears else waiting

    async def settle(self, run_id: str, end: EndRow, write: Write | None, *, owner: str | None) -> bool:
        self._check()
        settled = await self._store.settle(run_id, end, write, owner=owner)
        self._count()
        return settled

    def listen(self, run_id: str, call: Callable[[], None] | None) -> None:
        """Passes on, dead or not: whoever listens must be able to leave."""
        self._store.listen(run_id, call)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        async def passed_on(*args: Any, **options: Any) -> Any:
            self._check()
            return await method(*args, **options)

        return passed_on

    async def _unheard(self, waiting: Awaitable[None]) -> None:
        await waiting
        raise self._death()

    def _check(self) -> None:
        if self.is_dead:
            raise self._death()

    def _count(self) -> None:
        self.written += 1
        if self.is_dead and not self._hears:
            raise self._death()

    def _death(self) -> StoreError:
        return StoreError(f"{self.name}: this process is dead")
