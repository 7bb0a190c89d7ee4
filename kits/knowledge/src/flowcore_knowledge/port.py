"""The port: what a flow may ask of any knowledge, whoever keeps it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from .passage import Hit, Source


class Knowledge(Protocol):
    """Something that can be searched. `SQLiteKnowledge` is the embedded default."""

    async def sources(self) -> Sequence[Source]:
        """Every source with its status, for this caller."""
        ...

    async def search(
        self, query: str, *, sources: Collection[str] | None = None, limit: int = 10
    ) -> Sequence[Hit]:
        """The passages that match best, the best one first.

        Args:
            query: Any text. It is data: nothing in it is read as search syntax.
            sources: Ids of the sources to search; None is every source that is ready.
            limit: The most hits to return.

        Raises:
            AccessDenied: a named source may not be read, or none may.
            SourceNotReady: a named source is pending or has failed.
            UnknownSource: a named source does not exist.
        """
        ...
