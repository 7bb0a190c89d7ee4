"""The host of a visit: what code inside a visit may ask of the place that its run runs in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, cast

from .clock import Clock, Loop
from .events import Event
from .requests import Answer, OpenRequest
from .scope import Scope
from .visit import Where

__all__ = ["Inside", "VisitHost", "inside"]


class VisitHost(Protocol):
    """Where the runs of visits take place. A run reaches it through its scope, so nothing need be passed on."""

    run_id: str
    clock: Clock
    loop: Loop
    grace: float
    calls: dict[Where, set[str]]
    """By which ids the calls of tools that are under way in a visit are told."""

    def note(self, where: Where, event: type[Event], **values: Any) -> None:
        """Keep what happened in a visit that is under way, and tell it. From whatever thread."""
        ...

    def tell(self, where: Where, event: type[Event], **values: Any) -> None:
        """Tell those who listen, and keep nothing. From whatever thread."""
        ...

    async def call(self, fn: Callable[[Any], Any], argument: Any, path: str) -> Any:
        """Call a function in one of the run's threads."""
        ...

    def leave_behind(self, path: str) -> None:
        """Name what was asked to stop, and did not for the whole time of grace."""
        ...

    async def wait(
        self, scope: Scope, where: Where, request: OpenRequest, read: Callable[[object], Any]
    ) -> Answer:
        """Return the answer of a person, or that there was none in time. No time passes meanwhile.

        `read` makes the value of what was given as an answer, or raises `ContractError`: "is answered by ...".
        """
        ...


class Inside(NamedTuple):
    """A visit that is under way, and its host."""

    host: VisitHost
    where: Where


def inside(scope: Scope) -> Inside | None:
    """Return the visit that a scope belongs to; None for one without a run."""
    where = next((each.visit for each in scope.chain if each.visit is not None), None)
    return None if scope.host is None or where is None else Inside(cast(VisitHost, scope.host), where)
