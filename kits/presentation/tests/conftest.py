"""A result of the presentable shape that no other kit made, and texts that mean harm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Place:
    source: str
    where: str


@dataclass(frozen=True)
class Answer:
    item_id: str
    status: str
    text: str
    citations: Sequence[Place]
    reason: str


@dataclass(frozen=True)
class Result:
    items: Sequence[Answer]


Make = Callable[..., Result]


@pytest.fixture
def make() -> Make:
    """Makes a result of `(item_id, status, text, [(source, where), …], reason)` rows."""

    def result(*rows: tuple[str, str, str, list[tuple[str, str]], str]) -> Result:
        return Result(
            [
                Answer(item_id, status, text, [Place(*place) for place in places], reason)
                for item_id, status, text, places, reason in rows
            ]
        )

    return result


@pytest.fixture
def mixed(make: Make) -> Result:
    """One answer of each status, with a place that two of them cite."""
    limits, timeout = ("httpx", "Limits"), ("httpx", "Timeout")
    return make(
        ("a", "answered", "Idle ones close after 5 s.", [limits, timeout, limits], ""),
        ("b", "fallback", "Ask the maintainers.", [timeout], "cites none of its evidence"),
        ("c", "blocked", "", [], "source denied"),
    )
