"""Inventory: the distributions and what they need, in a SQLite file that a model may ask in SQL."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from .installed import Installed

__all__ = ["TABLES", "write_inventory"]

TABLES = """\
CREATE TABLE distribution (name TEXT PRIMARY KEY, version TEXT, summary TEXT, python TEXT, files INTEGER);
CREATE TABLE need (distribution TEXT, name TEXT, version TEXT, extra TEXT, condition TEXT);
CREATE TABLE module (name TEXT, distribution TEXT);
"""
"""What the model is told of the tables, too."""


def write_inventory(file: Path, these: Sequence[Installed]) -> None:
    """Write the inventory, whole or not at all."""
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    beside.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(beside)) as database:
            database.executescript(TABLES)
            _fill(database, these)
            database.commit()
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)


def _fill(database: sqlite3.Connection, these: Sequence[Installed]) -> None:
    database.executemany(
        "INSERT INTO distribution VALUES (?, ?, ?, ?, ?)",
        [(one.name, one.version, one.summary, one.python, len(one.files)) for one in these],
    )
    database.executemany(
        "INSERT INTO need VALUES (?, ?, ?, ?, ?)",
        [(one.name, need.name, need.version, need.extra, need.condition) for one in these for need in one.needs],
    )
    database.executemany(
        "INSERT INTO module VALUES (?, ?)", [(module, one.name) for one in these for module in one.modules]
    )
