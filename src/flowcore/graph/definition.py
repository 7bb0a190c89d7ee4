"""Definitions: what stands behind a node, apart from how a flow uses it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..scope import Budget
from .signature import Signature

if TYPE_CHECKING:
    from .plan import Plan

__all__ = ["Definition", "Function", "Subflow", "is_async"]


@dataclass(frozen=True, slots=True)
class Function:
    """A node that is a function of one step."""

    fn: Callable[..., Any]
    starts_round: bool | None = None
    effects: bool = False
    writes: tuple[str, ...] | None = None
    description: str = ""
    signature: Signature = field(default_factory=Signature, compare=False)
    is_async: bool = field(default=True, compare=False)

    kind = "function"


@dataclass(frozen=True, slots=True)
class Subflow:
    """A node that is a flow of its own, paid from the same budget."""

    plan: Plan
    state: Any = None
    enter: Callable[[Any], Any] | None = None
    leave: Callable[[Any, Any], Any] | None = None
    budget: Budget | None = None
    deps: Callable[[Any], Any] | None = None
    signature: Signature = field(default_factory=Signature, compare=False)

    kind = "subflow"
    starts_round = False
    effects = False
    writes = None

    @property
    def description(self) -> str:
        """The description of the embedded flow."""
        return self.plan.description

    @property
    def shares_draft(self) -> bool:
        """Whether the embedded flow works on the state of the flow around it."""
        return self.enter is None and self.leave is None


Definition = Function | Subflow


def is_async(fn: Callable[..., Any]) -> bool:
    """Return whether a call of `fn` gives something to await."""
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(getattr(fn, "__call__", None))  # noqa: B004
