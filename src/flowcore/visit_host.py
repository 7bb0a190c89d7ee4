"""The host of a visit: what code inside a visit may ask of the place that its run runs in."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isawaitable, iscoroutinefunction
from typing import Any, Literal, NamedTuple, Protocol, cast

import anyio

from .clock import Clock, Loop
from .events import Event
from .requests import Answer, OpenRequest
from .scope import Scope
from .visit import Where, path_of

__all__ = ["CallKind", "CallStatus", "Inside", "LoggedCall", "VisitHost", "inside", "once"]

CallKind = Literal["model", "tool", "effect", "once", "node"]
"""What is called: `effect` is a tool with effects, `node` the function of a node with effects."""
CallStatus = Literal["", "dispatched", "done", "failed", "unknown"]


class LoggedCall(Protocol):
    """A call inside a visit, as it stands in the log of its run. A visit that runs again finds its calls there."""

    @property
    def key(self) -> str:
        """What tells it apart from every other call of the run."""
        ...

    @property
    def status(self) -> CallStatus:
        """How it stood last; '' for one that was not made before."""
        ...

    @property
    def has_result(self) -> bool:
        """Whether its result is recorded, so that it is not made again."""
        ...

    @property
    def alone(self) -> anyio.Lock:
        """What one at a time holds who makes this call."""
        ...

    @property
    def is_barred(self) -> bool:
        """Whether an equal call with effects was interrupted, and nobody knows yet whether it was done."""
        ...

    def recall(self) -> Any:
        """Return the recorded result, and tell that it was taken. Raises `StoreError` if it cannot be read."""
        ...

    def put(self, status: CallStatus, result: Any = None) -> None:
        """Note how the call stands; it is written with what comes next. None is no result.

        Raises `NotSerialisable` for a result that cannot be written.
        """
        ...

    async def written(self) -> None:
        """Return when what was noted is written."""
        ...

    async def keep(self, status: CallStatus, result: Any = None) -> None:
        """Note how the call stands, and return when that is written."""
        ...

    async def clear(self, status: CallStatus, result: Any) -> None:
        """Note what came of the equal calls that nobody knew of."""
        ...


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

    keeps: bool
    """Whether what happens here outlives the process."""

    def log(self, where: Where, kind: CallKind, name: str, arguments: str | Callable[[], str]) -> LoggedCall:
        """Return a call that is about to be made in a visit: of equal ones of this kind the next."""
        ...

    async def wait(
        self, scope: Scope, where: Where, request: OpenRequest, read: Callable[[object], Any], key: str = ""
    ) -> Answer:
        """Return the answer of a person, or that there was none in time. No time passes meanwhile.

        `read` makes the value of what was given as an answer, or raises `ContractError`: "is answered by ...".
        `key` says which request of the visit it is, where that is known better than by what it asks.
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


async def once(scope: Scope, key: str, fn: Callable[[], Any]) -> Any:
    """Return what is recorded under a key in the visit of a scope, or what `fn` returns, and record that."""
    visit = inside(scope)
    if visit is None:
        value = fn()
        return await value if isawaitable(value) else value
    call = visit.host.log(visit.where, "once", key, "")
    async with call.alone:
        if call.has_result:
            return call.recall()[0]
        if iscoroutinefunction(fn):
            value = await fn()
        else:
            value = await visit.host.call(lambda _: fn(), None, path_of(visit.where))
            value = await value if isawaitable(value) else value
        await call.keep("done", [value])
        return value
