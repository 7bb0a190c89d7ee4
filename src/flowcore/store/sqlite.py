"""The store in a SQLite file: one file, any number of runs, and several processes at once."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from sqlite3 import Connection
from typing import Any, Literal, TypeVar

import anyio

from ..errors import StoreError
from . import rules
from .changes import Changes
from .file import Line, StoreFile
from .listeners import Listeners
from .rows import ACTIVE, Attention, EndRow, RequestRow, RunRow, RunStatus, Signal, Stored, Write
from .tables import run_rows, select_record, select_requests
from .turns import in_thread
from .writer import FEW, LONG, Job, Writer

__all__ = ["SQLiteRunStore"]

T = TypeVar("T")
_REMEMBERED = 10_000
"""Of so many runs it is remembered at most that nothing came in for them."""


class SQLiteRunStore:
    """Keeps the records of runs in a SQLite file, which is made if it is not there.

    With `synchronous="FULL"` what was written survives a loss of power; with "NORMAL" the end of a process only,
    and after a loss of power the last moments may be missing, whole transactions each. `busy_timeout` is for how
    many seconds a lock of another process is waited for.

    The file is opened here: what is wrong with it is raised as `StoreError` where its path was given. It may be
    used by several event loops, threads and processes, and goes on to be usable on both sides of a fork.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        synchronous: Literal["FULL", "NORMAL"] = "FULL",
        busy_timeout: float = 5.0,
    ) -> None:
        self.name = os.fspath(path)
        if synchronous not in ("FULL", "NORMAL"):
            raise ValueError(f"SQLiteRunStore(synchronous={synchronous!r}): give 'FULL' or 'NORMAL'")
        if not busy_timeout >= 0:
            raise ValueError(f"SQLiteRunStore(busy_timeout={busy_timeout!r}): give seconds, 0 or more")
        if self.name in ("", ":memory:"):
            raise ValueError(f"SQLiteRunStore({self.name!r}): give the path of a file, or use MemoryRunStore")
        self._file = StoreFile(self.name, synchronous, busy_timeout)
        self._writer = Writer(self._file)
        self._changes = Changes(self.name)
        self._listeners = Listeners()
        self._quiet: dict[str, tuple[int, int, str, float]] = {}
        self._file.writing.patiently(lambda connection: None)

    def __repr__(self) -> str:
        return f"SQLiteRunStore({self.name!r})"

    async def create(self, run: RunRow, write: Write) -> None:
        """Write the record of a new run with what comes first."""
        await self._change(run.run_id, lambda connection: self._changes.create(connection, run, write))

    def commit(self, write: Write) -> Awaitable[None] | None:
        """Write what a run did: at once where it writes alone, else together with what others write."""
        run_id, _, visits, *others, status, spent = write
        if len(visits) == 1 and not (any(others) or status or spent):
            job = Job(partial(self._changes.add_visit, write), run_id, is_single=True, rows=1)
        else:
            rows = FEW + len(visits) + sum(map(len, others))
            job = Job(partial(self._changes.add, write), run_id, rows=rows)
        return self._writer.submit(job)

    async def settle(self, run_id: str, end: EndRow, write: Write | None, *, owner: str | None) -> bool:
        """End an active run and those that it delegated, once."""
        ended: list[str] = await self._change(
            run_id, lambda connection: self._changes.settle(connection, run_id, end, write, owner)
        )
        self._listeners.call(*(ended if owner is None else ended[1:]))
        return bool(ended)

    async def take(self, run_id: str, owner: str, now: float, lease: float) -> RunRow:
        """Make `owner` the one who walks an active run until `lease`."""
        run: RunRow = await self._change(
            run_id, lambda connection: self._changes.take(connection, run_id, owner, now, lease)
        )
        return run

    async def renew(self, run_id: str, owner: str, lease: float) -> bool:
        """Extend the owner's lease of an active run."""
        is_his: bool = await self._change(
            run_id, lambda connection: self._changes.hold(connection, run_id, owner, owner, lease)
        )
        return is_his

    async def release(self, run_id: str, owner: str) -> None:
        """Let an active run go, so that anybody may take it."""
        await self._change(run_id, lambda connection: self._changes.hold(connection, run_id, owner, "", 0.0))

    async def signal(self, run_id: str, signal: Signal, by: str) -> Signal:
        """Ask the owner of an active run to pause, stop or interrupt it."""
        stands: Signal = await self._change(
            run_id, lambda connection: self._changes.signal(connection, run_id, signal, by)
        )
        self._listeners.call(run_id)
        return stands

    async def answer(self, run_id: str, request_id: str, answer: str, by: str, at: float) -> RequestRow:
        """Answer a pending request, once."""
        row: RequestRow = await self._change(
            run_id, lambda connection: self._changes.answer(connection, run_id, request_id, answer, by, at)
        )
        self._listeners.call(run_id)
        return row

    async def attention(self, run_id: str, owner: str, since: float) -> Attention | None:
        """Return what others did to a run. Costs next to nothing while nobody writes to the file."""
        return await self._read(lambda connection: self._look(connection, run_id, owner, since))

    def _look(self, connection: Connection, run_id: str, owner: str, since: float) -> Attention | None:
        version = connection.execute("PRAGMA data_version").fetchone()[0]
        generation = self._file.watching.generation
        quiet = self._quiet.get(run_id)
        if quiet is not None and quiet[:3] == (generation, version, owner) and quiet[3] <= since:
            return None
        found = self._changes.found(connection, run_id)
        answered = select_requests(
            connection, found.key, "AND status = 'answered' AND at >= ? ORDER BY at, position", since
        )
        attention = rules.attention_of(found.standing, owner, answered)
        if attention is None:
            if len(self._quiet) >= _REMEMBERED:
                self._quiet.clear()
            self._quiet[run_id] = (generation, version, owner, since)
        return attention

    def listen(self, run_id: str, call: Callable[[], None] | None) -> None:
        """Call when signals and answers come in through this object."""
        self._listeners.set(run_id, call)
        if call is None:
            self._quiet.pop(run_id, None)

    async def run(self, run_id: str) -> RunRow:
        """Return a run."""

        def select(connection: Connection) -> RunRow:
            rows = run_rows(connection, "WHERE runs.id = ?", (run_id,))
            if not rows:
                raise rules.not_found(self.name, run_id)
            return rows[0]

        return await self._read(select)

    async def runs(
        self,
        *,
        status: Sequence[RunStatus] = (),
        flow: str = "",
        user: str = "",
        conversation: str = "",
        parent: str = "",
        limit: int = 100,
        before: float | None = None,
    ) -> list[RunRow]:
        """Return runs, the latest first."""
        statuses = rules.check_statuses(status)
        texts = {"flow": flow, "user": user, "conversation": conversation, "parent": parent}
        clauses = [f"runs.{name} = ? AND runs.{name} <> ''" for name, text in texts.items() if text]
        values: list[object] = [text for text in texts.values() if text]
        if before is not None:
            clauses.append("runs.began < ?")
            values.append(before)
        if statuses:
            clauses.append(f"told IN ({', '.join('?' * len(statuses))})")
            values += statuses
            if statuses <= {*ACTIVE, "waiting"}:  # of few runs among many, so it is worth an index
                clauses.append("runs.status IN ('running', 'paused')")
        where = f"WHERE {' AND '.join(clauses)} " if clauses else ""
        rest = where + "ORDER BY runs.began DESC, runs.key DESC LIMIT ?"
        return await self._read_long(lambda connection: run_rows(connection, rest, (*values, max(0, limit))))

    async def requests(self, run_id: str, *, pending: bool = True) -> list[RequestRow]:
        """Return the requests of a run, in the order in which they were opened."""
        rest = ("AND status = 'pending' " if pending else "") + "ORDER BY opened, position"
        return await self._read(
            lambda connection: select_requests(connection, self._changes.found(connection, run_id).key, rest)
        )

    async def load(self, run_id: str) -> Stored:
        """Return everything that is written of a run, as at one moment."""

        def select(connection: Connection) -> Stored:
            connection.execute("BEGIN")
            try:
                return select_record(connection, self._changes.found(connection, run_id).key)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

        return await self._read_long(select)

    async def delete(self, run_id: str) -> None:
        """Remove the record of a run that has ended."""
        await self._change(run_id, lambda connection: self._changes.delete(connection, run_id), LONG)

    async def prune(self, before: float, *, status: Sequence[RunStatus] = ()) -> int:
        """Remove the records of runs that ended before a time."""
        statuses = tuple(rules.check_statuses(status))
        count: int = await self._change(
            "", lambda connection: self._changes.prune(connection, before, statuses), LONG
        )
        return count

    async def aclose(self) -> None:
        """Write what was handed over, and close. Does nothing the second time."""
        if not self._writer.is_closed:
            with anyio.CancelScope(shield=True):
                await in_thread(self._close)

    def _close(self) -> None:
        self._writer.close()
        for line in self._file.lines:
            with line.lock:
                line.close()

    async def _change(self, run_id: str, work: Callable[[Connection], Any], rows: int = FEW) -> Any:
        job = Job(work, run_id, rows=rows)
        waiting = self._writer.submit(job)
        if waiting is not None:
            await waiting
        return job.result

    async def _read(self, work: Callable[[Connection], T]) -> T:
        """Read something small: here, unless that means waiting for a lock."""
        line = self._line(self._file.watching)
        read = line.now(work)
        return read[0] if read is not None else await in_thread(partial(line.patiently, work))

    async def _read_long(self, work: Callable[[Connection], T]) -> T:
        return await in_thread(partial(self._line(self._file.reading).patiently, work))

    def _line(self, line: Line) -> Line:
        if self._writer.is_closed:
            raise StoreError(f"{self.name}: this store is closed: make another one")
        return line
