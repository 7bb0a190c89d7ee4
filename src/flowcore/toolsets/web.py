"""Web search: a tool that asks a search engine, whichever you bring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol
from urllib.parse import urlsplit

from pydantic import Field

from ..errors import ContractError
from ..tools import FunctionTool, ToolOutput, tool
from ..tools.hostile import harmless

__all__ = ["WebResult", "WebSearch", "web_search"]

_DESCRIPTION = "Search the web, and return the pages that match best: title, address and an excerpt of each."


@dataclass(frozen=True, slots=True)
class WebResult:
    """A page that was found."""

    title: str
    url: str
    excerpt: str = ""


class WebSearch(Protocol):
    """A search engine."""

    async def search(self, query: str, limit: int) -> Sequence[WebResult]:
        """Return the pages that match best, the best one first."""
        ...


def web_search(
    engine: WebSearch,
    *,
    name: str = "search_web",
    description: str = _DESCRIPTION,
    limit: int = 5,
    timeout: float | None = None,
) -> FunctionTool[Any, Any]:
    """Return a tool that searches the web. Its value has the results; those that are no web pages are left out.

    Args:
        engine: What is asked.
        name: The name of the tool.
        description: What the model is told of it.
        limit: How many pages come back at most.
        timeout: Seconds that a search may take.

    Raises:
        ContractError: The limit is no number above zero, or the name is none.
    """
    if limit < 1:
        raise ContractError(f"web_search(limit={limit!r}): give a number above zero")

    @tool(name=name, description=description, timeout=timeout)
    async def search(query: Query) -> ToolOutput:
        found = tuple(page for page in await engine.search(query, limit) if _is_web(page.url))[:limit]
        return ToolOutput("\n\n".join(map(_told, range(1, limit + 1), found)) or "Nothing was found.", found)

    return search


Query = Annotated[str, Field(description="What to look for.", min_length=1)]


def _is_web(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _told(number: int, page: WebResult) -> str:
    lines = (f"[{number}] {harmless(page.title, 200)}", harmless(page.url, 2_000), harmless(page.excerpt, 1_000))
    return "\n".join(filter(None, lines))
