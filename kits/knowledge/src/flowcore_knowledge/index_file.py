"""The index file: its tables, written whole or not at all, and opened only if it is what it should be."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from .errors import IndexBroken, IndexMissing, IndexNotWritten, IndexTooNew
from .passage import Passage, Source
from .words import terms

_FORMAT = 1
_APPLICATION = 0x666C6B6E  # "flkn": tells an index from any other SQLite file
_TABLES = f"""
    PRAGMA page_size = 8192;
    PRAGMA application_id = {_APPLICATION};
    PRAGMA user_version = {_FORMAT};
    CREATE TABLE about (fingerprint TEXT NOT NULL);
    CREATE TABLE source (
        id TEXT PRIMARY KEY, status TEXT NOT NULL, note TEXT NOT NULL,
        first INTEGER NOT NULL, last INTEGER NOT NULL
    );
    CREATE TABLE passage (
        id INTEGER PRIMARY KEY, source TEXT NOT NULL, "where" TEXT NOT NULL,
        title TEXT NOT NULL, body TEXT NOT NULL
    );
    CREATE VIRTUAL TABLE words USING fts5 (title, body, context, content='', tokenize='ascii');
    CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);
"""
Shelf = tuple[Source, Iterable[Passage]]


def write_index(path: Path, shelves: Iterable[Shelf], fingerprint: str) -> None:
    """Write a new file beside `path` and put it in its place when it is complete."""
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
    try:
        with closing(sqlite3.connect(name, isolation_level=None)) as connection:
            _fill(path, connection, shelves, fingerprint)
        with _writing(path):
            os.replace(name, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise


def open_index(path: Path) -> sqlite3.Connection:
    """A read-only connection to a checked index."""
    if not path.is_file():
        raise IndexMissing(str(path))
    with border(path):
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
        try:
            _check(path, connection)
        except BaseException:
            connection.close()
            raise
    return connection


@contextmanager
def border(path: Path) -> Generator[None]:
    """Where SQLite's errors become ours."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # such as a search after close: the file is not to blame
    except sqlite3.Error as error:
        raise IndexBroken(str(path), str(error)) from error


@contextmanager
def _writing(path: Path) -> Generator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise IndexNotWritten(str(path), str(error)) from error


def _check(path: Path, connection: sqlite3.Connection) -> None:
    application, version, pages, size = (
        connection.execute(f"PRAGMA {pragma}").fetchone()[0]
        for pragma in ("application_id", "user_version", "page_count", "page_size")
    )
    if application != _APPLICATION:
        raise IndexBroken(str(path), "it was written by another program")
    if version > _FORMAT:
        raise IndexTooNew(str(path), version, _FORMAT)
    if pages * size > path.stat().st_size:
        raise IndexBroken(str(path), "it is cut off")


def _fill(path: Path, connection: sqlite3.Connection, shelves: Iterable[Shelf], fingerprint: str) -> None:
    with _writing(path):
        connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + _TABLES)
        connection.execute("BEGIN")
    number = 0
    seen: set[str] = set()
    for source, passages in shelves:
        if source.id in seen:
            raise ValueError(f"source {source.id!r} comes twice: give all its passages at once")
        seen.add(source.id)
        first = number + 1
        for passage in passages:
            number += 1
            with _writing(path):
                _add(connection, number, source, passage)
        row = (source.id, source.status, source.note, first, number)
        with _writing(path):
            connection.execute("INSERT INTO source VALUES (?, ?, ?, ?, ?)", row)
    with _writing(path):
        connection.execute("INSERT INTO about VALUES (?)", (fingerprint,))
        connection.execute("INSERT INTO words(words) VALUES ('optimize')")
        connection.execute("COMMIT")


def _add(connection: sqlite3.Connection, number: int, source: Source, passage: Passage) -> None:
    if passage.source != source.id:
        raise ValueError(f"a passage of {passage.source!r} stands on the shelf of {source.id!r}")
    row = (number, source.id, passage.where, passage.title, passage.text)
    connection.execute("INSERT INTO passage VALUES (?, ?, ?, ?, ?)", row)
    fields = (" ".join(terms(field)) for field in (passage.title, passage.text, passage.context))
    connection.execute("INSERT INTO words(rowid, title, body, context) VALUES (?, ?, ?, ?)", (number, *fields))
