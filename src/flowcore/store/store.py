"""The store: where records of runs are kept. Every store keeps to this protocol and passes its contract suite."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .rows import Attention, EndRow, RequestRow, RunRow, RunStatus, Signal, Stored, Write

__all__ = ["RunStore"]


class RunStore(Protocol):
    """Keeps the records of runs.

    Every method is one transaction: it happens whole or not at all. All raise `StoreError` when the place of the
    records cannot be used, with its name, the cause and the remedy; `RunNotFound` for a run that is not there.
    """

    name: str
    """Where the records are, for people."""

    async def create(self, run: RunRow, write: Write) -> None:
        """Write the record of a new run with what comes first. Raises `RunConflict` if there is one of its id."""
        ...

    def commit(self, write: Write) -> Awaitable[None] | None:
        """Write what a run did: written when this returns None, or when what it returns was awaited.

        Raises `RunConflict` (then, or when awaited) unless the run is active and belongs to `write.owner`. Writes
        of several runs may share a transaction; those of one run are written in the order of the calls. What was
        handed over is written, even if nobody waits for it any more.
        """
        ...

    async def settle(self, run_id: str, end: EndRow, write: Write | None, *, owner: str | None) -> bool:
        """End an active run, once: the first one to ask wins. Return whether it was this one.

        In the same transaction `write` is written, calls that are dispatched become unknown, pending requests are
        withdrawn, the owner is let go, and active runs that this one delegated (`trigger.parent`) are settled as
        cancelled with the reason `parent`, and theirs. With `owner` only that owner may; None is for a run that
        nobody walks: it must have no owner whose lease goes on, or `RunConflict` names him.
        """
        ...

    async def take(self, run_id: str, owner: str, now: float, lease: float) -> RunRow:
        """Make `owner` the one who walks an active run until `lease`, and clear its signal.

        Return the run as it is then. Raises `RunConflict` if another owner's lease is not over at `now` (it names
        the owner and the time), or if the run has ended (it names the status).
        """
        ...

    async def renew(self, run_id: str, owner: str, lease: float) -> bool:
        """Extend the owner's lease of an active run. Return whether the run is still his."""
        ...

    async def release(self, run_id: str, owner: str) -> None:
        """Let an active run go, so that anybody may take it. Does nothing if it is not the owner's."""
        ...

    async def signal(self, run_id: str, signal: Signal, by: str) -> Signal:
        """Ask the owner of an active run to pause, stop or interrupt it; return what stands now.

        The strongest stands, but `resume` takes back a `pause`. Raises `RunConflict` if the run has ended.
        """
        ...

    async def answer(self, run_id: str, request_id: str, answer: str, by: str, at: float) -> RequestRow:
        """Answer a pending request that has not expired at `at`, once.

        Raises `RunConflict` if it is closed, if there is none of its id, or if the run has ended.
        """
        ...

    async def attention(self, run_id: str, owner: str, since: float) -> Attention | None:
        """Return what others did to a run, answers since `since` included; None if there is nothing of that kind.

        The same question gets the same answer: a signal is told until it is cleared, an answer as long as it is
        not older than `since`.
        """
        ...

    def listen(self, run_id: str, call: Callable[[], None] | None) -> None:
        """Call when signals and answers come in through this object, from whatever thread; None stops that.

        So is who listens for a run that somebody else ended through this object.
        """
        ...

    async def run(self, run_id: str) -> RunRow:
        """Return a run. One that is running and has a pending request is told as waiting."""
        ...

    async def runs(
        self,
        *,
        status: Sequence[RunStatus] = (),
        flow: str = "",
        user: str = "",
        conversation: str = "",
        parent: str = "",
        limit: int = 100,
        before: float | None = None,
    ) -> list[RunRow]:
        """Return runs, the latest first; those that began before `before`, where it is given.

        Raises `ValueError` for a status that there is not.
        """
        ...

    async def requests(self, run_id: str, *, pending: bool = True) -> list[RequestRow]:
        """Return the requests of a run, in the order in which they were opened."""
        ...

    async def load(self, run_id: str) -> Stored:
        """Return everything that is written of a run, as at one moment."""
        ...

    async def delete(self, run_id: str) -> None:
        """Remove the record of a run that has ended. Raises `RunConflict` for an active one."""
        ...

    async def prune(self, before: float, *, status: Sequence[RunStatus] = ()) -> int:
        """Remove the records of runs that ended before a time; with `status` only such. Return how many."""
        ...

    async def aclose(self) -> None:
        """Write what was handed over, and close. Does nothing the second time."""
        ...
