"""The task of a run: walks it, parks it while it is paused, and settles it once.

Whoever asks first how it ends wins. The task unwinds, then the ending is written, then comes the terminal event.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal

import anyio

from ..clock import Clock, Loop
from ..errors import RunConflict, StoreError
from ..events import RunPaused, RunResumed
from ..graph import Plan
from ..scope.scope import scope_variable
from ..state import Values
from .host import Ended, Place, WalkStopped
from .inprocess import InProcessHost
from .knock import Knock
from .parking import stand_still
from .record import Recorder
from .settlement import Settlement
from .waiting import written
from .walk import Walk

if TYPE_CHECKING:
    from ..store import Attention
    from .residence import Residence

__all__ = ["Reason", "RunTask", "current_task"]

Reason = Literal["user", "stop", "interrupt", "shutdown", "parent", "subscriber_lost"]
"""Who asked a run to end."""
current_task: ContextVar[RunTask | None] = ContextVar("flowcore_run", default=None)


class RunTask:
    """One run on its way: a walk in a task of its own, and what may be asked of it from outside."""

    def __init__(
        self,
        plan: Plan,
        place: Place,
        values: Values,
        record: Recorder,
        clock: Clock,
        loop: Loop,
        grace: float,
        residence: Residence | None,
        ended: Callable[[], None],
    ) -> None:
        self.host = InProcessHost(record, clock, loop, self._give_up, grace)
        self.settlement = Settlement(record, place.scope, place.shape, loop)
        self.finished = anyio.Event()
        self.parked = anyio.Event()
        self.asked: Reason | None = None
        self.raised: BaseException | None = None
        self._plan = plan
        self._place = place
        self._scope = place.scope
        self._values = values
        self._record = record
        self._clock = clock
        self._loop = loop
        self._grace = grace
        self._residence = residence
        self._ended = ended
        self._released = anyio.Event()
        self._by = ""
        self._scope.host = self.host.inside

    def begin(self) -> None:
        """Walk from now on, and listen to what others ask of a run that is stored."""
        if self._residence is not None:
            self._residence.watch(self._loop, self._heard, self.broken)
        self._set_out()

    def _set_out(self) -> None:
        """Walk, in a task of its own: from the start, or from where the walk was interrupted."""
        self._walk = Walk(self._plan, self._place, self.host)
        door = self._loop.spawn(self._work, f"flowcore run of {self._plan.name}")
        self._knock = Knock(door, self._loop, self._clock, self._abandon, self._grace)

    def release(self, by: str) -> None:
        """Let a paused run go on."""
        if self.parked.is_set():
            self._by, self.parked = by, anyio.Event()
            self._released.set()

    async def _work(self) -> None:
        current_task.set(self)
        scope_variable.set(self._scope)
        ended: Ended | None = None
        try:
            ended = await self._walk.to_the_end(self._values)
        except WalkStopped:
            pass  # somebody asked: what follows says so
        except BaseException as error:
            if self.asked is None and not self.host.pausing:
                loop_ends = isinstance(error, anyio.get_cancelled_exc_class())
                self.raised = None if loop_ends else error
                self.ask("shutdown" if loop_ends else "interrupt")
        self._knock.end()
        if ended is None and self._must_park():
            # In a task that nothing shields, so that it ends with its event loop.
            self._loop.spawn(self._stay, f"flowcore paused run of {self._plan.name}")
        else:
            await self._end(ended)

    async def _stay(self) -> None:
        """Stay parked until the run goes on, or is to end."""
        try:
            with suppress(WalkStopped):  # its record cannot be written any more: it is settled
                while self._must_park():
                    await self._park()
        except anyio.get_cancelled_exc_class():
            await self._leave_parked()
            raise
        if self._must_end:
            await self._end(None)
        else:
            self._set_out()

    async def _leave_parked(self) -> None:
        """End the run here, since its event loop ends. One that is stored stays paused, for whoever resumes it."""
        if self._record.ledger is not None:
            self._record.ledger.closed = True
        self.ask("shutdown")
        if self._settle(None):
            await self._write_ending()
        if self._residence is not None:
            with anyio.CancelScope(shield=True), suppress(StoreError):  # then its lease is over in a while
                await self._residence.release()

    async def _end(self, ended: Ended | None) -> None:
        """Settle how the run ended, once what is at work for it is done."""
        if self.asked is not None and self.asked != "shutdown":
            await self.host.threads.idle_within(self._grace, self._clock)
        if self._settle(ended):
            await self._write_ending()

    @property
    def _must_end(self) -> bool:
        """Whether somebody has asked the run to end, or it has."""
        return self.asked is not None or self.settlement.is_settled

    def _must_park(self) -> bool:
        """Return whether a pause was asked for that has not been followed: another one, perhaps."""
        return self.host.pausing and not self._must_end

    async def _park(self) -> None:
        """Wait until somebody lets the run go on, or ends it."""
        record, host, now = self._record, self.host, self._clock.monotonic()
        await host.threads.idle_within(self._grace, self._clock)
        stand_still(self._place.frame, now)
        record.interrupt()
        host.inside.interrupt()
        record.note(RunPaused, "", by=self._by)
        if record.ledger is not None:
            with anyio.CancelScope(shield=True):
                await written(record.ledger.flush("paused"))
        self.parked.set()
        while not (self._must_end or self._released.is_set()):
            await self._released.wait()
        self.parked = anyio.Event()
        if self._must_end:
            return
        self._scope.stand_still(self._clock.monotonic() - now)
        self._scope.reopen()
        host.stopped = host.pausing = record.refusing = False
        record.note(RunResumed, "", by=self._by)
        if record.ledger is not None:
            with anyio.CancelScope(shield=True):  # what asked for the pause still holds in this task
                await written(record.ledger.flush("running"))

    def _settle(self, ended: Ended | None, *, unwound: bool = True) -> bool:
        """Fix how the run ended. Return False if that had been done."""
        if self.settlement.is_settled:
            return False
        if ended is not None and self.asked is None:
            self.settlement.end(ended, self.host.still_at_work)
        else:
            reason, working = self.asked or "user", self.host.still_at_work
            self.settlement.cancel(reason, self._walk.values, working, unwound=unwound)
        return True

    async def _write_ending(self) -> None:
        """Write the ending where it is kept, and then tell it."""
        if self._residence is not None:
            with anyio.CancelScope(shield=True):
                await self.settlement.write()
                await self._residence.move_out()
        self._tell_all()

    def _tell_ending(self) -> None:
        """Tell the ending, in a task of its own if it has to be written first."""
        if self._residence is None:
            self._tell_all()
        else:
            self._loop.spawn(self._write_ending, f"flowcore ending of {self._plan.name}")

    def ask(self, reason: Reason) -> None:
        """Ask the run to end. The first one to ask wins, but for a stop that has not been acted on."""
        weaker = self.asked is None or (self.asked == "stop" and reason != "stop" and not self.host.stopped)
        if weaker and not self.settlement.is_settled and not self._time_is_over():
            self.asked = reason
            self._refuse()
            self._released.set()
            self._knock.ask()

    def stop(self) -> None:
        """Ask the run to end at its next boundary."""
        if self.asked is None and not self.settlement.is_settled and not self._time_is_over():
            if self.host.pausing:
                self.ask("stop")
                return
            self.asked = "stop"
            self.host.stopping = True
            self._scope.refuse(self._loop.cancellation)
            self.host.inside.board.withdraw(self._loop.cancellation)

    def pause(self, by: str) -> None:
        """Stop what is under way, and park."""
        if self._must_end:
            return
        if not self.host.pausing:
            self._by, self._released = by, anyio.Event()
            self.host.pausing = True
            self._refuse()
            self._knock.ask()
        elif self._released.is_set():  # it was let go, and has not gone on yet: it goes on waiting
            self._by, self._released = by, anyio.Event()
            self.parked.set()

    def _heard(self, news: Attention) -> None:
        """Do what others asked of the run through its store."""
        if news.is_lost:
            self.broken(
                RunConflict(f"run {self._record.run_id} has ended elsewhere, or another owner has taken it")
            )
        elif news.signal == "interrupt":
            self.ask("interrupt")
        elif news.signal == "stop":
            self.stop()
        elif news.signal == "pause" and not self.host.pausing:
            self.pause(news.signal_by)
        elif news.signal == "resume":
            self.release(news.signal_by)
        for row in news.answered:
            self.host.inside.deliver(row)

    def broken(self, error: Exception) -> None:
        """End the run here: its record cannot be written, or is not ours any more."""
        if not self.settlement.is_settled:
            if self._record.ledger is not None:
                self._record.ledger.closed = True
            self._refuse()
            self.settlement.fail(error, "", self._walk.values, self.host.still_at_work)
            self._released.set()
            self._knock.ask()
            self._tell_ending()

    def _time_is_over(self) -> bool:
        """Return whether the end of its time already settles how this run ends: the first to ask wins."""
        ends_at, can_finish = self._scope.ends_at, self._plan.finish is not None and self._plan.reserve.seconds
        return ends_at is not None and self._clock.monotonic() >= ends_at and not can_finish

    def _refuse(self) -> None:
        """From now on nothing of the run is charged, told or committed."""
        self.host.stopped = True
        self._record.refusing = True
        self._scope.close(self._loop.cancellation)

    def _abandon(self) -> None:
        """End the run although its code goes on: it was asked for the whole time of grace."""
        if self._settle(None, unwound=False):
            self._tell_ending()

    def _give_up(self, error: Exception, path: str) -> None:
        """End the run as failed: a visit that is out of time did not stop for the whole time of grace."""
        if not self.settlement.is_settled:
            self._refuse()
            self.settlement.fail(error, path, self._walk.values, self.host.still_at_work)
            self._tell_ending()

    def _tell_all(self) -> None:
        """Tell the ending to all who listen or wait."""
        self.settlement.tell()
        self.host.inside.board.withdraw(self._loop.cancellation)
        self._scope.release()
        self._ended()
        self.finished.set()
