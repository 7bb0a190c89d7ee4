"""The step: what a node sees of its run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar, overload

from .errors import ContractError, Failure
from .frame import Frame
from .scope import Scope
from .types import GivenT, StateT, is_a
from .visit_host import once

__all__ = ["Step"]

ValueT = TypeVar("ValueT")


class Step(Generic[StateT, GivenT]):
    """One visit, seen from inside its node.

    `state` is a draft: what the node changes in it is kept when the node returns an outcome, and dropped
    otherwise. `error` is the failure that an error route brought here, or None.
    """

    __slots__ = (
        "_deps",
        "_place",
        "_tell",
        "attempt",
        "error",
        "exhausted",
        "round",
        "run_id",
        "scope",
        "state",
        "visit",
    )

    state: StateT
    """The draft of the state. A whole new state may be put in its place."""
    error: Failure | None
    """The failure of the node whose error route led here."""
    exhausted: str | None
    """The limit that ran out, such as `rounds`, where this node is the flow's finish."""
    run_id: str
    """The id of the run."""
    round: int
    """The number of rounds that the run has started."""
    visit: int
    """How many times this node was entered in this walk, this one included."""
    attempt: int
    """The number of this attempt; 1 unless the node is retried."""
    scope: Scope
    """The budget that this visit spends."""

    def __init__(
        self,
        state: StateT,
        deps: Any = None,
        scope: Scope | None = None,
        run_id: str = "",
        place: str | tuple[Frame, str, int] = "",
        round: int = 0,
        visit: int = 1,
        attempt: int = 1,
        error: Failure | None = None,
        exhausted: str | None = None,
        tell: Callable[..., None] | None = None,
    ) -> None:
        self.state = state
        self._deps = deps
        self.scope = scope if scope is not None else Scope()
        self.run_id = run_id
        self._place = place
        self.round = round
        self.visit = visit
        self.attempt = attempt
        self.error = error
        self.exhausted = exhausted
        self._tell = tell

    @property
    def deps(self) -> GivenT:
        """What was passed to the run as `deps`."""
        value: GivenT = self._deps
        return value

    @property
    def path(self) -> str:
        """The path of this visit, such as `answer#1/repair#2`."""
        place = self._place
        return place if isinstance(place, str) else place[0].path_of(place[1], place[2])

    @property
    def idempotency_key(self) -> str:
        """A text that is the same for every attempt of this visit, and for no other visit of any run."""
        return f"{self.run_id}/{self.path}"

    @overload
    async def once(self, key: str, fn: Callable[[], Awaitable[ValueT]]) -> ValueT: ...
    @overload
    async def once(self, key: str, fn: Callable[[], ValueT]) -> ValueT: ...
    async def once(self, key: str, fn: Callable[[], Any]) -> Any:
        """Return what `fn` returns; where that is recorded in this visit under the key, without calling it again.

        So it is when the visit runs again after an interruption, and in the attempts after a failed one. `fn` is a
        function of nothing, async or not; a plain one works in a thread. It may be called again if it was
        interrupted itself, or failed. Outside of a run it is always called.

        Raises:
            NotSerialisable: What it returned cannot be written, and what that is.
        """
        if not is_a(key, str) or not callable(fn):
            raise ContractError(f"{self.path}: once({key!r}, {fn!r}): give a text, and a function of nothing")
        return await once(self.scope, key, fn)

    def emit(self, name: str, data: object = None) -> None:
        """Send an event of kind `custom` to whoever listens to the run."""
        if self._tell is not None:
            self._tell(self._place, name, data)

    def artifact(self, name: str, data: str | bytes, media_type: str = "text/plain") -> None:
        """Keep a piece of text or bytes with this visit, under a name and with a media type."""
        if self._tell is not None:
            self._tell(self._place, name, data, media_type)
