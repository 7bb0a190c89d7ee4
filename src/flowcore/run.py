"""The run: the handle of one walk of a flow, from its first event to its one ending."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, get_args

import anyio
import anyio.lowlevel

from .clock import Timer
from .errors import ContractError
from .events import Event, RunResumed, RunStarted
from .graph import Plan
from .requests import OpenRequest
from .result import RunResult, attach_result, value_or_raise
from .run_settings import RunSettings
from .runtime import (
    EventQueue,
    Observer,
    Place,
    Reason,
    Recorder,
    RunTask,
    current_loop,
    current_task,
    first_of,
    observe,
    wait_whatever_comes,
    whole,
)
from .scope import Scope, standstill_of
from .scope.scope import scope_variable
from .state import Shape, Values, shape_of
from .trace import Trace
from .trace_events import OpenVisit, trace_events
from .trigger import Trigger
from .types import ResultT, as_class, type_name

if TYPE_CHECKING:
    from .runtime.residence import Residence

__all__ = ["Run"]


class Run(Generic[ResultT]):
    """A run under way. `async with flow.start(...)` gives one; leaving early cancels it and waits for its end."""

    def __init__(self, plan: Plan, state: Any, settings: RunSettings, *, stored: bool = False) -> None:
        self._plan = plan
        self._settings = settings
        self._shape: Shape
        self._values: Values
        if not stored:
            wanted = as_class(plan.state)
            if wanted is not None and not isinstance(state, wanted):
                given, name = type_name(type(state)), type_name(wanted)
                raise ContractError(f"flow {plan.name!r} wants a state of type {name}, not {given}")
            self._shape = shape_of(state.__class__)
            self._values = self._shape.values(state)
        _check_deps(plan, settings.deps)
        self._clock = settings.time
        self._grace = settings.grace
        self._unwatched_for = settings.cancel_when_unwatched
        self._outer = current_task.get()
        self._observers = tuple(settings.observers)
        self.run_id = settings.run_id if settings.run_id is not None else uuid.uuid4().hex
        """The run's id."""
        self._is_stored = stored
        self._residence: Residence | None = None
        self._begun = False
        self._watchers = 0
        self._unwatched: Timer | None = None
        self._watched = 0

    async def prepare(self) -> None:
        """Write the record of a run that is stored, or take up a run from its record.

        Raises what `Flow.run` and `Flow.resume` raise before anything runs.
        """
        store = self._settings.store
        if store is None or self._residence is not None:
            return
        from .runtime.residence import Residence  # noqa: PLC0415 - loaded where a run is stored

        await anyio.lowlevel.checkpoint_if_cancelled()
        home = self._residence = Residence(self._plan, store, self.run_id, self._settings.time)
        moving: Callable[[], Awaitable[None]] = partial(self._take_up if self._is_stored else self._open, home)
        _, cancelled = await whole(current_loop(), moving, f"flowcore record of {self._plan.name}")
        if cancelled is not None:  # the record stands: it ends as that of a run whose caller was cancelled later
            self.begin()
            self._task.ask("user")
            await wait_whatever_comes(self._task.finished)
            raise cancelled

    async def _open(self, home: Residence) -> None:
        settings = self._settings
        trigger = settings.trigger or Trigger()
        await home.open(self._shape, self._values, settings.limits, trigger, settings.deadline, settings.title)

    async def _take_up(self, home: Residence) -> None:
        row = await home.take_up(self._settings.by)
        self._settings = self._settings.of_record(row.budget, row.deadline, row.trigger)
        self._shape, self._values = home.shape, home.start

    def begin(self) -> None:
        """Start the run's task, once. From now on it can be cancelled and watched."""
        if self._begun:
            raise ContractError("this run has begun already: flow.start(...) makes another one")
        self._begun = True
        reserve, home = self._plan.reserve, self._residence
        self._scope = Scope(self._settings.limits, parent=scope_variable.get(None), reserve=reserve)
        spent = None if home is None else home.spent
        seconds = self._settings.seconds(0.0 if spent is None else spent["seconds"])
        self._scope.start(self._clock.monotonic(), seconds, held_back=reserve.seconds, spent=spent)
        if self._settings.deadline is not None:
            latest = self._clock.monotonic() + self._settings.to_deadline() - reserve.seconds
            standstill_of(self._scope).latest = latest
        self._loop = loop = current_loop()
        trace = None if home is None else home.trace
        self._record = Recorder(self._plan, self.run_id, self._scope, self._clock, trace)
        self._all_watched = anyio.Event()
        if not self._observers:
            self._all_watched.set()
        if home is not None:
            home.move_in(self._record, self._scope, lambda error: self._task.broken(error))
        place = Place(self._record.trace.root, self._shape, self._scope, self._settings.deps)
        known = (self._record, self._clock, loop, self._grace)
        self._task = RunTask(self._plan, place, self._values, *known, home, self._tell_all)
        self._queues = [EventQueue() for _ in self._observers]
        for queue, observer in zip(self._queues, self._observers, strict=True):
            self._record.listeners.append(queue.put)
            loop.spawn(partial(self._observe, queue, observer), f"flowcore observer of {self._plan.name}")
        if self._record.seq == 0:
            self._record.note(RunStarted, "", flow=self._plan.name)
        if self._is_stored:
            self._record.note(RunResumed, "", by=self._settings.by)
        self._task.begin()

    async def __aenter__(self) -> Self:
        await self.prepare()
        self.begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._task.ask("user")
        if (cancelled := await wait_whatever_comes(self._task.finished)) is not None:
            raise cancelled

    @property
    def trace(self) -> Trace:
        """The visits that have ended so far."""
        self._must_have_begun()
        return self._record.trace

    @property
    def under_way(self) -> list[OpenVisit]:
        """The visits that have begun and not ended, the outermost first. May be read from any thread."""
        self._must_have_begun()
        return self._record.under_way

    @property
    def threads(self) -> tuple[str, ...]:
        """The paths of the visits whose threads are at work."""
        self._must_have_begun()
        return self._task.host.threads.working

    @property
    def requests(self) -> tuple[OpenRequest, ...]:
        """What the run asks people and has no answer to, in the order in which it was asked."""
        self._must_have_begun()
        return self._task.host.inside.board.pending

    async def answer(self, request_id: str | None, value: object, *, by: str = "user") -> None:
        """Answer a request, once, from any thread. True, False or an `Approval` (with a reason) say whether a tool
        may run or a person agrees; a question is answered by its form, as an instance or as plain data.

        None stands for the only request that waits. Raises `ContractError` for a request that does not wait any
        more, or never did, where several wait and none is named, and for what is no answer to it: it goes on
        waiting then.
        """
        self._must_have_begun()
        board = self._task.host.inside.board
        if self._residence is not None:
            request_id, plain = board.checked(request_id, value)
            await self._residence.answer(request_id, plain, by)
            board.deliver(request_id, value, by)  # it counts already, and may have come in through the store
        else:
            board.answer(request_id, value, by)
        await anyio.lowlevel.checkpoint()

    async def pause(self, *, by: str = "") -> None:
        """Stop what is under way and wait with it until `resume`; return when it waits, or has ended.

        A visit that was stopped begins again then, with the results of its recorded calls. No time of the run
        passes meanwhile. Does nothing in a run that was asked to stop. Raises `RunConflict` where `by` is given
        and is not the user of the run's trigger.
        """
        self._must_have_begun()
        self._check_by(by)
        self._task.pause(by)
        if current_task.get() is not self._task:
            await first_of(self._task.parked, self._task.finished)
        await anyio.lowlevel.checkpoint()

    async def resume(self, *, by: str = "") -> None:
        """Let a paused run go on. Raises `RunConflict` unless `by` is the user of its trigger, if it has one."""
        self._must_have_begun()
        self._check_by(by, always=True)
        self._task.release(by)
        await anyio.lowlevel.checkpoint()

    async def stop(self, *, by: str = "") -> None:
        """End the run at its next boundary: before the next visit, request to a model, or call of a tool.

        Returns when it has ended, as cancelled with the reason `stop`. Raises `RunConflict` as `pause` does.
        """
        self._must_have_begun()
        self._check_by(by)
        self._task.stop()
        if current_task.get() is not self._task:
            await self._task.finished.wait()
        await anyio.lowlevel.checkpoint()

    @property
    def is_paused(self) -> bool:
        """Whether the run waits for `resume`."""
        return self._task.parked.is_set()

    async def wait(self) -> RunResult[ResultT]:
        """Return the result when the run has ended. Never raises for how it ended."""
        self._must_have_begun()
        await self._task.finished.wait()
        return self._task.settlement.outcome

    async def result(self) -> ResultT:
        """Return what the run completed with, or raise what it failed with; `RunCancelled` if it was cancelled."""
        value: ResultT = value_or_raise(await self.wait(), self._task.raised)
        return value

    async def cancel(self, reason: Reason = "user") -> None:
        """Ask the run to end, and return when it has. After that nothing of it happens any more.

        Whatever is still at work after the time of grace is named in the result's `stragglers`. Called from inside
        of the run, it is the caller that is cancelled. Raises `ValueError` for a reason that is not one of ours.
        """
        self._must_have_begun()
        if reason not in get_args(Reason):
            raise ValueError(f"cancel({reason!r}): the reason is one of {', '.join(get_args(Reason))}")
        self._task.ask(reason)
        if current_task.get() is self._task:
            await anyio.lowlevel.checkpoint()
        else:
            await self._task.finished.wait()

    async def events(self, after: int = 0) -> AsyncIterator[Event]:
        """Yield every event with a `seq` above `after`, from the first one, whenever it is called. Always ends.

        Of a stored run, what is not kept in memory any more is read from the store. Raises `StoreError`.
        """
        self._must_have_begun()
        queue = EventQueue(limit=None)
        past, last = trace_events(self._record.trace, self._record.under_way), self._record.seq
        self._record.listeners.append(queue.put)
        if self._record.closed:
            queue.close()
        self._watch(1)
        try:
            if self._residence is not None and self._record.trace.forgotten:
                past = await self._residence.recalled(past, after, last)
            for event in past:
                if event.seq > after:
                    yield event
            while (news := await queue.get()) is not None:
                if news.seq > after:
                    yield news
        finally:
            self._watch(-1)
            self._record.listeners.remove(queue.put)

    async def for_caller(self, *, patience: float = 0.0) -> RunResult[ResultT]:
        """Return the result. The caller's cancellation cancels the run, waits for its end and goes on.

        Observers that do not wait have seen every event by then; others get `patience` seconds.
        """
        try:
            await self._task.finished.wait()
        except BaseException as error:
            nested: Reason = "parent" if self._outer is not None else "user"
            self._task.ask("interrupt" if isinstance(error, KeyboardInterrupt) else nested)
            await wait_whatever_comes(self._task.finished)
            with anyio.CancelScope(shield=True):
                await self._let_observers_catch_up(0.0)
            attach_result(error, self._task.settlement.outcome)
            raise
        await self._let_observers_catch_up(patience)
        return self._task.settlement.outcome

    def value(self) -> Any:
        """Return what the ended run completed with, or raise what it ended with."""
        return value_or_raise(self._task.settlement.outcome, self._task.raised)

    def _must_have_begun(self) -> None:
        if not self._begun:
            raise ContractError("this run has not begun: enter it with `async with flow.start(...) as run:`")

    def _check_by(self, by: str, *, always: bool = False) -> None:
        user = "" if self._settings.trigger is None else self._settings.trigger.user
        if by or always:
            from .store.rules import check_user  # noqa: PLC0415 - loaded where a run is stored

            check_user(self.run_id, user, by)

    def _tell_all(self) -> None:
        """Let those who follow the events know that there are no more."""
        for listener in tuple(self._record.listeners):
            owner = getattr(listener, "__self__", None)
            if isinstance(owner, EventQueue):
                owner.close()
        if self._unwatched is not None:
            self._unwatched.cancel()

    async def _observe(self, queue: EventQueue, observer: Observer) -> None:
        await observe(queue, observer)
        self._watched += 1
        if self._watched == len(self._observers):
            self._all_watched.set()

    async def _let_observers_catch_up(self, patience: float) -> None:
        for _ in range(3):
            if self._all_watched.is_set():
                return
            await anyio.lowlevel.checkpoint()
        with anyio.move_on_after(patience):
            await self._all_watched.wait()

    def _watch(self, change: int) -> None:
        self._watchers += change
        if self._unwatched is not None:
            self._unwatched.cancel()
            self._unwatched = None
        if self._watchers == 0 and self._unwatched_for is not None and not self._task.settlement.is_settled:
            lost: Callable[[], None] = partial(self._task.ask, "subscriber_lost")
            self._unwatched = self._clock.later(self._unwatched_for, lost, self._loop)


def _check_deps(plan: Plan, deps: Any) -> None:
    for path, wanted in plan.wanted_deps:
        try:
            fits = isinstance(deps, wanted)
        except TypeError:  # a protocol that cannot be checked at run time
            continue
        if not fits:
            given = type_name(type(deps))
            raise ContractError(
                f"{path} wants deps of type {type_name(wanted)}, not {given}: pass deps= to the run"
            )
