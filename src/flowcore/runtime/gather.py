"""The gathering: walks side by side, each in a task and a context of its own, until there are enough."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from functools import partial

import anyio

from ..clock import Clock, Door, Loop
from ..frame import Frame
from .host import Ended, Side, Slot, Verdict, WalkStopped
from .knock import Knock
from .waiting import wait_whatever_comes

__all__ = ["Gathering"]


class Gathering:
    """Runs at most `limit` walks at a time. What is not needed any more is stopped, awaited, at last given up."""

    def __init__(
        self,
        count: int,
        limit: int,
        begin: Callable[[int, Slot], Side],
        verdict: Callable[[int, Ended], Verdict],
        given_up: Callable[[Frame], object],
        stopped: Callable[[Frame], object],
        around: Slot | None,
        loop: Loop,
        clock: Clock,
        grace: float,
    ) -> None:
        self.is_cut_off = False
        """Whether a walk was stopped although no verdict on the others asked for that."""
        self._results: list[Ended | None] = [None] * count
        self._last = count
        self._limit = limit
        self._begin = begin
        self._verdict = verdict
        self._given_up = given_up
        self._stopped = stopped
        self._around = around
        self._left = False
        self._entering = anyio.Lock()
        self._parked = 0
        self._loop = loop
        self._clock = clock
        self._grace = grace
        self._context = copy_context()
        self._next = 0
        self._active = 0
        self._stopping = False
        self._raised: BaseException | None = None
        self._sides: dict[int, Side] = {}
        self._doors: dict[int, Door] = {}
        self._knocks: dict[int, Knock] = {}
        self._waiting: deque[anyio.Event] = deque()
        self._done = anyio.Event()

    async def run(self) -> list[Ended | None]:
        """Return how each walk ended, in their order; None for one that did not."""
        self._fill()
        try:
            await self._done.wait()
            await self._enter_around()
        except BaseException:
            self.stop()
            await wait_whatever_comes(self._done)
            self._reclaim_around()
            raise
        if self._raised is not None:
            raise self._raised
        return self._results

    def stop(self) -> None:
        """Start nothing more, and ask what is under way to stop."""
        if self._stopping:
            return
        self._stopping = True
        for index, door in self._doors.items():
            self._sides[index].scope.close(self._loop.cancellation)
            give_up = partial(self._give_up, index)
            self._knocks[index] = knock = Knock(door, self._loop, self._clock, give_up, self._grace)
            knock.ask()
        self._end_if_idle()

    @property
    def is_crowded(self) -> bool:
        """Whether more are at work than may be, since one came back from a wait that was cut short."""
        return self._active > self._limit or (self._around is not None and self._around.is_crowded)

    async def park(self, waiting: Awaitable[None]) -> None:
        """Wait, and let another walk go on meanwhile; return when there is a place again."""
        self.leave()
        try:
            await waiting
        except BaseException:
            self.reclaim()
            raise
        await self.enter()

    async def _place(self) -> None:
        """Wait for a place; whoever gives it counts us as active."""
        place = anyio.Event()
        self._waiting.append(place)
        try:
            await place.wait()
        except BaseException:
            if place.is_set():
                self._active -= 1
                self._parked += 1
            else:
                self._waiting.remove(place)
            raise

    def leave(self) -> None:
        """Give up a place, since everything inside one walk waits."""
        self._parked += 1
        self._active -= 1
        self._fill()

    async def enter(self) -> None:
        """Take a place again, when there is one."""
        try:
            await self._enter_around()
            if self._active >= self._limit:
                await self._place()
                return
        except BaseException:
            self.reclaim()
            raise
        self.reclaim()

    def reclaim(self) -> None:
        """Take a place again at once, if there is one or not: what took it ends."""
        self._parked -= 1
        self._active += 1

    def _reclaim_around(self) -> None:
        if self._left and self._around is not None:
            self._left = False
            self._around.reclaim()

    async def _enter_around(self) -> None:
        """Take the place around us again, if we gave it up while all our walks waited."""
        async with self._entering:
            if self._left and self._around is not None:
                self._left = False
                await self._around.enter()

    def _leave_around(self) -> None:
        waits = not self._active and self._parked and not self._stopping
        if waits and not self._left and self._around is not None:
            self._left = True
            self._around.leave()

    def _fill(self) -> None:
        while not self._stopping and self._active < self._limit:
            if self._waiting:
                self._waiting.popleft().set()
                self._parked -= 1
            elif self._next < self._last:
                index = self._next
                self._next += 1
                self._sides[index] = self._begin(index, self)
                work = partial(self._walk, index)
                self._doors[index] = self._loop.spawn(work, "flowcore branch", self._context.copy())
            else:
                break
            self._active += 1
        self._leave_around()
        self._end_if_idle()

    def _end_if_idle(self) -> None:
        if not self._doors and (self._stopping or self._next >= self._last):
            self._done.set()

    async def _walk(self, index: int) -> None:
        ended: Ended | None = None
        try:
            ended = await self._sides[index].walk()
        except WalkStopped:  # the run or this walk was asked to stop: it has no result
            self.is_cut_off = self.is_cut_off or not self._stopping
            self._last = self._next
        except BaseException as error:
            if not isinstance(error, anyio.get_cancelled_exc_class()) and self._raised is None:
                self._raised = error
                self.stop()
        if index in self._doors:
            self._leave(index, ended)

    def _leave(self, index: int, ended: Ended | None) -> None:
        side = self._sides.pop(index)
        del self._doors[index]
        if (knock := self._knocks.pop(index, None)) is not None:
            knock.end()
        if ended is None:
            self._stopped(side.frame)
        self._active -= 1
        if ended is not None:
            self._results[index] = ended
            if not self._stopping:
                self._act(self._verdict(index, ended))
        self._fill()

    def _act(self, verdict: Verdict) -> None:
        if verdict is Verdict.STOP:
            self.stop()
        elif verdict is Verdict.NO_MORE:
            self._last = self._next

    def _give_up(self, index: int) -> None:
        self._given_up(self._sides[index].frame)
        self._leave(index, None)
