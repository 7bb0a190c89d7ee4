"""The writer: puts what is to be written in order, and several into one transaction."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Generator
from functools import partial
from sqlite3 import Connection
from time import perf_counter
from typing import Any

import anyio

from ..errors import StoreError
from .checkpoint import Checkpoints
from .file import StoreFile, is_busy
from .turns import Turn

__all__ = ["FEW", "LONG", "Job", "Writer"]

_SLOW = 0.002
"""Transactions that take this long on the mean, in seconds, are not made in the event loop."""
_OUTLIER = 4 * _SLOW
"""What one transaction counts for at most: a single one that is slow, as when the log begins anew, says little."""
_MOST = 200
"""How many rows are written in one transaction of the event loop, more or less."""
FEW = 4
"""What a job counts for that is more than a statement."""
LONG = sys.maxsize
"""What a job counts for that may take any time."""


class Job:
    """One thing to write. Awaited where it is not written at once.

    `is_single` says that the work is one statement, which is a transaction by itself. `rows` is how many rows are
    written about: a job of very many is left to a thread, and goes alone.
    """

    __slots__ = ("error", "event", "is_done", "is_single", "result", "rows", "run_id", "turn", "work")

    def __init__(
        self, work: Callable[[Connection], Any], run_id: str, *, is_single: bool = False, rows: int = FEW
    ) -> None:
        self.work = work
        self.run_id = run_id
        self.is_single = is_single
        self.rows = rows
        self.is_done = False
        self.result: Any = None
        self.error: StoreError | None = None
        self.turn: Turn | None = None
        self.event: anyio.Event | None = None

    @property
    def is_long(self) -> bool:
        """Whether the work would hold the event loop up."""
        return self.rows > _MOST

    def __await__(self) -> Generator[Any, Any, None]:
        if not self.is_done and self.event is not None:
            yield from self.event.wait().__await__()
        if self.error is not None:
            raise self.error


class Writer:
    """The one place that writes to a file.

    What one run writes while no other does is written at once, in the event loop: a thread would cost more than
    the transaction. What several runs write in one turn of the loop is one transaction. A thread takes over, for
    as long as there is work, when the file is locked or slow.
    """

    def __init__(self, file: StoreFile) -> None:
        self._file = file
        self._line = file.writing
        self._checkpoints = Checkpoints(file)
        self._lock = threading.Lock()
        self._queue: deque[Job] = deque()
        self._thread: threading.Thread | None = None
        self._planned: set[object] = set()
        self._alone = ""
        self._pace = 0.0
        self.is_closed = False
        file.after_fork = self._forget

    def submit(self, job: Job) -> Job | None:
        """Write a job: None if that is done, else the job to await. Raises what kept it from being written."""
        if self.is_closed:
            raise StoreError(f"{self._file.name}: this store is closed: make another one")
        if self._is_alone(job) and self._line.lock.acquire(blocking=False):
            try:
                is_written = not self._queue and self._try([job])
            finally:
                self._line.lock.release()
            if is_written:
                if job.error is not None:
                    raise job.error
                return None
        self._enqueue(job)
        return job

    def _is_alone(self, job: Job) -> bool:
        """Return whether a job may be written at once: nobody else writes, and writing is fast."""
        return (
            job.run_id == self._alone
            and not self._queue
            and self._thread is None
            and self._pace < _SLOW
            and not job.is_long
        )

    def _enqueue(self, job: Job) -> None:
        job.turn = turn = Turn()
        job.event = anyio.Event()
        with self._lock:
            self._queue.append(job)
            self._plan(turn)

    def _plan(self, turn: Turn) -> None:
        """See to it that the queue will be written: in the loop's next pass, or in a thread. Hold the lock."""
        if self._thread is not None or not self._queue:
            return
        if self._queue[0].is_long or self._pace >= _SLOW:
            self._start()
        elif turn.loop not in self._planned:
            self._planned.add(turn.loop)
            turn.here(partial(self._flush, turn))

    def _flush(self, turn: Turn) -> None:
        """Write what came in during this turn of the event loop."""
        with self._lock:
            self._planned.discard(turn.loop)
            if self._thread is not None or not self._queue:
                return
            if self._queue[0].is_long or self._pace >= _SLOW or not self._line.lock.acquire(blocking=False):
                self._start()
                return
        try:
            batch = self._next()
            if not self._try(batch):
                with self._lock:
                    self._queue.extendleft(reversed(batch))
                    self._start()
                return
        finally:
            self._line.lock.release()
        self._deliver(batch, turn)
        with self._lock:
            self._plan(turn)

    def _start(self) -> None:
        """Start the thread. It ends by itself, and a process does not end before it. Hold the lock."""
        if self._thread is None:
            thread = threading.Thread(target=self._work, name="flowcore store writer")
            thread.start()
            self._thread = thread

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._queue:
                    self._thread = None
                    return
            with self._line.lock:
                batch = self._next()
                self._write_patiently(batch)
            self._deliver(batch, None)

    def _next(self) -> list[Job]:
        """Take the jobs of the next transaction out of the queue. Hold the line."""
        queue = self._queue
        if not queue:
            return []
        batch = [queue.popleft()]
        rows = batch[0].rows
        while queue and rows + queue[0].rows <= _MOST:
            rows += queue[0].rows
            batch.append(queue.popleft())
        return batch

    def _try(self, batch: list[Job]) -> bool:
        """Write a batch now, or return False since the file is locked. Errors are put into the jobs."""
        try:
            self._write(batch)
        except Exception as error:
            if is_busy(error):
                return False
            self._fail(batch, error)
        except BaseException:
            self._fail(batch, StoreError(f"{self._file.name}: the write was interrupted"))
            self._deliver(batch, None)
            raise
        return True

    def _write_patiently(self, batch: list[Job]) -> None:
        try:
            self._line.persist(lambda: self._write(batch))
        except Exception as error:
            self._fail(batch, error)

    def _fail(self, batch: list[Job], error: Exception) -> None:
        """Nothing of the batch was written."""
        for job in batch:
            if job.error is None:
                job.error = self._file.error(error)
                job.error.__cause__ = error
        self._line.mend(error)

    def _write(self, batch: list[Job]) -> None:
        """Write a batch in one transaction. Raises what kept the whole of it from being written."""
        if not batch:
            return
        connection = self._line.connection
        first = batch[0]
        began = perf_counter()
        if len(batch) == 1 and first.is_single:
            self._run(connection, first)
            spent = perf_counter() - began
            if first.error is not None:
                self._line.mend(first.error.__cause__)
        else:
            connection.execute("BEGIN IMMEDIATE")
            spent = perf_counter() - began
            try:
                for job in batch:
                    job.error = None
                    self._run_within(connection, job)
                began = perf_counter()
                connection.execute("COMMIT")
                spent += perf_counter() - began
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        self._pace += (min(spent, _OUTLIER) - self._pace) * 0.2
        self._alone = first.run_id if len(batch) == 1 or len({job.run_id for job in batch}) == 1 else ""
        self._checkpoints.count(len(batch))

    def _run_within(self, connection: Connection, job: Job) -> None:
        """Do a job inside a transaction, so that it fails alone."""
        if job.is_single:
            self._run(connection, job)
        else:
            connection.execute("SAVEPOINT job")
            self._run(connection, job)
            if job.error is not None and connection.in_transaction:
                connection.execute("ROLLBACK TO job")
            if connection.in_transaction:
                connection.execute("RELEASE job")
        if not connection.in_transaction and job.error is not None:
            raise job.error.__cause__ or job.error

    def _run(self, connection: Connection, job: Job) -> None:
        try:
            job.result = job.work(connection)
        except StoreError as error:
            job.error = error
        except Exception as error:
            if is_busy(error) and not connection.in_transaction:
                raise
            job.error = self._file.error(error)
            job.error.__cause__ = error

    def _deliver(self, batch: list[Job], here: Turn | None) -> None:
        """Wake those who wait. `here` is the loop whose thread this is."""
        elsewhere: dict[object, tuple[Turn, list[anyio.Event]]] = {}
        for job in batch:
            job.is_done = True
            if job.turn is None or job.event is None:
                continue
            if here is not None and job.turn.loop is here.loop:
                job.event.set()
            else:
                elsewhere.setdefault(job.turn.loop, (job.turn, []))[1].append(job.event)
        for turn, events in elsewhere.values():
            turn.there(partial(_set, events))

    def close(self) -> None:
        """Write what was handed over, and take no more. Blocks."""
        self.is_closed = True
        while True:
            with self._line.lock:
                batch = self._next()
                if batch:
                    self._write_patiently(batch)
            if not batch:
                break
            self._deliver(batch, None)
        self._checkpoints.wait()

    def _forget(self) -> None:
        """In the child of a fork: what waited is the parent's to write."""
        self._lock = threading.Lock()
        self._queue = deque()
        self._thread = None
        self._planned = set()
        self._checkpoints = Checkpoints(self._file)


def _set(events: list[anyio.Event]) -> None:
    for event in events:
        event.set()
