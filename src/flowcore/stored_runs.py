"""Stored runs: how a flow goes on with them, and begins new ones from them."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Generic, Literal, Unpack, overload

from .clock import Clock
from .graph import Plan
from .result import RunResult
from .run import Run
from .run_settings import ResumeOptions, RunSettings
from .scope import Budget
from .store import RunStore
from .types import ResultT

if TYPE_CHECKING:
    from .runtime.forking import Forked

__all__ = ["StoredRuns"]


class StoredRuns(Generic[ResultT]):
    """What a flow does with runs that are written down."""

    __slots__ = ()

    @property
    def plan(self) -> Plan:
        """The resolved nodes and routes."""
        raise NotImplementedError

    @overload
    async def resume(
        self, run_id: str, /, *, deps: Any = ..., check: Literal[True] = ..., **options: Unpack[ResumeOptions]
    ) -> ResultT: ...
    @overload
    async def resume(
        self, run_id: str, /, *, deps: Any = ..., check: Literal[False], **options: Unpack[ResumeOptions]
    ) -> RunResult[ResultT]: ...
    async def resume(
        self, run_id: str, /, *, deps: Any = None, check: bool = True, **options: Unpack[ResumeOptions]
    ) -> Any:
        """Go on with a stored run that was paused, or whose process is gone, and return what `run` returns.

        What was committed does not run again; a visit that was under way does, with the results of its recorded
        calls. Budget and deadline are those that the run was started with.

        Args:
            run_id: The id of the run.
            deps: What the nodes get as `step.deps`.
            store: Where the run is written down.
            by: Who resumes it; where the trigger of the run names a user, only he may.
            observers: Functions that are told of each event from now on.
            clock: What tells the time; tests pass one that they move.
            grace: Seconds that a cancelled or timed-out node may take to end, before it is given up.
            check: Raise unless the run completed. With False the `RunResult` is returned instead.

        Raises:
            RunNotFound: The store has no such run.
            RunConflict: The run has ended, belongs to somebody else, or another process walks it.
            FlowChanged: The run does not fit this flow any more; it says what has changed.
            Exception: What `run` raises.
        """
        run: Run[ResultT] = self.reopen(run_id, deps=deps, **options)
        await run.prepare()
        run.begin()
        result = await run.for_caller()
        return run.value() if check else result

    async def fork(
        self,
        run_id: str,
        /,
        *,
        at: str,
        store: RunStore,
        state: Any = None,
        budget: Budget | None = None,
        new_id: str | None = None,
        by: str = "",
        clock: Clock | None = None,
    ) -> Forked:
        """Write a new run that stands where another one stood right before a visit; `resume` walks it.

        The other run may have ended, or go on: nothing of it is changed. What had happened until then, in branches
        and items beside the visit too, is the new run's past, with its counters; what a person is to answer from
        there on is asked again. The new run has no deadline, and was delegated by nobody.

        Args:
            run_id: The id of the other run.
            at: The path of the visit, as `answer#1/draft#2`; a `#1` may be left out.
            store: Where the runs are written down.
            state: Another state for the walk that the visit is in.
            budget: Another budget; what was spent before the visit counts.
            new_id: The id of the new run; by default a new one.
            by: Who forks it; where the trigger of the run names a user, only he may.
            clock: What tells the time; tests pass one that they move.

        Returns:
            The id of the new run, and what the other run has dispatched that the new one may do again.

        Raises:
            RunNotFound: The store has no such run.
            RunConflict: It belongs to somebody else, or there is a run of the new id.
            ValueError: It never came to this visit.
            FlowChanged: It does not fit this flow any more.
        """
        from .runtime.forking import fork  # noqa: PLC0415 - loaded where a run is stored

        settings = RunSettings(run_id=uuid.uuid4().hex if new_id is None else new_id, budget=budget, store=store)
        known = (store, run_id, str(settings.run_id), at, state, budget, by)
        return await fork(self.plan, *known, clock if clock is not None else settings.time)

    def reopen(self, run_id: str, /, *, deps: Any = None, **options: Unpack[ResumeOptions]) -> Run[ResultT]:
        """Return a handle of a stored run: `async with flow.reopen(run_id, store=store) as run:` goes on with it.

        Takes what `resume` takes, and raises on entering what that raises before anything runs.
        """
        return Run(self.plan, None, RunSettings(deps=deps, run_id=run_id, **options), stored=True)
