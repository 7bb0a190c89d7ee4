"""The script of an agent: what its model says in each turn, for every side. Needs the standard library alone."""

from __future__ import annotations

__all__ = ["CALLS", "Counter", "calls_of"]

CALLS = 4
"""How many calls a turn has."""


def calls_of(turn: int) -> list[tuple[str, str, str]]:
    """Return the calls of a turn: id, tool and arguments. Two tools by turns, and no call twice."""
    numbers = range(turn * CALLS, (turn + 1) * CALLS)
    return [(f"c{number}", ("add", "take")[number % 2], f'{{"x": {number}}}') for number in numbers]


class Counter:
    """The tools, which count how often they were called."""

    def __init__(self) -> None:
        self.count = 0

    async def add(self, x: int) -> int:
        """Add one."""
        self.count += 1
        return x + 1

    async def take(self, x: int) -> int:
        """Take one away."""
        self.count += 1
        return x - 1

    def taken(self) -> int:
        """Return the count, and begin anew."""
        count, self.count = self.count, 0
        return count
