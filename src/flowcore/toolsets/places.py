"""Places: where an MCP server is, told without what is secret."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from ..models.secrets import Secrets

__all__ = ["Command", "Endpoint", "Headers"]

Headers = Mapping[str, str] | Callable[[], Mapping[str, str]]
"""Headers of every request, or what returns them: it is asked anew whenever the server is opened."""


@dataclass(frozen=True, slots=True)
class Command:
    """A server that is started as a process. Its arguments and its environment are never shown."""

    words: tuple[str, ...] = field(repr=False)
    env: Mapping[str, str] = field(repr=False)
    cwd: Path | str | None = None

    @property
    def shown(self) -> str:
        """The name of the program."""
        return PurePath(self.words[0]).name

    @property
    def secrets(self) -> Secrets:
        """What must not be shown."""
        return Secrets.of("", self.env)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server that is reached by HTTP. Its headers, and the query of its URL, are never shown."""

    url: str = field(repr=False)
    headers: Headers = field(repr=False)

    @property
    def shown(self) -> str:
        """The URL without its query."""
        return self.url.partition("?")[0]

    def current_headers(self) -> dict[str, str]:
        """Return the headers as they are now."""
        return dict(self.headers() if callable(self.headers) else self.headers)
