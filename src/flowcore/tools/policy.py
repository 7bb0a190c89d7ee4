"""The policy: whether a call may run, may not, or is put to a person. Hooks come before it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from ..messages import ToolCall
from .definition import Arguments, Tool

__all__ = ["Allow", "Ask", "Decision", "Deny", "Hook", "Policy", "Proposal"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A call that a model proposes, checked: the tool that is meant, and arguments that fit it.

    `call` is what the model wrote, `deps` what was passed to the executor. It says nothing of success: that is
    what a `ToolResult` does.
    """

    call: ToolCall
    tool: Tool
    arguments: Arguments
    run_id: str = ""
    path: str = ""
    deps: Any = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Allow:
    """The call may run."""


@dataclass(frozen=True, slots=True)
class Deny:
    """The call may not run; the model is told the reason."""

    reason: str = "it is not allowed"


@dataclass(frozen=True, slots=True)
class Ask:
    """A person decides, by `run.answer(...)`. Without an answer within `expires` seconds it is a no."""

    question: str = ""
    expires: float = 300.0

    def __post_init__(self) -> None:
        if not 0 < self.expires <= _LONGEST:
            raise ValueError(f"Ask(expires={self.expires!r}): give seconds above zero, at most a year")


_LONGEST = 365 * 24 * 3600.0
Decision = Allow | Deny | Ask
Policy = Callable[[Proposal], Decision | Awaitable[Decision]]
"""Decides about a proposal. One that raises, or returns anything else, denies."""
Hook = Callable[[Proposal], "Arguments | Deny | Awaitable[Arguments | Deny | None] | None"]
"""Called before the policy: returns None, other arguments, or `Deny`. One that raises denies."""
