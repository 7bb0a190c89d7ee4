"""SQLiteKnowledge: the embedded default, one file with a full-text index ranked by BM25."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import closing
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Self

import anyio.to_thread

from .errors import AccessDenied, SourceNotReady, UnknownSource
from .index_file import border, open_index, write_index
from .passage import Hit, Passage, Source
from .words import spellings, terms

_MOST_TERMS = 128
_RARE = 4
_SEARCH = """
    SELECT passage.source, passage."where", passage.title, passage.body, -bm25(words, :title, :text, :context)
    FROM words JOIN passage ON passage.id = words.rowid
    WHERE words MATCH :query {ranges} ORDER BY bm25(words, :title, :text, :context) LIMIT :limit
"""


class SQLiteKnowledge:
    """Knowledge in one SQLite file. Open it, search it from any task or thread, close it.

    Args:
        path: The index file, as written by `build`.
        allow: Says of a source id whether this caller may read it; a source that it refuses is *denied*.
        weights: How much a word counts in title, text and context.

    Raises:
        IndexMissing, IndexBroken, IndexTooNew: the file cannot be used; the message says what to do.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        allow: Callable[[str], bool] = lambda source: True,
        weights: tuple[float, float, float] = (3.0, 1.0, 0.5),
    ) -> None:
        self.path = Path(path)
        self._weights = dict(zip(("title", "text", "context"), weights, strict=True))
        self._lock = threading.Lock()
        self._connection = open_index(self.path)
        with border(self.path):
            rows = self._connection.execute(
                "SELECT id, status, note, first, last FROM source ORDER BY id"
            ).fetchall()
            self.fingerprint: str = self._connection.execute("SELECT fingerprint FROM about").fetchone()[0]
            self.size: int = self._connection.execute("SELECT count(*) FROM passage").fetchone()[0]
        self._sources = {row[0]: _seen_by(allow, Source(id=row[0], status=row[1], note=row[2])) for row in rows}
        self._ranges = {row[0]: (row[3], row[4]) for row in rows}
        self.frequency: Callable[[str], int] = lru_cache(maxsize=50_000)(self._frequency)

    @staticmethod
    def build(
        path: str | PathLike[str],
        shelves: Iterable[tuple[Source, Iterable[Passage]]],
        *,
        fingerprint: str = "",
    ) -> None:
        """Write an index of sources with their passages, whole or not at all: a reader never sees half a file.

        `fingerprint` is kept with it, so that the owner can tell whether the index is still the right one.
        """
        write_index(Path(path), shelves, fingerprint)

    def close(self) -> None:
        """Close the file. A search afterwards is a mistake of the program: `sqlite3.ProgrammingError`."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    async def sources(self) -> Sequence[Source]:
        """Every source with its status, ordered by id."""
        return tuple(self._sources.values())

    async def search(
        self, query: str, *, sources: Collection[str] | None = None, limit: int = 10
    ) -> Sequence[Hit]:
        """The passages that match best, as `Knowledge.search` says; in a worker thread."""
        return await anyio.to_thread.run_sync(lambda: self.find(query, sources=sources, limit=limit))

    def find(self, query: str, *, sources: Collection[str] | None = None, limit: int = 10) -> Sequence[Hit]:
        """`search` for synchronous code."""
        if limit < 0:
            raise ValueError(f"limit={limit}: give zero or more")
        chosen = self._readable() if sources is None else [self._checked(source) for source in sources]
        wanted = list(dict.fromkeys(terms(query)))[:_MOST_TERMS]
        if not wanted or not chosen:
            return ()
        everything = len(chosen) == len(self._sources)
        ranges = "" if everything else f"AND ({' OR '.join(self._range(source) for source in chosen)})"
        # A term is made of letters and digits alone, so that no quote can end the quotes.
        values = {**self._weights, "query": " OR ".join(f'"{term}"' for term in wanted), "limit": limit}
        with self._lock, border(self.path):
            rows = self._connection.execute(_SEARCH.format(ranges=ranges), values).fetchall()
        return tuple(
            Hit(passage=Passage(source=source, where=where, title=title, text=text), score=score)
            for source, where, title, text, score in rows
        )

    def correct(self, word: str) -> str:
        """What a misspelt word most likely means: one that is a slip away and far more frequent in the index.

        A word that is short, no word, or well known comes back as it is.
        """
        known = self._known(word)
        if len(word) < 5 or not word.isalpha() or known > _RARE:
            return word
        best = max(sorted(set(spellings(word))), key=self._known)
        return best if self._known(best) > _RARE * (1 + known) else word

    def _known(self, word: str) -> int:
        return min((self.frequency(term) for term in terms(word)), default=0)

    def _frequency(self, term: str) -> int:
        """In how many passages a term stands."""
        with self._lock, border(self.path), closing(self._connection.cursor()) as cursor:
            row = cursor.execute("SELECT doc FROM vocabulary WHERE term = ?", (term,)).fetchone()
        return int(row[0]) if row else 0

    def _checked(self, id: str) -> str:
        source = self._sources.get(id)
        if source is None:
            raise UnknownSource(id)
        if source.status == "denied":
            raise AccessDenied(id, source.note)
        if source.status != "ready":
            raise SourceNotReady(id, source.status, source.note)
        return id

    def _readable(self) -> list[str]:
        ready = [source.id for source in self._sources.values() if source.status == "ready"]
        denied = [source for source in self._sources.values() if source.status == "denied"]
        if denied and not ready:
            raise AccessDenied(denied[0].id, denied[0].note)
        return ready

    def _range(self, source: str) -> str:
        first, last = self._ranges[source]
        return f"words.rowid BETWEEN {first:d} AND {last:d}"


def _seen_by(allow: Callable[[str], bool], source: Source) -> Source:
    return source if allow(source.id) else source.model_copy(update={"status": "denied"})
