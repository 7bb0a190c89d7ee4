"""Knowledge search: a tool that looks something up in knowledge, whoever keeps it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated, Any, Protocol

from pydantic import Field

from ..errors import ContractError
from ..tools import FunctionTool, ToolOutput, tool
from ..tools.hostile import harmless

__all__ = ["FoundPassage", "Knowledge", "PassageText", "knowledge_search"]

_LONGEST = 2_000
_DESCRIPTION = (
    "Search the knowledge that is at hand, and return the passages that match best, each with its source."
)


class PassageText(Protocol):
    """A piece of text with its place."""

    @property
    def source(self) -> str:
        """The id of its source."""
        ...

    @property
    def where(self) -> str:
        """Its place in the source."""
        ...

    @property
    def title(self) -> str:
        """What it is about; may be empty."""
        ...

    @property
    def text(self) -> str:
        """The text itself."""
        ...


class FoundPassage(Protocol):
    """A passage that was found."""

    @property
    def passage(self) -> PassageText:
        """The passage."""
        ...

    @property
    def score(self) -> float:
        """How well it matches, compared with the others."""
        ...


class Knowledge(Protocol):
    """Something that can be searched."""

    async def search(
        self, query: str, *, sources: Collection[str] | None = None, limit: int = 10
    ) -> Sequence[FoundPassage]:
        """Return the passages that match best, the best one first. Raises for sources that may not be searched."""
        ...


def knowledge_search(
    knowledge: Knowledge,
    *,
    name: str = "search_knowledge",
    description: str = _DESCRIPTION,
    sources: Collection[str] | None = None,
    limit: int = 10,
    timeout: float | None = None,
) -> FunctionTool[Any, Any]:
    """Return a tool that searches knowledge. Its value has the passages as the knowledge gave them.

    Args:
        knowledge: What is searched.
        name: The name of the tool.
        description: What the model is told of it.
        sources: The sources that are searched, whatever the model asks for; None leaves it to the knowledge.
        limit: How many passages come back at most.
        timeout: Seconds that a search may take.

    Raises:
        ContractError: The limit is no number above zero, or the name is none.
    """
    if limit < 1:
        raise ContractError(f"knowledge_search(limit={limit!r}): give a number above zero")
    within = None if sources is None else tuple(sources)

    @tool(name=name, description=description, timeout=timeout)
    async def search(query: Query) -> ToolOutput:
        found = tuple(await knowledge.search(query, sources=within, limit=limit))[:limit]
        return ToolOutput("\n\n".join(map(_told, range(1, limit + 1), found)) or "Nothing was found.", found)

    return search


Query = Annotated[
    str, Field(description="What to look for, in the words that a text about it would use.", min_length=1)
]


def _told(number: int, found: FoundPassage) -> str:
    passage = found.passage
    title = f" {harmless(passage.title, 200)}" if passage.title else ""
    return f"[{number}]{title} ({passage.source}, {passage.where})\n{harmless(passage.text, _LONGEST)}"
