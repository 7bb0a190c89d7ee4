"""The memory in a SQLite file: one file for all users and agents of an app, with a full-text index."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike, fspath
from sqlite3 import Connection
from typing import Self, TypeVar

import anyio.to_thread

from flowcore_agent.memory.file import IN_MEMORY, border, open_file, transaction
from flowcore_agent.memory.words import match, spaced
from flowcore_agent.ports import MemoryChange, Reconciled, Remembered

__all__ = ["SQLiteMemory"]

T = TypeVar("T")
_LONGEST = 4_000
_SEARCH = """
    SELECT memory.id, memory.text FROM search JOIN memory ON memory.id = search.rowid
    WHERE search MATCH ? ORDER BY bm25(search, 0.0, 1.0), memory.id DESC LIMIT ?
"""


class SQLiteMemory:
    """Keeps what is remembered of users, each with each agent apart. It keeps to `Memory` and `MemoryStore`.

    It may be used by several tasks, threads and processes. Whatever a query has in it is searched for as words.

    Args:
        path: The file, which is made if it is not there; without one everything is gone with the process.
        longest: Characters of a text that is remembered, and of a core memory.
        busy_timeout: For how many seconds a lock of another process is waited for.

    Raises:
        MemoryUnusable: The file cannot be opened or is another program's. So does every method where it breaks.
    """

    def __init__(
        self, path: str | PathLike[str] | None = None, *, longest: int = _LONGEST, busy_timeout: float = 5.0
    ) -> None:
        self.path = IN_MEMORY if path is None else fspath(path)
        self._longest = longest
        self._lock = threading.Lock()
        self._connection = open_file(self.path, busy_timeout)

    def __repr__(self) -> str:
        return f"SQLiteMemory({'' if self.path == IN_MEMORY else repr(self.path)})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    async def generation(self, user: str, agent: str, /) -> int:
        """Return a number that grows whenever core memory or profile were changed, and with every `apply`."""
        return await self._do(lambda connection: _row(connection, user, agent)[1])

    async def core(self, user: str, agent: str, /) -> str:
        """Return the core memory, then the profile, one line an entry."""

        def read(connection: Connection) -> str:
            _, _, core, profile = _row(connection, user, agent)
            lines = [f"{heading}: {text}" for heading, text in json.loads(profile).items()]
            return "\n".join([core, *lines] if core else lines)

        return await self._do(read)

    async def core_memory(self, user: str, agent: str, /) -> str:
        """Return the core memory alone."""
        return await self._do(lambda connection: _row(connection, user, agent)[2])

    async def set_core(self, user: str, agent: str, text: str, /) -> None:
        """Put a core memory in the place of the one before. Raises `ValueError` for one that is too long."""
        await self.apply(user, agent, Reconciled(core=text))

    async def profile(self, user: str, agent: str, /) -> dict[str, str]:
        """Return the profile of a user: texts by heading."""
        known: dict[str, str] = json.loads(await self._do(lambda connection: _row(connection, user, agent)[3]))
        return known

    async def set_profile(self, user: str, agent: str, profile: Mapping[str, str], /) -> None:
        """Put a profile in the place of the one before. Raises `ValueError` for one that is too long."""
        text = self._fitting(json.dumps(dict(profile), ensure_ascii=False))

        def write(connection: Connection) -> None:
            owner = _owner(connection, user, agent)
            connection.execute("UPDATE owner SET profile = ? WHERE id = ?", (text, owner))
            _begin_generation(connection, owner)

        await self._write(write)

    async def recall(self, user: str, agent: str, query: str, most: int, /) -> Sequence[str]:
        """Return the texts that share words with a query, the best first."""
        return [found.text for found in await self.search(user, agent, query, most)]

    async def search(self, user: str, agent: str, query: str, most: int, /) -> Sequence[Remembered]:
        """Return what shares words with a query, the best first, each with its id."""

        def select(connection: Connection) -> list[Remembered]:
            wanted = match(_row(connection, user, agent)[0], query)
            rows = connection.execute(_SEARCH, (wanted, max(0, most))) if wanted else ()
            return [Remembered(str(id), text) for id, text in rows]

        return await self._do(select)

    async def latest(self, user: str, agent: str, most: int, /) -> Sequence[Remembered]:
        """Return what was remembered last, the newest first."""

        def select(connection: Connection) -> list[Remembered]:
            owner = _row(connection, user, agent)[0]
            query = "SELECT id, text FROM memory WHERE owner = ? ORDER BY id DESC LIMIT ?"
            rows = connection.execute(query, (owner, max(0, most)))
            return [Remembered(str(id), text) for id, text in rows]

        return await self._do(select)

    async def save(self, user: str, agent: str, text: str, /) -> None:
        """Remember a text, once. Raises `ValueError` for one that is empty or too long."""
        checked = self._checked(text)
        await self._write(lambda connection: _remember(connection, _owner(connection, user, agent), checked))

    async def apply(self, user: str, agent: str, reconciled: Reconciled, /) -> None:
        """Make all changes or none, and begin a new generation.

        The place of a memory that is not this user's is not taken: the text is remembered beside it. Raises
        `ValueError` for a text that is too long.
        """
        changes = [
            MemoryChange(self._checked(change.text) if change.text.strip() else "", change.replaces)
            for change in reconciled.changes
        ]
        core = None if reconciled.core is None else self._fitting(reconciled.core)

        def write(connection: Connection) -> None:
            owner = _owner(connection, user, agent)
            _change(connection, owner, changes)
            if core is not None:
                connection.execute("UPDATE owner SET core = ? WHERE id = ?", (core, owner))
            _begin_generation(connection, owner)

        await self._write(write)

    async def forget(self, user: str, agent: str, /) -> None:
        """Forget everything of a user with an agent: memories, core memory and profile."""

        def write(connection: Connection) -> None:
            owner = _owner(connection, user, agent)
            connection.execute("DELETE FROM memory WHERE owner = ?", (owner,))
            connection.execute("UPDATE owner SET core = '', profile = '{}' WHERE id = ?", (owner,))
            _begin_generation(connection, owner)

        await self._write(write)

    def _checked(self, text: str) -> str:
        if not text.strip():
            raise ValueError("there is nothing to remember: give a text")
        return self._fitting(text)

    def _fitting(self, text: str) -> str:
        stripped = text.strip()
        if len(stripped) > self._longest:
            raise ValueError(f"the text has {len(stripped):,} characters: give at most {self._longest:,}")
        return stripped

    async def _write(self, write: Callable[[Connection], None]) -> None:
        def whole(connection: Connection) -> None:
            with transaction(connection):
                write(connection)

        await self._do(whole)

    async def _do(self, work: Callable[[Connection], T]) -> T:
        def do() -> T:
            with self._lock, border(self.path):
                return work(self._connection)

        return await anyio.to_thread.run_sync(do)


def _row(connection: Connection, user: str, agent: str) -> tuple[int, int, str, str]:
    """Return id, generation, core memory and profile of an owner, of which nothing may be known yet."""
    found: tuple[int, int, str, str] | None = connection.execute(
        "SELECT id, generation, core, profile FROM owner WHERE user = ? AND agent = ?", (user, agent)
    ).fetchone()
    return found or (0, 0, "", "{}")


def _owner(connection: Connection, user: str, agent: str) -> int:
    """Return the id of an owner, who is written down where he was not known."""
    connection.execute("INSERT OR IGNORE INTO owner (user, agent) VALUES (?, ?)", (user, agent))
    return _row(connection, user, agent)[0]


def _remember(connection: Connection, owner: int, text: str) -> None:
    connection.execute("DELETE FROM memory WHERE owner = ? AND text = ?", (owner, text))  # it is new again
    row = (owner, text, spaced(text))
    connection.execute("INSERT INTO memory (owner, text, words) VALUES (?, ?, ?)", row)


def _change(connection: Connection, owner: int, changes: Iterable[MemoryChange]) -> None:
    for change in changes:
        if change.replaces.isdecimal():
            connection.execute("DELETE FROM memory WHERE owner = ? AND id = ?", (owner, int(change.replaces)))
        if change.text:
            _remember(connection, owner, change.text)


def _begin_generation(connection: Connection, owner: int) -> None:
    connection.execute("UPDATE owner SET generation = generation + 1 WHERE id = ?", (owner,))
