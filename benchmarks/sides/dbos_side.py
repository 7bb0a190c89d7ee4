"""dbos: a workflow that awaits two steps in turn; its system database on SQLite, with its defaults."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from dbos import DBOS  # type: ignore[import-not-found,unused-ignore]

Job = Callable[[], Awaitable[int]]
VERSIONS = ("dbos",)


@DBOS.step()  # type: ignore[untyped-decorator,unused-ignore]
async def one(n: int) -> int:
    return n + 1


@DBOS.step()  # type: ignore[untyped-decorator,unused-ignore]
async def two(n: int) -> int:
    return n + 1


@DBOS.workflow()  # type: ignore[untyped-decorator,unused-ignore]
async def loop(goal: int) -> int:
    n = 0
    while n < goal:
        n = await two(await one(n))
    return n


def durable_full(size: int) -> Job:
    async def job() -> int:
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite:///{Path(folder) / 'runs.db'}"
            config = {"name": "bench", "system_database_url": url, "log_level": "ERROR", "run_admin_server": False}
            DBOS(config=config)
            DBOS.launch()
            try:
                return int(await loop(size))
            finally:
                DBOS.destroy()

    return job
