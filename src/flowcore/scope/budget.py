"""The budget: how much a run may spend, and the usage that is held against it."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

__all__ = ["COUNTED", "Budget", "Usage"]

COUNTED = ("rounds", "requests", "tool_calls", "tokens", "cost")
"""The dimensions that are charged. `seconds` passes by itself."""
_WHOLE = frozenset({"rounds", "requests", "tool_calls", "tokens"})


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one run and of everything beneath it.

    `None` is no limit, zero refuses the first use. `rounds`, `requests`, `tool_calls` and `tokens` are whole
    numbers; `cost` is in the currency of your prices; `seconds` is running time. Raises `ValueError` for a
    negative or not-a-number limit and `TypeError` for a limit of the wrong type.
    """

    rounds: int | None = 25
    requests: int | None = None
    tool_calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for entry in fields(self):
            limit = getattr(self, entry.name)
            if limit is None:
                continue
            whole = entry.name in _WHOLE
            if isinstance(limit, bool) or not isinstance(limit, int if whole else int | float):
                kind = "a whole number" if whole else "a number"
                raise TypeError(f"Budget({entry.name}={limit!r}): give {kind}, or None for no limit")
            if math.isnan(limit) or limit < 0:
                raise ValueError(f"Budget({entry.name}={limit!r}): give zero or more, or None for no limit")


@dataclass(frozen=True, slots=True)
class Usage:
    """What was spent: whole numbers, `cost` in the currency of your prices, `seconds` of running time."""

    rounds: int = 0
    requests: int = 0
    tool_calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0

    @classmethod
    def of(cls, counters: tuple[float, ...]) -> Usage:
        """Return the usage that stands in a scope's counters."""
        rounds, requests, tool_calls, tokens, cost = counters
        return cls(int(rounds), int(requests), int(tool_calls), int(tokens), float(cost))

    def __str__(self) -> str:
        words = [_count(self.rounds, "round")]
        if self.requests:
            words.append(_count(self.requests, "request"))
        if self.tool_calls:
            words.append(_count(self.tool_calls, "tool call"))
        if self.tokens:
            words.append(_count(self.tokens, "token"))
        return "used " + ", ".join(words)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
