"""The file: a store's connections to its database, and what its errors mean."""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from sqlite3 import Connection
from typing import Literal, TypeVar

from ..errors import StoreError
from .schema import migrate, version_of

__all__ = ["Line", "StoreFile", "is_busy"]

T = TypeVar("T")
_PAGE = 2048
"""A commit writes whole pages, and a visit is a short row: half of what is usual costs a tenth less time."""
_PAGES_AT_MOST = 40_000
"""From here on every writer makes room itself, should nobody have come to it before."""
_LOG_BYTES = 8 << 20
_BROKEN = (
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PROTOCOL,
)
"""After these a connection is made anew, so that what was put right is seen."""
_MEANINGS = {
    sqlite3.SQLITE_BUSY: ("it is locked by another process", "end that process, or give a longer busy_timeout"),
    sqlite3.SQLITE_LOCKED: ("it is locked", "give a longer busy_timeout"),
    sqlite3.SQLITE_FULL: ("the disk is full", "free some space; what was written before is intact"),
    sqlite3.SQLITE_READONLY: ("it cannot be written", "see to it that the file and its folder may be written"),
    sqlite3.SQLITE_PERM: ("it may not be used", "see to it that the file and its folder may be written"),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", "see to it that its folder is there and may be written"),
    sqlite3.SQLITE_NOTADB: ("it is not a database", "give the path of a new file"),
    sqlite3.SQLITE_CORRUPT: (
        "it is damaged",
        "put a copy in its place, or save what is left: sqlite3 FILE .recover",
    ),
    sqlite3.SQLITE_IOERR: ("the disk failed", "see to the disk; what was written before is intact"),
    sqlite3.SQLITE_TOOBIG: (
        "a value is too large for it",
        "keep large values elsewhere, and their place in the state",
    ),
}


def _code(error: BaseException | None) -> int:
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def is_busy(error: BaseException) -> bool:
    """Return whether another connection has the lock that this one needed."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class StoreFile:
    """Where a store's database is, how it is opened, and how it is told of."""

    def __init__(self, name: str, synchronous: Literal["FULL", "NORMAL"], patience: float) -> None:
        self.name = name
        self.path = os.path.abspath(name)
        self.patience = patience
        self._synchronous = synchronous
        self.writing = Line(self)
        self.watching = Line(self)
        self.reading = Line(self)
        self.after_fork: Callable[[], None] | None = None
        _files.add(self)

    @property
    def lines(self) -> tuple[Line, Line, Line]:
        """All lines, in the order in which whoever needs several takes their locks."""
        return self.reading, self.watching, self.writing

    def connect(self) -> Connection:
        """Open the database, made or led to today's form where it must be. Waits for no lock."""
        connection = sqlite3.connect(self.path, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: Connection) -> None:
        version_of(connection, self.name)  # of another program's database nothing is changed
        connection.execute(f"PRAGMA page_size = {_PAGE}")  # of a new file
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise StoreError(
                f"{self.name}: a log cannot be kept beside it: put the file on a disk of this machine"
            )
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        migrate(connection, self.name)
        connection.execute(f"PRAGMA wal_autocheckpoint = {_PAGES_AT_MOST}")
        connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")

    def log_size(self) -> int:
        """Return how long the log beside the database is, in bytes."""
        try:
            return os.stat(self.path + "-wal").st_size
        except OSError:
            return 0

    def error(self, error: Exception) -> StoreError:
        """Return what happened for people: the file, the cause, the remedy."""
        if isinstance(error, StoreError):
            return error
        if isinstance(error, UnicodeEncodeError):
            text = f"the text {str(error.object)[:40]!r} holds half a character: leave it out, or replace it"
            return StoreError(f"{self.name}: {text}")
        meaning = _MEANINGS.get(_code(error))
        if meaning is None:
            return StoreError(f"{self.name}: it could not be used: {type(error).__name__}: {error}")
        cause, remedy = meaning
        if is_busy(error):
            cause += f", for more than {self.patience:g} s"
        if _code(error) == sqlite3.SQLITE_CANTOPEN and Path(self.path).is_dir():
            remedy = "that is a folder: give the path of a file"
        return StoreError(f"{self.name}: {cause} ({error}): {remedy}")


class Line:
    """One connection, opened when it is needed, and the lock of whoever uses it."""

    def __init__(self, file: StoreFile) -> None:
        self.lock = threading.Lock()
        self.generation = 0
        self._file = weakref.proxy(file)
        self._connection: Connection | None = None

    @property
    def connection(self) -> Connection:
        """The open connection. Hold the lock. Raises the database's error, that of a lock at once."""
        connection = self._connection
        if connection is None:
            connection = self._connection = self._file.connect()
            self.generation += 1
        return connection

    def now(self, work: Callable[[Connection], T]) -> tuple[T] | None:
        """Work with the connection unless that means waiting: then return None."""
        if not self.lock.acquire(blocking=False):
            return None
        try:
            return (work(self.connection),)
        except Exception as error:
            if is_busy(error):
                return None
            self._tell(error)
            raise
        finally:
            self.lock.release()

    def patiently(self, work: Callable[[Connection], T]) -> T:
        """Work with the connection, again if somebody has a lock, as long as the file's patience lasts."""
        with self.lock:
            try:
                return self.persist(lambda: work(self.connection))
            except Exception as error:
                self._tell(error)
                raise

    def persist(self, work: Callable[[], T]) -> T:
        """Try until no lock is in the way. Short steps by chance: so of several processes none starves."""
        end = time.monotonic() + self._file.patience
        while True:
            try:
                return work()
            except sqlite3.Error as error:
                if not is_busy(error) or time.monotonic() >= end:
                    raise
            time.sleep(random.uniform(0.0003, 0.003))

    def _tell(self, error: Exception) -> None:
        """Raise what an error of the database means; return for one of ours. Hold the lock."""
        if not isinstance(error, StoreError):
            self.mend(error)
            raise self._file.error(error) from error

    def mend(self, error: BaseException | None) -> None:
        """Close the connection after an error that it may not survive. Hold the lock."""
        if _code(error) in _BROKEN:
            self.close()

    def close(self) -> None:
        """Close the connection; the next use opens another. Hold the lock."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def __del__(self) -> None:
        self.close()


_files: weakref.WeakSet[StoreFile] = weakref.WeakSet()
_held: list[Line] = []


def _before_fork() -> None:
    """A database may not be open when a process forks: the child would believe that it has the parent's locks."""
    for file in list(_files):
        for line in file.lines:
            line.lock.acquire()
            line.close()
            _held.append(line)


def _after_fork() -> None:
    while _held:
        _held.pop().lock.release()


def _after_fork_in_child() -> None:
    _after_fork()
    for file in list(_files):
        if file.after_fork is not None:
            file.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
