"""The model: a protocol that every implementation keeps."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Protocol

from ..messages import Chunk, ModelReply, ModelRequest

__all__ = ["Model", "StreamingModel"]


class Model(Protocol):
    """Something that answers a request. It knows nothing of budgets, retries or types: the runner does."""

    async def complete(self, request: ModelRequest) -> ModelReply[Any]:
        """Return the whole answer."""
        ...


class StreamingModel(Model, Protocol):
    """A model that can answer piece by piece, too."""

    def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        """Yield the answer in pieces. Closing the iterator ends the request."""
        ...
