"""The model: a protocol that every implementation keeps, and what some can do beyond it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Literal, Protocol

from ..messages import Chunk, ModelReply, ModelRequest

__all__ = ["EVERY_FEATURE", "CountingModel", "Feature", "Model", "SizedModel", "StreamingModel"]

Feature = Literal["output_schema", "tools", "reasoning_effort"]
"""What a model may understand of a request beyond its messages.

A model that lacks one says so by an attribute `features`, a set of those that it has. Without `output_schema` the
schema is put into the instructions, without `reasoning_effort` that setting is left out with a warning.
"""

EVERY_FEATURE: frozenset[Feature] = frozenset(("output_schema", "tools", "reasoning_effort"))
"""The features of a model that says nothing of them."""


class Model(Protocol):
    """Something that answers a request. It knows nothing of budgets, retries or types: the runner does.

    An attribute `name`, where it has one, is what the model is known by: in events, and in lists of prices.
    """

    async def complete(self, request: ModelRequest) -> ModelReply[Any]:
        """Return the whole answer."""
        ...


class StreamingModel(Model, Protocol):
    """A model that can answer piece by piece, too."""

    def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        """Yield the answer in pieces, the last with a `finish_reason`. Closing the iterator ends the request."""
        ...


class SizedModel(Model, Protocol):
    """A model that knows what it would send."""

    def payload(self, request: ModelRequest, *, streaming: bool = False) -> bytes:
        """Return the body of the request, byte for byte as it would be sent."""
        ...


class CountingModel(Model, Protocol):
    """A model that can count the tokens of a request without sending it."""

    def count_tokens(self, request: ModelRequest) -> int:
        """Return how many tokens the request is."""
        ...
