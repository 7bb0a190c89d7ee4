"""The host: the only way by which a walk reaches the world outside it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from enum import Enum
from typing import Any, NamedTuple, Protocol

from ..errors import Failure
from ..frame import Frame
from ..graph import PlanNode
from ..outcome import Complete, Continue
from ..scope import Budget, Reserve, Scope
from ..state import Shape, Values
from ..visit import Way

__all__ = ["Arrival", "Done", "Ended", "Host", "Left", "Opened", "Place", "WalkStopped"]


class WalkStopped(BaseException):
    """Unwinds a walk whose run was asked to end. Never seen outside of the run."""


class Slot(Protocol):
    """The place that an item of an each takes up among those that run at a time."""

    @property
    def is_crowded(self) -> bool:
        """Whether more are at work than may be, since one came back from a wait that was cut short."""
        ...

    async def park(self, waiting: Awaitable[None]) -> None:
        """Wait, and let another item go on meanwhile."""
        ...

    def leave(self) -> None:
        """Give up the place, since everything inside waits."""
        ...

    async def enter(self) -> None:
        """Take a place again, when there is one."""
        ...

    def reclaim(self) -> None:
        """Take a place again at once, since what is inside ends."""
        ...


class Place(NamedTuple):
    """Where a walk's visits take place: its frame, the shape of its state, the scope they spend, their deps."""

    frame: Frame
    shape: Shape
    scope: Scope
    deps: Any
    slot: Slot | None = None


class Arrival(NamedTuple):
    """What led to a node: the failure whose error route it is, or the limit whose finish it is."""

    failure: Failure | None = None
    exhausted: str | None = None


class Opened(NamedTuple):
    """A visit that has begun: its first number in the run, when, in which round, and whether it paid for it."""

    seq: int
    at: float
    round: int
    charged: bool


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
    exhausted: str | None = None


class Verdict(Enum):
    """What the end of one walk means to those beside it."""

    GO_ON = "go on"
    NO_MORE = "begin no more, and let the others end"
    STOP = "stop the others"


class Side(NamedTuple):
    """One of several walks that run side by side."""

    walk: Callable[[], Awaitable[Ended]]
    scope: Scope
    frame: Frame


class Left(NamedTuple):
    """A visit that has ended, and the route by which the walk left it."""

    frame: Frame
    node: str
    number: int
    opened: Opened
    done: Done
    way: Way
    why: Mapping[str, Any] | None = None


class Host(Protocol):
    """What a walk asks of the place that it runs in."""

    keeps: bool
    """Whether what visits do is written down, so that it has to be `kept`."""

    def control(self, scope: Scope) -> bool:
        """Return whether others wait to run.

        Raises `WalkStopped` when the run was asked to end, and `BudgetExhausted` when the walk's time is over.
        """
        ...

    def begin(self, place: Place, item: PlanNode, number: int) -> Opened:
        """Note that a visit begins."""
        ...

    def passed_by(self) -> Opened:
        """Note that a node is over its limit and is not visited."""
        ...

    def visit(
        self, place: Place, item: PlanNode, number: int, values: Values, arrival: Arrival
    ) -> Awaitable[Done]:
        """Run a node's function: draft, timeout and retries are inside."""
        ...

    def kept(self, place: Place, item: PlanNode, number: int, values: Values, done: Done) -> Done:
        """Return how a visit ended as it can be written down: failed, if it did what cannot be."""
        ...

    def commit(self, left: Left) -> Awaitable[None] | None:
        """Keep what a visit did: kept when this returns None, or when what it returns was awaited."""
        ...

    def exhausted(self, path: str, error: Exception) -> Failure:
        """Note that a limit was reached outside of a handler, and return that as a failure."""
        ...

    def finishing(self, place: Place, item: PlanNode, dimension: str) -> None:
        """Note that the walk goes on along its finish path."""
        ...

    def narrowed(self, scope: Scope, budget: Budget, frame: Frame, reserve: Reserve) -> Scope:
        """Return the scope that a walk has of its own inside `scope`. Its time begins now, or goes on."""
        ...

    def timed(self, scope: Scope, seconds: float, path: str) -> Scope:
        """Return a scope inside `scope` that is only a timeout, which begins now."""
        ...

    async def bounded(
        self, place: Place, walk: Callable[[], Awaitable[Ended]], values: Callable[[], Values]
    ) -> Ended:
        """Run a walk within the time of its scope. Out of time it is stopped, and has failed with `values`."""
        ...

    async def gather(
        self,
        place: Place,
        count: int,
        begin: Callable[[int, Slot], Side],
        limit: int,
        verdict: Callable[[int, Ended], Verdict],
    ) -> list[Ended | None]:
        """Run walks side by side, at most `limit` at a time, as the verdict on each end says.

        Return how each ended, in their order; None stands for one that was stopped, or never begun.
        """
        ...

    async def breathe(self) -> None:
        """Let others run."""
        ...
