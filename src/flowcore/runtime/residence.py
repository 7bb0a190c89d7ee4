"""The residence: where a stored run lives. Opens its record or takes it up, and keeps others from it meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from ..clock import Clock, Loop
from ..events import Event
from ..graph import Plan, plan_data
from ..scope import Budget, Scope
from ..state import Shape, Values
from ..store import Attention, FrameRow, RunRow, RunStore, Write
from ..store.closing import cancel_unwalked, ended_already, is_walked
from ..store.reading import read_trace
from ..store.rules import check_user
from ..trace import Trace
from ..trace_events import trace_events
from ..trigger import Trigger
from .ledger import KEPT, Ledger
from .opening import codec_of, new_record
from .record import Recorder
from .taking_up import TakenUp
from .tenure import LEASE, Tenure, new_owner
from .waiting import written

__all__ = ["Residence"]


class Residence:
    """A run and its store: the record is opened or taken up here, written by one owner, and let go at the end."""

    def __init__(self, plan: Plan, store: RunStore, run_id: str, clock: Clock) -> None:
        self._plan = plan
        self._store = store
        self._run_id = run_id
        self._clock = clock
        self._codec = codec_of(plan)
        self._owner = new_owner()
        self._taken: TakenUp | None = None
        self._tenure: Tenure | None = None
        self._ledger: Ledger
        self._root: FrameRow
        self.shape: Shape
        self.start: Values
        self.spent: dict[str, float] | None = None
        self.trace: Trace | None = None

    async def open(
        self,
        shape: Shape,
        values: Values,
        budget: Budget,
        trigger: Trigger,
        deadline: datetime | None,
        title: str = "",
    ) -> None:
        """Write the record of a new run."""
        began = self._clock.utcnow()
        self.trace = Trace(self._plan.name, self._run_id, began, partial(plan_data, self._plan), budget)
        row, write = new_record(
            self._plan,
            self._run_id,
            shape,
            values,
            budget,
            trigger,
            owner=self._owner,
            began=began,
            deadline=deadline,
            title=title,
        )
        self._root = write.frames[0]
        await self._store.create(row, write)

    async def take_up(self, by: str) -> RunRow:
        """Take a run from its record. Raises `RunConflict` unless `by` is the user of its trigger."""
        run = await self._store.run(self._run_id)
        check_user(self._run_id, run.trigger.user, by)
        if run.end is not None:
            raise ended_already(run)
        now = self._clock.utcnow().timestamp()
        if run.signal in ("stop", "interrupt") and not is_walked(run, now):
            await cancel_unwalked(self._store, self._run_id, run.signal, self._clock)
            raise ended_already(await self._store.run(self._run_id))
        await self._store.take(self._run_id, self._owner, now, now + LEASE)
        try:
            stored = await self._store.load(self._run_id)
            taken = self._taken = TakenUp(stored, self._plan, self._codec, last=KEPT)
            if stored.run.status == "paused":
                await written(self._store.commit(Write(self._run_id, self._owner, status="running")))
        except BaseException:
            await self._store.release(self._run_id, self._owner)
            raise
        self.shape, self.start = taken.shape, taken.start
        self.spent, self.trace = taken.spent, taken.reading.trace
        return stored.run

    def move_in(self, record: Recorder, scope: Scope, broken: Callable[[Exception], None]) -> None:
        """Let a recorder write to the record."""
        ids = (self._codec, self._run_id, self._owner)
        ledger = Ledger(self._store, *ids, scope, self._clock, record.trace, broken)
        taken = self._taken
        if taken is None:
            ledger.know_root(record.trace.root, self._root)
        else:
            ledger.take_up(taken.stored, taken.frames, taken.rewritten)
            record.go_on(taken.rounds, taken.seq, taken.requests, taken.warned, taken.exhausted)
            record.calls.take_up(taken.stored, taken.frames)
        record.ledger = record.calls.ledger = self._ledger = ledger

    def watch(self, loop: Loop, heard: Callable[[Attention], None], lost: Callable[[Exception], None]) -> None:
        """Keep the run, and look for what others ask of it, until `move_out`."""
        ids, since = (self._run_id, self._owner), self._ledger.waits_since
        self._tenure = Tenure(self._store, *ids, self._clock, loop, heard, lost, since)
        self._tenure.begin()

    async def recalled(self, known: Sequence[Event], after: int, last: int) -> list[Event]:
        """Return events with those between the numbers `after` and `last` that only the store has."""
        found = {event.seq: event for event in known}
        if not all(seq in found for seq in range(after + 1, last + 1)):
            trace = read_trace(await self._store.load(self._run_id), self._codec)
            found = {event.seq: event for event in trace_events(trace) if event.seq <= last} | found
        return [found[seq] for seq in sorted(found)]

    async def release(self) -> None:
        """Let the run go, so that anybody may take it up."""
        await self._store.release(self._run_id, self._owner)

    async def move_out(self) -> None:
        """Look after the run no longer: it has ended here."""
        if self._tenure is not None:
            await self._tenure.end()

    async def answer(self, request_id: str, plain: Any, by: str) -> None:
        """Write the answer to a request, once. Raises `RunConflict` if it was closed before."""
        at = self._clock.utcnow().timestamp()
        await self._store.answer(self._run_id, request_id, json.dumps(plain), by, at)
