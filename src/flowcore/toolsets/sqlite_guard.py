"""The guard of SQLite: while it stands, a connection refuses what is not allowed, and can be stopped."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager

from .stopping import Stop

__all__ = ["guarded"]

_STEPS = 1_000
"""Steps of SQLite's machine between two looks at whether to stop."""
_LARGEST = 10_000_000
"""Bytes of the largest value, and of the largest row."""
_LONGEST_PATTERN = 1_000
_READS = frozenset((sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE))
_NEVER = frozenset((sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_PRAGMA))
_FUNCTIONS = frozenset(("load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"))
"""Functions that reach outside of the database, where somebody has added them."""


@contextmanager
def guarded(connection: sqlite3.Connection, stop: Stop, *, writes: bool) -> Generator[None]:
    """Hold a connection to reading, or to changes inside its own database; stop what it does when told so."""

    def judge(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_FUNCTION and str(second).lower() in _FUNCTIONS:
            return sqlite3.SQLITE_DENY
        allowed = action not in _NEVER if writes else action in _READS
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    was_reading = connection.execute("PRAGMA query_only").fetchone()[0]
    connection.execute(f"PRAGMA query_only = {0 if writes else 1}")
    length = connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST)
    pattern = connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, _LONGEST_PATTERN)
    connection.set_progress_handler(stop.is_set, _STEPS)
    connection.set_authorizer(judge)
    try:
        yield
    finally:
        connection.set_authorizer(None)
        connection.set_progress_handler(None, 0)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, length)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, pattern)
        connection.execute(f"PRAGMA query_only = {was_reading}")
