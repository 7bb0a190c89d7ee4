"""The sub-flow: a definition that is a whole flow, paid from the same budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..scope import Budget
from .definition import Composite
from .plan import Plan
from .signature import Signature

__all__ = ["Subflow"]


@dataclass(frozen=True, slots=True)
class Subflow(Composite):
    """A node that is a flow of its own."""

    kind: ClassVar[str] = "subflow"
    is_composite: ClassVar[bool] = True

    plan: Plan
    state: Any = None
    enter: Callable[[Any], Any] | None = None
    leave: Callable[[Any, Any], Any] | None = None
    budget: Budget | None = None
    deps: Callable[[Any], Any] | None = None
    signature: Signature = field(default_factory=Signature, compare=False)

    @property
    def description(self) -> str:
        """The description of the embedded flow."""
        return self.plan.description

    @property
    def passable(self) -> bool:
        """Whether an unpaid path leads through the embedded flow to a `Complete`."""
        return self.plan.passable

    @property
    def shares_state(self) -> bool:
        """Whether the embedded flow works on the state of the flow around it."""
        return self.enter is None and self.leave is None

    def wanted_deps(self) -> Iterator[tuple[str, Any]]:
        """Yield what the nodes inside want, or what makes their deps."""
        if self.deps is None:
            yield from ((f"/{path}", wanted) for path, wanted in self.plan.wanted_deps)
        else:
            yield "", self.signature.deps
