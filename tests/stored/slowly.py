"""A store that takes its time: there is a moment before and after whatever it does."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from anyio.lowlevel import checkpoint

from flowcore.store import RunStore, Write


class Slowly:
    """Passes everything on to another store, in its own time."""

    def __init__(self, store: RunStore) -> None:
        self.name = store.name
        self.listen = store.listen
        self._store = store

    def commit(self, write: Write) -> Awaitable[None]:
        return self._written(self._store.commit(write))

    async def _written(self, waiting: Awaitable[None] | None) -> None:
        await checkpoint()
        if waiting is not None:
            await waiting
        await checkpoint()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        async def passed_on(*args: Any, **options: Any) -> Any:
            await checkpoint()
            result = await method(*args, **options)
            await checkpoint()
            return result

        return passed_on
