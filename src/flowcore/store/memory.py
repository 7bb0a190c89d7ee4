"""The store in memory: for tests, and for runs whose record may go with the process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..errors import RunConflict, StoreError
from . import rules
from .listeners import Listeners
from .rows import (
    ACTIVE,
    Attention,
    CallRow,
    EndRow,
    FrameRow,
    NoteRow,
    RequestRow,
    RunRow,
    RunStatus,
    Signal,
    Stored,
    VisitRow,
    Write,
)

__all__ = ["MemoryRunStore"]


@dataclass(slots=True)
class _Record:
    run: RunRow
    place: int
    frames: dict[int, FrameRow] = field(default_factory=dict)
    visits: dict[int, VisitRow] = field(default_factory=dict)
    notes: dict[int, NoteRow] = field(default_factory=dict)
    calls: dict[str, CallRow] = field(default_factory=dict)
    requests: dict[str, RequestRow] = field(default_factory=dict)

    @property
    def standing(self) -> rules.Standing:
        run = self.run
        return rules.Standing(run.run_id, run.status, run.owner, run.lease, run.signal, run.signal_by)

    @property
    def told(self) -> RunRow:
        waits = self.run.status == "running" and any(row.status == "pending" for row in self.requests.values())
        return replace(self.run, status="waiting") if waits else self.run

    def check(self, write: Write) -> None:
        """Raise what keeps a write from being written, before anything of it is."""
        for rows, there in ((write.visits, self.visits), (write.notes, self.notes)):
            seqs = [row.seq for row in rows]
            if len(set(seqs)) < len(seqs) or not there.keys().isdisjoint(seqs):
                raise rules.seq_taken(self.run.run_id)

    def add(self, write: Write) -> None:
        """Write what was checked."""
        self.frames.update((row.frame, row) for row in write.frames)
        self.visits.update((row.seq, row) for row in write.visits)
        self.notes.update((row.seq, row) for row in write.notes)
        self.calls.update((row.key, row) for row in write.calls)
        for row in write.requests:
            if row.id not in self.requests or self.requests[row.id].status == "pending":
                self.requests[row.id] = row
        status, spent = write.status or self.run.status, write.spent or self.run.spent
        self.run = replace(self.run, status=status, spent=spent)
        if write.status and self.run.signal in ("pause", "resume"):  # it has been followed
            self.run = replace(self.run, signal="", signal_by="")

    def end(self, end: EndRow) -> None:
        """End the run, and what in it is under way."""
        for key, call in self.calls.items():
            if call.status == "dispatched":
                self.calls[key] = call._replace(status="unknown")
        for key, request in self.requests.items():
            if request.status == "pending":
                self.requests[key] = request._replace(status="withdrawn", at=end.ended)
        self.run = replace(self.run, status=end.status, owner="", lease=0.0, end=end)


class MemoryRunStore:
    """Keeps the records of runs in memory, for as long as it lives itself. May be used from several threads."""

    def __init__(self, name: str = "memory") -> None:
        self.name = name
        self._lock = threading.RLock()
        self._records: dict[str, _Record] = {}
        self._made = 0
        self._listeners = Listeners()
        self._is_closed = False

    def __repr__(self) -> str:
        return f"MemoryRunStore({self.name!r})"

    async def create(self, run: RunRow, write: Write) -> None:
        """Write the record of a new run with what comes first."""
        with self._lock:
            self._check_open()
            if run.run_id in self._records:
                raise rules.exists_already(self.name, run.run_id)
            self._made += 1
            record = _Record(run, self._made)
            record.check(write)
            record.add(write)
            self._records[run.run_id] = record

    def commit(self, write: Write) -> None:
        """Write what a run did, at once."""
        with self._lock:
            record = self._record(write.run_id)
            rules.check_owner(record.standing, write.owner)
            record.check(write)
            record.add(write)

    async def settle(self, run_id: str, end: EndRow, write: Write | None, *, owner: str | None) -> bool:
        """End an active run and those that it delegated, once."""
        with self._lock:
            record = self._record(run_id)
            if record.run.status not in ACTIVE:
                return False
            if owner is None:
                rules.check_free(record.standing, "", end.ended)
            else:
                rules.check_owner(record.standing, owner)
            if write is not None:
                record.check(write)
                record.add(write)
            record.end(end)
            ended = [] if owner is not None else [run_id]
            for other in self._delegated(run_id):
                other.end(EndRow("cancelled", end.ended, reason="parent"))
                ended.append(other.run.run_id)
        self._listeners.call(*ended)
        return True

    async def take(self, run_id: str, owner: str, now: float, lease: float) -> RunRow:
        """Make `owner` the one who walks an active run until `lease`."""
        with self._lock:
            record = self._record(run_id)
            rules.check_free(record.standing, owner, now)
            record.run = replace(record.run, owner=owner, lease=lease, signal="", signal_by="")
            return record.told

    async def renew(self, run_id: str, owner: str, lease: float) -> bool:
        """Extend the owner's lease of an active run."""
        with self._lock:
            record = self._record(run_id)
            is_his = self._is_his(record, owner)
            if is_his:
                record.run = replace(record.run, lease=lease)
            return is_his

    async def release(self, run_id: str, owner: str) -> None:
        """Let an active run go, so that anybody may take it."""
        with self._lock:
            record = self._record(run_id)
            if self._is_his(record, owner):
                record.run = replace(record.run, owner="", lease=0.0)

    async def signal(self, run_id: str, signal: Signal, by: str) -> Signal:
        """Ask the owner of an active run to pause, stop or interrupt it."""
        with self._lock:
            record = self._record(run_id)
            rules.check_active(record.standing)
            stands, stands_by = rules.stronger(record.standing, signal, by)
            record.run = replace(record.run, signal=stands, signal_by=stands_by)
        self._listeners.call(run_id)
        return stands

    async def answer(self, run_id: str, request_id: str, answer: str, by: str, at: float) -> RequestRow:
        """Answer a pending request, once."""
        with self._lock:
            record = self._record(run_id)
            rules.check_active(record.standing)
            request = rules.check_answer(run_id, request_id, record.requests.get(request_id), at)
            row = request._replace(status="answered", answer=answer, by=by, at=at)
            record.requests[request_id] = row
        self._listeners.call(run_id)
        return row

    async def attention(self, run_id: str, owner: str, since: float) -> Attention | None:
        """Return what others did to a run."""
        with self._lock:
            record = self._record(run_id)
            answered = [row for row in record.requests.values() if row.status == "answered" and row.at >= since]
            return rules.attention_of(record.standing, owner, sorted(answered, key=lambda row: row.at))

    def listen(self, run_id: str, call: Callable[[], None] | None) -> None:
        """Call when signals and answers come in through this object."""
        self._listeners.set(run_id, call)

    async def run(self, run_id: str) -> RunRow:
        """Return a run."""
        with self._lock:
            return self._record(run_id).told

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
        """Return runs, the latest first."""
        statuses = rules.check_statuses(status)
        with self._lock:
            self._check_open()
            latest = sorted(
                self._records.values(), key=lambda record: (record.run.began, record.place), reverse=True
            )
            rows = [record.told for record in latest if before is None or record.run.began < before]
        wanted = {"user": user, "conversation": conversation, "parent": parent}
        found = [
            row
            for row in rows
            if (not statuses or row.status in statuses)
            and flow in ("", row.flow)
            and all(value in ("", getattr(row.trigger, name)) for name, value in wanted.items())
        ]
        return found[: max(0, limit)]

    async def requests(self, run_id: str, *, pending: bool = True) -> list[RequestRow]:
        """Return the requests of a run, in the order in which they were opened."""
        with self._lock:
            rows = self._record(run_id).requests.values()
            return sorted(
                (row for row in rows if not pending or row.status == "pending"), key=lambda row: row.opened
            )

    async def load(self, run_id: str) -> Stored:
        """Return everything that is written of a run."""
        with self._lock:
            record = self._record(run_id)
            return Stored(
                run=record.told,
                frames=[record.frames[number] for number in sorted(record.frames)],
                visits=[record.visits[seq] for seq in sorted(record.visits)],
                notes=[record.notes[seq] for seq in sorted(record.notes)],
                calls=list(record.calls.values()),
                requests=sorted(record.requests.values(), key=lambda row: row.opened),
            )

    async def delete(self, run_id: str) -> None:
        """Remove the record of a run that has ended."""
        with self._lock:
            rules.check_ended(self._record(run_id).standing)
            del self._records[run_id]

    async def prune(self, before: float, *, status: Sequence[RunStatus] = ()) -> int:
        """Remove the records of runs that ended before a time."""
        statuses = rules.check_statuses(status)
        with self._lock:
            self._check_open()
            old = [
                run_id
                for run_id, record in self._records.items()
                if record.run.end is not None
                and record.run.end.ended < before
                and (not statuses or record.run.status in statuses)
            ]
            for run_id in old:
                del self._records[run_id]
            return len(old)

    async def aclose(self) -> None:
        """Close. What is kept is kept no longer."""
        with self._lock:
            self._is_closed = True
            self._records.clear()

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreError(f"{self.name} is closed: make another store")

    def _record(self, run_id: str) -> _Record:
        self._check_open()
        record = self._records.get(run_id)
        if record is None:
            raise rules.not_found(self.name, run_id)
        return record

    def _is_his(self, record: _Record, owner: str) -> bool:
        try:
            rules.check_owner(record.standing, owner)
        except RunConflict:
            return False
        return True

    def _delegated(self, run_id: str) -> Iterator[_Record]:
        """Walk the active runs that a run delegated, and theirs. Each is ended before the next is looked for."""
        for record in list(self._records.values()):
            if record.run.trigger.parent == run_id and record.run.status in ACTIVE:
                yield record
                yield from self._delegated(record.run.run_id)
