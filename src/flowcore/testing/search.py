"""The scripted search: a search engine that finds what a test tells it to find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..toolsets import WebResult

__all__ = ["ScriptedSearch"]

Found = Sequence[WebResult] | Exception


class ScriptedSearch:
    """A web search that knows what it finds: `pages` by query, or an error that comes in their place.

    A query that is not named finds what stands under `"*"`, or nothing. `queries` has all that was asked.
    """

    def __init__(self, pages: Mapping[str, Found]) -> None:
        self._pages = dict(pages)
        self.queries: list[str] = []

    async def search(self, query: str, limit: int) -> Sequence[WebResult]:
        """Return the pages of this query, or raise its error."""
        self.queries.append(query)
        found = self._pages.get(query, self._pages.get("*", ()))
        if isinstance(found, Exception):
            raise found
        return found[:limit]
