"""Soundness: what a model and a price return is held to what it must be. Models are written by anybody."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from inspect import isasyncgen, iscoroutine
from typing import Any, cast

from ..errors import ContractError
from ..messages import Chunk, ModelReply, TokenUsage

__all__ = ["is_cost", "is_usage", "sound_chunk", "sound_price", "sound_reply", "sound_stream"]


def sound_reply(reply: Any) -> ModelReply[Any]:
    """Return the reply. Raises `ContractError` if it is none."""
    if not isinstance(reply, ModelReply):
        raise ContractError(f"`complete` of the model returned a {type(reply).__name__}: it returns a ModelReply")
    for name, kind in (
        ("text", str), ("reasoning", str), ("usage", TokenUsage), ("tool_calls", tuple), ("warnings", tuple)
    ):  # fmt: skip
        held = getattr(reply, name)
        if not isinstance(held, kind):
            raise ContractError(f"{name} of the model's reply is a {type(held).__name__}: it is a {kind.__name__}")
    return reply


def sound_chunk(chunk: Any) -> Chunk:
    """Return the piece. Raises `ContractError` if it is none."""
    if not isinstance(chunk, Chunk):
        raise ContractError(f"`stream` of the model yielded a {type(chunk).__name__}: it yields Chunks")
    text: Any = chunk.text
    if not isinstance(text, str):
        raise ContractError(f"the text of a Chunk of the model is a {type(text).__name__}: it is a str")
    return chunk


def sound_stream(stream: Any) -> AsyncIterator[Chunk]:
    """Return the stream. Raises `ContractError` if it is none."""
    if isasyncgen(stream) or hasattr(stream, "__anext__"):
        return cast("AsyncIterator[Chunk]", stream)
    if hasattr(stream, "__aiter__"):
        return aiter(stream)
    if iscoroutine(stream):
        stream.close()
    raise ContractError(
        f"`stream` of the model returned a {type(stream).__name__}: it is an `async def` that yields Chunks"
    )


def is_usage(usage: TokenUsage) -> bool:
    """Return whether so much can have been used."""
    counts = (usage.input, usage.output, usage.cached, usage.reasoning)
    return all(type(count) is int and count >= 0 for count in counts)


def is_cost(cost: Any) -> bool:
    """Return whether something can have cost that."""
    return isinstance(cost, int | float) and math.isfinite(cost) and cost >= 0


def sound_price(name: str, price: Any) -> float | None:
    """Return a price. Raises `ContractError` if it is none."""
    if price is None:
        return None
    try:
        cost = float(price)
    except (TypeError, ValueError, OverflowError):
        cost = math.nan
    if isinstance(price, str) or not is_cost(cost):
        raise ContractError(f"the price of {name!r} is {price!r}: `prices` returns zero or more, or None")
    return cost
