"""Library: the indexed texts of the installed packages, kept in a cache, built anew when packages change."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import ClassVar

from flowcore.errors import FlowcoreError
from flowcore_knowledge import IndexMissing, IndexNotWritten, Passage, Source, SQLiteKnowledge

from .distributions import Installed, fingerprint, installed
from .finder import find, weight
from .harvest import VERSION, harvest
from .names import names_of
from .progress import shown
from .question import Item, Reader


class CacheUnusable(FlowcoreError):
    """Raised when the index cannot be read or kept where it is to stand."""

    code: ClassVar[str] = "cache_unusable"

    def __init__(self, place: Path | str, reason: str) -> None:
        super().__init__(f"{place}: {reason}; name another folder in FLOWCORE_CACHE, one that you may write")


@dataclass(frozen=True, slots=True)
class Library:
    """The texts, and a reader that knows their words."""

    knowledge: SQLiteKnowledge
    reader: Reader

    def find(self, item: Item, limit: int) -> list[Passage]:
        """The passages that speak most about an item, best first."""
        return find(self.knowledge, item, limit)


def open_library(file: Path | None = None, *, path: Sequence[str] | None = None) -> Library:
    """Open the index of what is installed; build it first if there is none or if the packages have changed.

    Args:
        file: The index; by default one for this environment in the cache folder.
        path: Where to look for packages; by default the path of this interpreter.

    Raises:
        NothingInstalled: there is no package.
        CacheUnusable: the index cannot be read or written where it is to stand.
        KnowledgeError: the index is broken.
    """
    file = file or index_file()
    _check(file)
    these = installed(path)
    stamp = f"{VERSION} {fingerprint(these)}"
    knowledge = _current(file, stamp)
    if knowledge is None:
        with _alone(file):
            knowledge = _current(file, stamp) or _built(file, stamp, these)
    reader = Reader(names_of(these), knowledge.correct, knowledge.frequency, partial(weight, knowledge))
    return Library(knowledge, reader)


def index_file() -> Path:
    """Where the index of this environment is kept: in `FLOWCORE_CACHE`, else where caches are kept."""
    chosen, caches = os.environ.get("FLOWCORE_CACHE"), os.environ.get("XDG_CACHE_HOME")
    try:
        folder = Path(chosen) if chosen else Path(caches or Path.home() / ".cache") / "flowcore"
    except RuntimeError as error:
        raise CacheUnusable("the index", f"there is no place to keep it: {error}") from error
    return folder / f"packages-{sha256(sys.prefix.encode()).hexdigest()[:12]}.db"


def _check(file: Path) -> None:
    """Raise `CacheUnusable` now if an index there could not be read: to build one takes its time."""
    try:
        with file.open("rb"):
            pass
    except FileNotFoundError:
        pass
    except OSError as error:
        raise CacheUnusable(file, f"the index cannot be read: {error.strerror}") from error


@contextmanager
def _alone(file: Path) -> Generator[None]:
    """Wait until nobody else builds in this folder, and take away what those have left who were killed.

    The system drops the lock of a process that dies, however it does.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(file.parent, os.O_RDONLY)
    except OSError as error:
        raise CacheUnusable(file.parent, f"the index cannot be kept here: {error.strerror}") from error
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        for left in file.parent.glob(f".{file.name}.*"):
            left.unlink(missing_ok=True)
        yield
    finally:
        os.close(folder)


def _built(file: Path, stamp: str, these: Sequence[Installed]) -> SQLiteKnowledge:
    try:
        SQLiteKnowledge.build(file, _shelves(these), fingerprint=stamp)
    except IndexNotWritten as error:
        raise CacheUnusable(file.parent, f"the index cannot be kept here: {error.reason}") from error
    return SQLiteKnowledge(file)


def _current(file: Path, stamp: str) -> SQLiteKnowledge | None:
    try:
        knowledge = SQLiteKnowledge(file)
    except IndexMissing:
        return None
    if knowledge.fingerprint == stamp:
        return knowledge
    knowledge.close()
    return None


def _shelves(these: Sequence[Installed]) -> Iterator[tuple[Source, Iterator[Passage]]]:
    for one in shown(these, "Reading the installed packages"):
        yield Source(id=one.name), harvest(one)
