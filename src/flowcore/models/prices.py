"""Prices: what a request cost."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import anyio.to_thread

from ..messages import TokenUsage

__all__ = ["Prices", "PublicPrices"]

Prices = Callable[[str, TokenUsage], float | None]
"""What a request to the named model cost that used so much; None if it has no price."""


class PublicPrices:
    """The providers' public prices in US dollars, as `genai-prices` has them. Nothing is fetched."""

    def __init__(self, base_url: str) -> None:
        self._where = {"provider_api_url": base_url} if base_url else {}
        self._library: Any = None

    async def load(self) -> None:
        """Load the list, outside of the event loop since it is long; once for all."""
        if self._library is None:
            self._library = await anyio.to_thread.run_sync(_load)

    def __call__(self, model: str, usage: TokenUsage) -> float | None:
        """Return the price, or None where the list has no such model, or not at that address."""
        try:
            used = self._library.Usage(
                input_tokens=usage.input,
                output_tokens=usage.output,
                cache_read_tokens=min(usage.cached, usage.input),
            )
            return float(self._library.calc_price(used, model, **self._where).total_price)
        except (LookupError, ValueError, ArithmeticError):
            return None


def _load() -> Any:
    library = import_module("genai_prices")
    library.calc_price(library.Usage(input_tokens=1), "gpt-4o", provider_id="openai")  # reads the list
    return library
