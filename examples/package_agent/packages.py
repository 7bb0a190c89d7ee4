"""Packages: what the agent's tools work on, made when it is first wanted and kept in a cache folder."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from threading import Event, Lock
from typing import ClassVar

import anyio.to_thread

from flowcore.errors import FlowcoreError
from flowcore.tools import Tool
from flowcore.toolsets import SQLToolset
from flowcore_knowledge import Hit, IndexNotWritten, Passage, Source, SQLiteKnowledge

from .installed import Installed, fingerprint, installed
from .inventory import write_inventory
from .texts import passages

__all__ = ["Abandoned", "CacheUnusable", "Inventory", "Packages", "Texts"]

_EVERY = 20


class CacheUnusable(FlowcoreError):
    """A file cannot be kept where it is to stand."""

    code: ClassVar[str] = "cache_unusable"


class Abandoned(Exception):
    """The texts were not indexed to the end, since nobody waits for them any more."""


class Packages:
    """The distributions on a path, and the files made of them.

    Args:
        path: Where to look for distributions; None is the path of this interpreter.
        folder: Where the files are kept: by default in `FLOWCORE_CACHE`, else where caches are kept.
    """

    def __init__(self, path: Sequence[str] | None = None, folder: Path | None = None) -> None:
        self.path = None if path is None else tuple(path)
        self._folder = folder
        self._lock = Lock()

    def inventory(self) -> Path:
        """Return the file of the inventory. Raises `CacheUnusable` and `NothingInstalled`."""
        with self._lock:
            these = installed(self.path)
            file = self._file("inventory", these)
            if not file.is_file():
                _written(partial(write_inventory, file, these), file)
            return file

    def texts(self, stop: Event) -> SQLiteKnowledge:
        """Return the texts, to be searched; whoever sets `stop` waits for them no more.

        Raises `Abandoned`, `CacheUnusable` and `NothingInstalled`.
        """
        with self._lock:
            these = installed(self.path)
            file = self._file("texts", these)
            if not file.is_file():
                _written(partial(SQLiteKnowledge.build, file, _shelves(these, stop)), file)
            return SQLiteKnowledge(file)

    def _file(self, kind: str, these: Sequence[Installed]) -> Path:
        """Return the file for these distributions: others have another one."""
        where = sha256(f"{sys.prefix} {self.path}".encode()).hexdigest()[:8]
        return (self._folder or _cache()) / f"package-agent-{where}-{kind}-{fingerprint(these)}.db"


class Inventory:
    """The inventory as a toolset: made when it is opened, then read with SQL."""

    name = "packages"
    timeout = 30.0

    def __init__(self, packages: Packages) -> None:
        self._packages = packages

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Sequence[Tool]]:
        """Make the inventory if need be, and yield the tools of its database."""
        file = await anyio.to_thread.run_sync(self._packages.inventory)
        async with SQLToolset(self.name, f"sqlite:///{file}", timeout=self.timeout).open() as tools:
            yield tools


class Texts:
    """The texts as knowledge: indexed when they are first searched."""

    def __init__(self, packages: Packages) -> None:
        self._packages = packages
        self._opening = Lock()
        self._knowledge: SQLiteKnowledge | None = None

    async def search(
        self, query: str, *, sources: Collection[str] | None = None, limit: int = 10
    ) -> Sequence[Hit]:
        """Return the passages that match best."""
        stop = Event()
        try:
            knowledge = await anyio.to_thread.run_sync(self._opened, stop, abandon_on_cancel=True)
        finally:
            stop.set()
        return await knowledge.search(query, sources=sources, limit=limit)

    def _opened(self, stop: Event) -> SQLiteKnowledge:
        with self._opening:
            if self._knowledge is None:
                self._knowledge = self._packages.texts(stop)
            return self._knowledge


def _shelves(these: Sequence[Installed], stop: Event) -> Iterator[tuple[Source, Iterator[Passage]]]:
    for done, one in enumerate(these):
        if stop.is_set():
            raise Abandoned("nobody waits for the texts any more")
        if done % _EVERY == 0:
            with suppress(OSError):
                print(f"Reading the installed packages: {done} of {len(these)}", file=sys.stderr, flush=True)
        yield Source(id=one.name), passages(one)


def _written(write: partial[None], file: Path) -> None:
    """Write a file, and take away what was there for other distributions."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write()
        for old in file.parent.glob(f"{file.stem.rpartition('-')[0]}-*.db"):
            if old != file:
                old.unlink(missing_ok=True)
    except (OSError, IndexNotWritten) as error:
        reason = error.reason if isinstance(error, IndexNotWritten) else error.strerror
        raise CacheUnusable(
            f"{file.parent}: {reason}; name a folder that you may write in FLOWCORE_CACHE"
        ) from error


def _cache() -> Path:
    chosen, caches = os.environ.get("FLOWCORE_CACHE"), os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(chosen) if chosen else Path(caches or Path.home() / ".cache") / "flowcore"
    except RuntimeError as error:
        raise CacheUnusable(
            f"there is no place to keep files: {error}; name a folder in FLOWCORE_CACHE"
        ) from error
