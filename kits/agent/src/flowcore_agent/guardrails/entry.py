"""The entry of a guardrail: one that is loaded when it is first needed, or switched off."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from flowcore_agent.ports import Guard

__all__ = ["GuardEntry"]


@dataclass(frozen=True, kw_only=True, slots=True)
class GuardEntry:
    """A guardrail that is loaded when it is first needed, or is switched off.

    `load` returns the guardrail; it is called again for the next text where it failed. `fails_open` says whether a
    text passes when that happens, or when the guardrail itself fails.
    """

    name: str
    load: Callable[[], Guard | Awaitable[Guard]]
    fails_open: bool = False
    is_enabled: bool = True
