"""The host of a suite: what a place that flows run in offers, so that it can be tested like every other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Protocol

from ..events import Event
from ..flow import Flow
from ..requests import OpenRequest
from ..result import RunResult
from ..trace import Trace
from ..trigger import Trigger
from .clock import FakeClock

__all__ = ["DurableHost", "FlowHost", "HostedRun"]


class HostedRun(Protocol):
    """A run under way, seen from outside. `flowcore.Run` is one."""

    run_id: str

    @property
    def requests(self) -> tuple[OpenRequest, ...]:
        """What it asks people and has no answer to."""
        ...

    @property
    def trace(self) -> Trace:
        """The visits that have been committed so far."""
        ...

    @property
    def is_paused(self) -> bool:
        """Whether it waits to be resumed."""
        ...

    async def wait(self) -> RunResult[Any]:
        """Return how it ended, when it has."""
        ...

    def events(self, after: int = 0) -> AsyncIterator[Event]:
        """Yield its events, from the first one, to the last."""
        ...

    async def answer(self, request_id: str | None, value: object, *, by: str = "user") -> None:
        """Answer a request."""
        ...

    async def pause(self, *, by: str = "") -> None:
        """Return when it is paused."""
        ...

    async def resume(self, *, by: str = "") -> None:
        """Let it go on after a pause."""
        ...

    async def stop(self, *, by: str = "") -> None:
        """End it at its next boundary, and return when it has ended."""
        ...

    async def cancel(self, reason: Any = "user") -> None:
        """End it at once, and return when it has ended."""
        ...


class FlowHost:
    """What the author of a host implements for `HostContract`. Each test has one, with its own clock."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock

    async def start(
        self, flow: Flow[Any, Any, Any], state: Any, *, deps: Any, run_id: str, trigger: Trigger | None = None
    ) -> HostedRun:
        """Start a flow, and return when it is under way."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """End whatever is under way, and let go of everything."""
        raise NotImplementedError


class DurableHost(FlowHost):
    """What the author of a host that loses nothing implements for `DurableHostContract`."""

    async def resume(self, flow: Flow[Any, Any, Any], run_id: str, *, deps: Any, by: str = "") -> HostedRun:
        """Go on with a run in another process, as `Flow.resume` does, and return when it is under way."""
        raise NotImplementedError

    async def lose(self, run: HostedRun) -> None:
        """Let the process of a run die without a word, and return when another one may take the run."""
        raise NotImplementedError

    def lose_at(self, write: int, *, hears: bool) -> None:
        """Let the process of the next run die at a write; `hears` says whether it hears that this was written."""
        raise NotImplementedError

    def is_dead(self, run: HostedRun) -> bool:
        """Return whether the process that was to die at a write has come to that."""
        raise NotImplementedError

    async def strand(self, run: HostedRun) -> None:
        """Let another process take a run although its own one is alive: nobody heard of that for too long."""
        raise NotImplementedError

    async def answer(self, run_id: str, request_id: str, answer: Any, by: str) -> None:
        """Answer a request of a run from elsewhere, whether somebody walks it or not; `answer` is plain data."""
        raise NotImplementedError

    async def requests(self, run_id: str) -> list[str]:
        """Return the ids of the requests of a run that have no answer yet, wherever it is."""
        raise NotImplementedError

    async def standing(self, run_id: str) -> tuple[str, list[str]]:
        """Return the status of a run, and what of it is told to be under way: calls, requests, an owner."""
        raise NotImplementedError
