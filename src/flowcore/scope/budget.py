"""The budget: how much a run may spend, and the usage that is held against it."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

__all__ = ["COUNTED", "Budget", "Reserve", "Usage"]

COUNTED = ("rounds", "requests", "tool_calls", "tokens", "cost")
"""The dimensions that are charged. `seconds` passes by itself."""
_WHOLE = frozenset({"rounds", "requests", "tool_calls", "tokens"})


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one run and of everything beneath it.

    `None` is no limit, and so is an infinite one, which becomes `None`; zero refuses the first use. `rounds`,
    `requests`, `tool_calls` and `tokens` are whole numbers; `cost` is in the currency of your prices; `seconds` is
    running time. Raises `ValueError` for a negative or not-a-number limit and `TypeError` for a limit of the wrong
    type.
    """

    rounds: int | None = 25
    requests: int | None = None
    tool_calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        _check_limits(self)


@dataclass(frozen=True, slots=True)
class Reserve:
    """What a flow holds back for its finish path.

    Nobody else can spend it, and the finish path is never refused it. Units are those of `Budget`, and so are the
    errors.
    """

    requests: int = 0
    rounds: int = 0
    tool_calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        _check_limits(self)


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


def _check_limits(limits: Budget | Reserve) -> None:
    name = type(limits).__name__
    none = ", or None for no limit" if isinstance(limits, Budget) else ""
    for entry in fields(limits):
        limit = getattr(limits, entry.name)
        if limit is None and none:
            continue
        whole = entry.name in _WHOLE
        if isinstance(limit, bool) or not isinstance(limit, int if whole else int | float):
            raise TypeError(f"{name}({entry.name}={limit!r}): give a {'whole ' if whole else ''}number{none}")
        if math.isnan(limit) or limit < 0:
            raise ValueError(f"{name}({entry.name}={limit!r}): give zero or more{none}")
        if math.isinf(limit):
            if not none:
                raise ValueError(f"{name}({entry.name}={limit!r}): give a number that can be held back")
            object.__setattr__(limits, entry.name, None)  # no JSON can say that it is infinite


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
