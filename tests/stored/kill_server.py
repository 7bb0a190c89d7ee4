"""The server of lives: `python -m tests.stored.kill_server`. It forks a process for each life, and kills it.

A job is a line of JSON, and so is the answer. It forks without threads, and everything is loaded before.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import anyio
from tests.stored.kill_flows import BUDGETS, FLOWS, State, enter_world, world

from flowcore import Run, RunResult
from flowcore.clock import SystemClock
from flowcore.errors import ContractError, RunConflict, RunNotFound
from flowcore.runtime.opening import codec_of
from flowcore.store import RunStore, SQLiteRunStore, Write
from flowcore.store.reading import read_trace

RUN_ID = "run"
A_LEASE = 31.0
"""Seconds by which the clock of a life is ahead of the one before: the lease of the dead is over then."""


@dataclass(frozen=True)
class Job:
    """One life of the run in a folder. It is killed `delay` seconds after it set out; None leaves it alone."""

    folder: str
    flow: str
    life: int
    delay: float | None
    answers: bool
    backend: str


class LaterClock(SystemClock):
    """Real time, some seconds ahead."""

    def __init__(self, seconds: float) -> None:
        self._ahead = timedelta(seconds=seconds)

    def utcnow(self) -> datetime:
        return datetime.now(UTC) + self._ahead


class TellingStore:
    """Tells of each write, when it was written."""

    def __init__(self, store: RunStore, folder: Path) -> None:
        self.name = store.name
        self._store = store
        self._told = os.open(folder / "told", os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def commit(self, write: Write) -> Awaitable[None] | None:
        waiting = self._store.commit(write)
        if waiting is None:
            self._tell(write)
            return None
        return self._written(waiting, write)

    async def _written(self, waiting: Awaitable[None], write: Write) -> None:
        await waiting
        self._tell(write)

    def _tell(self, write: Write) -> None:
        rows: dict[str, list[Any]] = {"visits": [row.seq for row in write.visits]}
        rows |= {"notes": [row.seq for row in write.notes], "requests": [row.id for row in write.requests]}
        rows |= {"calls": [row.key for row in write.calls]}
        os.write(self._told, f"{json.dumps(rows)}\n".encode())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


async def live(job: Job, sets_out: int) -> None:
    """Begins the run, or goes on with it, and writes down how it ended."""
    folder, flow = Path(job.folder), FLOWS[job.flow]()
    enter_world(folder, job.life)
    store = TellingStore(SQLiteRunStore(folder / "runs.db"), folder)
    clock = LaterClock(job.life * A_LEASE)
    options: dict[str, Any] = {"store": cast(RunStore, store), "clock": clock}
    try:
        await store.run(RUN_ID)
        run = flow.reopen(RUN_ID, **options)
    except RunNotFound:
        run = flow.start(State(), run_id=RUN_ID, budget=BUDGETS.get(job.flow), **options)
    os.write(sets_out, b".")
    try:
        async with run, anyio.create_task_group() as group:
            if job.answers:
                group.start_soon(answer, run)
            result = await run.wait()
            group.cancel_scope.cancel()
        (folder / "result").write_text(json.dumps(words(result)))
    except RunConflict as conflict:  # it had ended, and nobody heard of that
        (folder / "conflict").write_text(str(conflict))
    stored = await store.load(RUN_ID)
    (folder / "trace").write_text(read_trace(stored, codec_of(flow.plan)).to_text())


def words(result: RunResult[Any]) -> dict[str, Any]:
    """Returns everything of a result that does not depend on how often the process was killed."""
    usage = {name: amount for name, amount in asdict(result.usage).items() if name != "seconds"}
    said = {"status": result.status, "value": result.value, "failure": str(result.failure), "usage": usage}
    return said | {"exhausted": result.exhausted, "state": str(result.state), "trace": result.trace.to_text()}


async def answer(run: Run[Any]) -> None:
    """Answers whatever is asked, until it is cancelled. Of interrupted effects it looks whether they were done."""
    while True:
        await anyio.sleep(0.001)
        for request in run.requests:
            given: Any = "here" if request.kind == "ask" else True
            if request.kind == "verify":
                given = {"done": world().was_done(effect_of(run))}
            with suppress(ContractError):  # it was closed meanwhile
                await run.answer(request.id, given, by="ann")


def effect_of(run: Run[Any]) -> str:
    """Returns the effect of the node `send`, which alone asks: by the state before it."""
    turns = [visit for visit in run.trace if visit.node == "turn"]
    return f"send {turns[-1].number}"


def serve() -> None:
    """Lives through the jobs that come in, one after the other."""
    for line in sys.stdin:
        job = Job(**json.loads(line))
        waits, sets_out = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                anyio.run(live, job, sets_out, backend=job.backend)
            except BaseException:
                (Path(job.folder) / "fault").write_text(traceback.format_exc())
            os._exit(0)
        os.close(sets_out)
        os.read(waits, 1)
        os.close(waits)
        began = time.monotonic()
        is_killed = _wait(child, job.delay)
        seconds = time.monotonic() - began
        sys.stdout.write(f"{json.dumps({'killed': is_killed, 'seconds': seconds})}\n")
        sys.stdout.flush()


def _wait(child: int, delay: float | None) -> bool:
    """Waits for the end of a process, or ends it. Returns whether it was killed."""
    handle = os.pidfd_open(child)
    ended, _, _ = select.select([handle], [], [], 30.0 if delay is None else delay)
    os.close(handle)
    if not ended:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


if __name__ == "__main__":
    serve()
