"""The model: a protocol that every implementation keeps."""

from __future__ import annotations

from typing import Protocol

from ..messages import ModelReply, ModelRequest

__all__ = ["Model"]


class Model(Protocol):
    """Something that answers a request. It knows nothing of budgets: the runner pays."""

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Return the whole answer."""
        ...
