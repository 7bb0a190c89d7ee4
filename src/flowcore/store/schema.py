"""The schema: the tables of a store's file, and the steps that lead an older file to them."""

from __future__ import annotations

from sqlite3 import Connection

from ..errors import StoreError

__all__ = ["APPLICATION", "SHIFT", "VERSION", "migrate", "version_of"]

APPLICATION = 0x466C6F77
"""The number in the head of the file that says whose it is: 'Flow'."""

SHIFT = 1 << 32
"""A row of a run has the position `run * SHIFT + number`: what belongs to a run lies together, in order."""

_FIRST = (
    "CREATE TABLE flows (key INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, declared TEXT NOT NULL)",
    """CREATE TABLE runs (
        key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, status TEXT NOT NULL, owner TEXT NOT NULL,
        lease REAL NOT NULL, signal TEXT NOT NULL, signal_by TEXT NOT NULL, began REAL NOT NULL, deadline REAL,
        flow TEXT NOT NULL, signature TEXT NOT NULL, declared INTEGER NOT NULL, state_type TEXT NOT NULL,
        source TEXT NOT NULL, user TEXT NOT NULL, agent TEXT NOT NULL, conversation TEXT NOT NULL,
        parent TEXT NOT NULL, budget TEXT NOT NULL, spent TEXT NOT NULL, forked TEXT NOT NULL,
        title TEXT NOT NULL)""",
    "CREATE INDEX runs_began ON runs (began)",
    "CREATE INDEX runs_active ON runs (began) WHERE status IN ('running', 'paused')",
    "CREATE INDEX runs_declared ON runs (declared)",
    "CREATE INDEX runs_user ON runs (user, began) WHERE user <> ''",
    "CREATE INDEX runs_conversation ON runs (conversation, began) WHERE conversation <> ''",
    "CREATE INDEX runs_parent ON runs (parent) WHERE parent <> ''",
    """CREATE TABLE ends (
        run INTEGER PRIMARY KEY, ended REAL NOT NULL, value TEXT NOT NULL, failure TEXT NOT NULL,
        reason TEXT NOT NULL, exhausted TEXT NOT NULL, stragglers TEXT NOT NULL, usage TEXT NOT NULL,
        state TEXT NOT NULL)""",
    "CREATE INDEX ends_ended ON ends (ended)",
    """CREATE TABLE frames (
        position INTEGER PRIMARY KEY, parent INTEGER NOT NULL, owner INTEGER NOT NULL, node TEXT NOT NULL,
        number INTEGER NOT NULL, place INTEGER NOT NULL, label TEXT NOT NULL, flow TEXT NOT NULL,
        shape TEXT NOT NULL, start TEXT NOT NULL, items TEXT NOT NULL, finish TEXT NOT NULL,
        spent TEXT NOT NULL, since INTEGER NOT NULL)""",
    """CREATE TABLE visits (
        position INTEGER PRIMARY KEY, last INTEGER NOT NULL, frame INTEGER NOT NULL, node TEXT NOT NULL,
        number INTEGER NOT NULL, kind TEXT NOT NULL, label TEXT NOT NULL, target TEXT NOT NULL,
        edge INTEGER NOT NULL, round INTEGER NOT NULL, walk_round INTEGER NOT NULL, charged INTEGER NOT NULL,
        patch TEXT NOT NULL, rest TEXT NOT NULL, started REAL NOT NULL, ended REAL NOT NULL,
        rounds INTEGER NOT NULL, requests INTEGER NOT NULL, tool_calls INTEGER NOT NULL, tokens INTEGER NOT NULL,
        cost REAL NOT NULL)""",
    """CREATE TABLE notes (
        position INTEGER PRIMARY KEY, frame INTEGER NOT NULL, node TEXT NOT NULL, number INTEGER NOT NULL,
        kind TEXT NOT NULL, at REAL NOT NULL, "values" TEXT NOT NULL)""",
    """CREATE TABLE calls (
        position INTEGER PRIMARY KEY, run INTEGER NOT NULL, key TEXT NOT NULL, frame INTEGER NOT NULL,
        node TEXT NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, status TEXT NOT NULL,
        result TEXT NOT NULL, at REAL NOT NULL, UNIQUE (run, key))""",
    """CREATE TABLE requests (
        position INTEGER PRIMARY KEY, run INTEGER NOT NULL, id TEXT NOT NULL, key TEXT NOT NULL,
        path TEXT NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL, opened REAL NOT NULL, expires REAL NOT NULL,
        status TEXT NOT NULL, answer TEXT NOT NULL, "by" TEXT NOT NULL, at REAL NOT NULL, UNIQUE (run, id))""",
)

_STEPS: tuple[tuple[str, ...], ...] = (_FIRST,)
"""What leads from version 0 to 1, from 1 to 2, and so on. A step that was published is never changed."""

VERSION = len(_STEPS)


def migrate(connection: Connection, name: str) -> None:
    """Lead the file to today's tables, in one transaction."""
    if version_of(connection, name) == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in _STEPS[version_of(connection, name) :]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def version_of(connection: Connection, name: str) -> int:
    """Return the version of the tables, 0 for a new file.

    Raises `StoreError` where the file is another program's, or was written by a newer flowcore.
    """
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    is_empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if application != APPLICATION and not (is_empty and application == version == 0):
        raise StoreError(f"{name}: this database is another program's: give the path of a new file")
    if version > VERSION:
        raise StoreError(
            f"{name}: this file was written by a newer flowcore (its format is {version}, "
            f"this flowcore knows up to {VERSION}): upgrade flowcore"
        )
    return version
