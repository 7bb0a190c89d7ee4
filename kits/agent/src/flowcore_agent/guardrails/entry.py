"""The entry of a guardrail: one that is loaded when it is first needed, or switched off."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from inspect import isawaitable

from flowcore_agent.ports import Guard

__all__ = ["GuardEntry"]


@dataclass(frozen=True, kw_only=True, slots=True)
class GuardEntry:
    """A guardrail that is loaded when it is first needed, once, or is switched off.

    `load` returns the guardrail; it is called again for the next text where it failed. `fails_open` says whether a
    text passes when that happens, or when the guardrail itself fails.
    """

    name: str
    load: Callable[[], Guard | Awaitable[Guard]]
    fails_open: bool = False
    is_enabled: bool = True
    _loaded: list[Guard] = field(default_factory=list[Guard], init=False, repr=False, compare=False)

    async def guard(self) -> Guard:
        """Return the guardrail. Raises what `load` raises."""
        if not self._loaded:
            made = self.load()
            self._loaded.append(await made if isawaitable(made) else made)
        return self._loaded[0]
