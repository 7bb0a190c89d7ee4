"""The each: a definition that runs one flow over many items, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from ..errors import Failure
from ..scope import Budget
from .definition import Composite
from .plan import Plan
from .signature import Signature

__all__ = ["Each", "ItemFailure", "Unfinished"]


@dataclass(frozen=True, slots=True)
class ItemFailure:
    """What stands in the place of the result of an item that failed, with `on_item_error="collect"`."""

    index: int
    failure: Failure


@dataclass(frozen=True, slots=True)
class Unfinished:
    """What stands in the place of the result of an item that was not finished when a limit ran out."""

    index: int


@dataclass(frozen=True, slots=True)
class Each(Composite):
    """A node that makes items of the state, runs a flow over each, and collects the results in item order."""

    kind: ClassVar[str] = "each"
    is_composite: ClassVar[bool] = True
    plan: Plan
    over: Callable[[Any], Any]
    collect: Callable[[Any, Any], Any]
    limit: int = 4
    on_item_error: Literal["fail", "collect"] = "fail"
    budget: Budget | None = None
    takes_unfinished: bool = field(default=False, compare=False)
    signature: Signature = field(default_factory=Signature, compare=False)

    @property
    def passable(self) -> bool:
        """There may be no items."""
        return True

    @property
    def description(self) -> str:
        """The description of the flow that runs over the items."""
        return self.plan.description

    def wanted_deps(self) -> Iterator[tuple[str, Any]]:
        """Yield what the nodes inside want as deps."""
        yield from ((f"/{path}", wanted) for path, wanted in self.plan.wanted_deps)
