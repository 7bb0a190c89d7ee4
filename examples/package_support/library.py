"""Library: the indexed texts of the installed packages, kept in a cache, built anew when packages change."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

from flowcore_knowledge import IndexMissing, Passage, Source, SQLiteKnowledge

from .distributions import Installed, fingerprint, installed
from .finder import find, weight
from .harvest import VERSION, harvest
from .names import names_of
from .progress import shown
from .question import Item, Reader


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
        KnowledgeError: the index is broken or cannot be written.
    """
    these = installed(path)
    file = file or index_file()
    stamp = f"{VERSION} {fingerprint(these)}"
    knowledge = _current(file, stamp)
    if knowledge is None:
        SQLiteKnowledge.build(file, _shelves(these), fingerprint=stamp)
        knowledge = SQLiteKnowledge(file)
    reader = Reader(names_of(these), knowledge.correct, knowledge.frequency, partial(weight, knowledge))
    return Library(knowledge, reader)


def index_file() -> Path:
    """Where the index of this environment is kept: in `FLOWCORE_CACHE`, else where caches are kept."""
    chosen = os.environ.get("FLOWCORE_CACHE")
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(chosen) if chosen else Path(caches) / "flowcore"
    return folder / f"packages-{sha256(sys.prefix.encode()).hexdigest()[:12]}.db"


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
