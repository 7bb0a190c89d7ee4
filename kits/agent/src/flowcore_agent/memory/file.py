"""The file of a memory: its tables, made where there are none, and opened only if it is what it should be."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager, suppress

from flowcore_agent.errors import MemoryUnusable

__all__ = ["border", "open_file", "transaction"]

IN_MEMORY = ":memory:"
_FORMAT = 1
_APPLICATION = 0x666C616D  # "flam": tells a memory from any other SQLite file
_TABLES = (
    """CREATE TABLE owner (
        id INTEGER PRIMARY KEY, user TEXT NOT NULL, agent TEXT NOT NULL, core TEXT NOT NULL DEFAULT '',
        profile TEXT NOT NULL DEFAULT '{}', generation INTEGER NOT NULL DEFAULT 0, UNIQUE (user, agent)
    )""",
    """CREATE TABLE memory (
        id INTEGER PRIMARY KEY AUTOINCREMENT, owner INTEGER NOT NULL REFERENCES owner, text TEXT NOT NULL,
        words TEXT NOT NULL, UNIQUE (owner, text)
    )""",
    """CREATE VIRTUAL TABLE search USING fts5 (
        owner, words, content='memory', content_rowid='id', tokenize='porter unicode61 remove_diacritics 2'
    )""",
    """CREATE TRIGGER remembered AFTER INSERT ON memory BEGIN
        INSERT INTO search (rowid, owner, words) VALUES (new.id, new.owner, new.words);
    END""",
    """CREATE TRIGGER forgotten AFTER DELETE ON memory BEGIN
        INSERT INTO search (search, rowid, owner, words) VALUES ('delete', old.id, old.owner, old.words);
    END""",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_FORMAT}",
)


def open_file(path: str, busy_timeout: float) -> sqlite3.Connection:
    """Return a connection to the file at a path, or to one in memory. Raises `MemoryUnusable`."""
    with border(path):
        connection = sqlite3.connect(path, busy_timeout, isolation_level=None, check_same_thread=False)
        try:
            _prepare(path, connection)
        except BaseException:
            connection.close()
            raise
    return connection


@contextmanager
def border(path: str) -> Generator[None]:
    """Let errors of SQLite out as `MemoryUnusable`."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # such as a search after close: the file is not to blame
    except sqlite3.Error as error:
        raise MemoryUnusable(path, str(error)) from error


@contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[None]:
    """Write everything in the block, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _prepare(path: str, connection: sqlite3.Connection) -> None:
    """Make the tables of a new file, and check those of another one."""
    if _pragma(connection, "application_id") == 0 and _is_empty(connection):
        connection.execute("PRAGMA journal_mode = WAL")
        with transaction(connection):
            if _is_empty(connection):  # another process may have been faster
                for statement in _TABLES:
                    connection.execute(statement)
    if _pragma(connection, "application_id") != _APPLICATION:
        raise MemoryUnusable(path, "it was written by another program")
    if (version := _pragma(connection, "user_version")) > _FORMAT:
        raise MemoryUnusable(path, f"it has format {version}, and {_FORMAT} is the newest that is known here")


def _is_empty(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_schema").fetchone() is None


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    number: int = connection.execute(f"PRAGMA {name}").fetchone()[0]
    return number
