"""The host: the only way by which a walk reaches the world outside it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ..errors import Failure
from ..frame import Frame
from ..graph import PlanNode
from ..outcome import Complete, Continue
from ..scope import Budget, Scope
from ..state import Shape, Values
from ..trace import RouteKind

__all__ = ["Done", "Ended", "Host", "Left", "Opened", "Place"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a walk's visits take place: its frame, the shape of its state, the scope they spend, their deps."""

    frame: Frame
    shape: Shape
    scope: Scope
    deps: Any


class Opened(NamedTuple):
    """A visit that has begun: its first number in the run, and when."""

    seq: int
    at: float
    round: int


class Done(NamedTuple):
    """How a visit's attempts ended: with an outcome and a patch, or with a failure.

    `routable` says whether an error route may take the failure.
    """

    outcome: Continue[Any] | Complete[Any] | None
    patch: Values | None = None
    error: Exception | None = None
    failure: Failure | None = None
    routable: bool = True
    attempts: int = 1
    retried: tuple[Failure, ...] = ()
    inner: Frame | None = None


class Ended(NamedTuple):
    """How a walk ended: completed with `value`, or with a failure. `values` is the last committed state."""

    value: Any
    values: Values
    error: Exception | None = None
    failure: Failure | None = None
    routable: bool = True


class Left(NamedTuple):
    """A visit that has ended, and the route by which the walk left it."""

    frame: Frame
    node: str
    number: int
    opened: Opened
    done: Done
    kind: RouteKind
    label: str = ""
    target: str = ""
    why: Mapping[str, Any] | None = None
    alternatives: tuple[str, ...] = ()


class Host(Protocol):
    """What a walk asks of the place that it runs in."""

    def control(self, scope: Scope) -> bool:
        """Return whether others wait to run. Raises `BudgetExhausted` when the walk's time is over."""
        ...

    def begin(self, place: Place, item: PlanNode, number: int, charged: bool) -> Opened:
        """Note that a visit begins."""
        ...

    def passed_by(self) -> Opened:
        """Note that a node is over its limit and is not visited."""
        ...

    async def visit(
        self, place: Place, item: PlanNode, number: int, values: Values, failure: Failure | None
    ) -> Done:
        """Run a node's function: draft, timeout and retries are inside."""
        ...

    async def commit(self, left: Left) -> None:
        """Keep what a visit did. When this returns it is not lost."""
        ...

    def exhausted(self, place: Place, item: PlanNode, number: int, error: Exception) -> Failure:
        """Note that a limit kept a node from being entered, and return that as a failure."""
        ...

    def narrowed(self, scope: Scope, budget: Budget, path: str) -> Scope:
        """Return a scope inside `scope` whose time begins now."""
        ...

    async def bounded(
        self, place: Place, walk: Callable[[], Awaitable[Ended]], values: Callable[[], Values]
    ) -> Ended:
        """Run a walk within the seconds of its scope. Out of time, it is cancelled and has failed."""
        ...

    async def breathe(self) -> None:
        """Let others run."""
        ...
