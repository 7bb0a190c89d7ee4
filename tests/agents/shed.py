"""The shed: the tools of the conversations, and what was done with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

__all__ = ["PATIENCE", "Shed"]

PATIENCE = 0.05
"""Seconds that a tool may take; the one that is late never ends by itself."""
_RETURNED: dict[str, Any] = {
    "look": "seen",
    "long": "0123456789" * 10_000,
    "nothing": None,
    "blank": "",
    "rows": [{"name": "Ünal", "age": 7, "score": 0.5, "is_new": True, "note": None}],
    "blue": "Größe 日本語 👩‍👩‍👧 \u200b\x00 \N{GRINNING FACE}",
}


@dataclass
class Shed:
    """The tools of one conversation. `ran` has what they were called with, in the order in which they began."""

    ran: list[tuple[Any, ...]] = field(default_factory=list)

    def tools(self, names: Sequence[str]) -> list[Callable[..., Any]]:
        """Return the tools of these names, made anew."""
        made = [self._adding(), *self._side_by_side(), *self._faulty(), *map(self._returning, _RETURNED)]
        named = {each.__name__: each for each in made}
        return [named[name] for name in names]

    def _adding(self) -> Callable[..., Any]:
        async def add(a: int, b: int) -> int:
            """Add two numbers."""
            self.ran.append(("add", a, b))
            return a + b

        return add

    def _side_by_side(self) -> tuple[Callable[..., Any], ...]:
        second_has_ended = anyio.Event()

        async def first() -> str:
            """End after the second."""
            self.ran.append(("first",))
            await second_has_ended.wait()
            return "one"

        async def second() -> str:
            """End before the first."""
            self.ran.append(("second",))
            second_has_ended.set()
            return "two"

        return first, second

    def _faulty(self) -> tuple[Callable[..., Any], ...]:
        async def broken() -> str:
            """Break."""
            self.ran.append(("broken",))
            raise ValueError("no such shelf")

        async def late() -> None:
            """Take for ever."""
            self.ran.append(("late",))
            await anyio.sleep_forever()

        return broken, late

    def _returning(self, name: str) -> Callable[..., Any]:
        async def work() -> Any:
            self.ran.append((name,))
            return _RETURNED[name]

        work.__name__, work.__doc__ = name, f"Return {name}."
        return work
