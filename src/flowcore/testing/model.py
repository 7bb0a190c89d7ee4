"""The scripted model: a model that says what a test tells it to say."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..messages import ModelReply, ModelRequest

__all__ = ["ScriptedModel"]

Line = str | ModelReply | Exception | Callable[[ModelRequest], str | ModelReply]


class ScriptedModel:
    """A model that answers with the given lines, one a request, and keeps the requests it got.

    A line is a text, a whole reply, an exception to raise, or a function of the request. Raises `AssertionError`
    when it is asked more often than it has lines.
    """

    def __init__(self, lines: Iterable[Line]) -> None:
        self._lines = list(lines)
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Return what the next line says."""
        self.requests.append(request)
        if len(self.requests) > len(self._lines):
            raise AssertionError(f"the scripted model has {len(self._lines)} lines and was asked once more")
        line = self._lines[len(self.requests) - 1]
        if isinstance(line, Exception):
            raise line
        said = line(request) if callable(line) else line
        return said if isinstance(said, ModelReply) else ModelReply(said)
