"""The ledger: what the host of a stored run writes down, in the order in which it happens, and when."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any, Literal, NoReturn

from ..clock import Clock
from ..errors import NotSerialisable, StoreError
from ..events import RequestAnswered
from ..frame import Frame
from ..result import RunResult
from ..scope import Scope
from ..state import Codec, Shape, Values
from ..store import CallRow, EndRow, FrameRow, NoteRow, RequestRow, RunStore, Stored, VisitRow, Write
from ..store.failures import dump_failure
from ..store.reading import read_ending
from ..store.writing import dump_outcome, dump_rest, frame_row, note_row, visit_row
from ..trace import Trace
from ..visit import Ending, Note, VisitRecord
from .host import Done, Left, WalkStopped

__all__ = ["KEPT", "Ledger"]

KEPT = 1_000
"""How many visits of a stored run stay in memory."""
_Place = tuple[Frame, str, int]


class Ledger:
    """Writes the record of one run, as its owner. What cannot be written ends the run here; it can be resumed."""

    def __init__(
        self,
        store: RunStore,
        codec: Codec,
        run_id: str,
        owner: str,
        scope: Scope,
        clock: Clock,
        trace: Trace,
        broken: Callable[[Exception], None],
    ) -> None:
        self.store = store
        self.codec = codec
        self.run_id = run_id
        self.owner = owner
        self.requests: dict[str, RequestRow] = {}
        self.answered: set[str] = set()
        """The requests of which it was told how they were closed."""
        self._scope = scope
        self._clock = clock
        self._trace = trace
        self._broken = broken
        self._rows: dict[Frame, FrameRow] = {}
        self._numbers: dict[Frame, int] = {}
        self._told: dict[_Place, tuple[str, Mapping[str, Any]]] = {}
        self._visits: list[VisitRow] = []
        self._frames: dict[int, FrameRow] = {}
        self._notes: list[NoteRow] = []
        self._calls: dict[str, CallRow] = {}
        self._requests: dict[str, RequestRow] = {}
        self.closed = False

    def know_root(self, root: Frame, row: FrameRow) -> None:
        """Take the walk of the run itself as written: that was done when its record was opened."""
        self._numbers[root], self._rows[root] = 0, row

    def take_up(self, stored: Stored, frames: Mapping[int, Frame], rewritten: Iterable[FrameRow] = ()) -> None:
        """Go on with what was written before. Walks that are `rewritten` are written with what comes next."""
        self._numbers = {frame: number for number, frame in frames.items()}
        self._frames = {row.frame: row for row in rewritten}
        self._rows = {frames[row.frame]: row for row in (*stored.frames, *self._frames.values())}
        self.requests = {row.key: row for row in stored.requests}
        answers = [note.values for note in stored.notes if note.kind == RequestAnswered.kind]
        self.answered = {row.id for row in stored.requests if any(row.id in values for values in answers)}

    def number(self, frame: Frame) -> int:
        """Return the number of a walk. One that is new will be written with what comes next."""
        known = self._numbers.get(frame)
        if known is not None:
            return known
        for around in (frame.parent, frame.owner):
            if around is not None:
                self.number(around)
        number = self._numbers[frame] = len(self._numbers)
        self._write_frame(frame)
        return number

    def _write_frame(self, frame: Frame) -> None:
        now = self._clock.monotonic()
        row = self._rows.get(frame)
        if row is None:
            row = frame_row(self.codec, frame, self._numbers, now)
        else:
            finish = "" if frame.finish is None else "{}#{} {}".format(*frame.finish)
            row = row._replace(finish=finish, spent=_spent(frame.scope, now))
        self._rows[frame] = self._frames[row.frame] = row

    def kept(self, where: _Place, shape: Shape, values: Values, done: Done) -> NotSerialisable | None:
        """Note what a visit did as text; return the error if it cannot be written."""
        frame, node, number = where
        try:
            path = frame.path_of(node, number)
            patch = self.codec.encode_fields(done.patch, path, values, of=shape.cls) if done.patch else ""
            told = dump_outcome(self.codec, done.outcome, path)
            if done.inner is not None:
                self.number(done.inner)
                for child in done.inner.children:  # those whose visits were not told stand beside the others
                    self.number(child)
        except NotSerialisable as error:
            return error
        if patch or told:
            self._told[where] = (patch, told)
        return None

    def note(self, note: Note) -> None:
        """Write a note with what comes next."""
        if isinstance(note.where, tuple):
            frame, node, number = note.where
            self._notes.append(note_row(self.codec, note, self.number(frame), node, number))
        else:
            self._notes.append(note_row(self.codec, note, -1, note.where, 0))

    def visit(self, record: VisitRecord, left: Left) -> Awaitable[None] | None:
        """Write a visit that has ended, and what is waiting to be written. Return what to wait for."""
        frame, where = record.frame, (record.frame, record.node, record.number)
        number = self.number(frame)
        patch, told = self._told.pop(where, ("", {}))
        inner = record.told.inner
        rest = dump_rest(record, told, left.done.routable, None if inner is None else self.number(inner))
        row = visit_row(record, number, patch, rest)
        if frame.parent is not None:
            self._count(frame)
        if record.kind == "unfinished":
            self._visits.append(row)
            return None
        if len(self._trace.records) >= 2 * KEPT:
            self._trace.forget(KEPT)
        if not (self._notes or self._frames or self._calls or self._requests or self._visits):
            return self._commit(Write(self.run_id, self.owner, (row,)))
        self._visits.append(row)
        return self.flush()

    def _count(self, frame: Frame) -> None:
        """Write what the scopes around a visit have spent, where they belong to a walk inside the run."""
        here: Frame | None = frame
        while here is not None:
            if here.scope is not None and here.parent is not None:
                self._write_frame(here)
            here = here.owner or here.parent

    def call(self, row: CallRow) -> None:
        """Write how a call stands with what comes next."""
        self._calls[row.key] = row

    def request(self, row: RequestRow) -> Awaitable[None] | None:
        """Write how a request stands. Return what to wait for."""
        self.requests[row.key] = self._requests[row.id] = row
        return self.flush()

    def later(self, row: RequestRow) -> None:
        """Write how a request stands with what comes next."""
        self.requests[row.key] = self._requests[row.id] = row
        self.answered.add(row.id)

    def waits_since(self) -> float:
        """Return when the oldest request that waits was opened: no answer to come is older. inf if none waits."""
        return min((row.opened for row in self.requests.values() if row.status == "pending"), default=math.inf)

    def finishing(self, frame: Frame) -> None:
        """Write that a walk goes along its finish path, with what comes next."""
        self.number(frame)
        self._write_frame(frame)

    def flush(self, status: Literal["", "running", "paused"] = "") -> Awaitable[None] | None:
        """Write what is waiting to be written. Return what to wait for."""
        return self._commit(self.waiting(status))

    def waiting(self, status: Literal["", "running", "paused"] = "") -> Write:
        """Return what is waiting to be written, and forget it."""
        write = Write(
            self.run_id,
            self.owner,
            tuple(self._visits),
            tuple(self._frames.values()),
            tuple(self._notes),
            tuple(self._calls.values()),
            tuple(self._requests.values()),
            status,
            self._run_spent(),
        )
        self._visits, self._notes = [], []
        self._frames, self._calls, self._requests = {}, {}, {}
        return write

    def _run_spent(self) -> str:
        """Return what the run has spent, and when that was: the seconds of later visits are added to it."""
        began = self._trace.began
        at = 0.0 if began is None else (self._clock.utcnow() - began).total_seconds()
        return json.dumps({**self._scope.spending(self._clock.monotonic()), "at": at}, separators=(",", ":"))

    async def settle(self, result: RunResult[Any], values: Values) -> Ending | None:
        """Write how the run ended; return how it did if somebody was faster. Raises `StoreError`."""
        if self.closed:
            return None
        self.closed = True
        end = EndRow(
            result.status,
            self._clock.utcnow().timestamp(),
            self.codec.encode(result.value, "result") if result.status == "completed" else "",
            dump_failure(result.failure),
            result.reason,
            result.exhausted or "",
            result.stragglers,
            json.dumps(asdict(result.usage)),
            self.codec.encode_fields(values, "state"),
        )
        if await self.store.settle(self.run_id, end, self.waiting(), owner=self.owner):
            return None
        stored = (await self.store.run(self.run_id)).end
        return None if stored is None else read_ending(stored, self.codec)

    def _commit(self, write: Write) -> Awaitable[None] | None:
        if self.closed:
            return None
        try:
            waiting = self.store.commit(write)
        except StoreError as error:
            self._break(error)
        return None if waiting is None else self._written(waiting)

    async def _written(self, waiting: Awaitable[None]) -> None:
        try:
            await waiting
        except StoreError as error:
            self._break(error)

    def _break(self, error: StoreError) -> NoReturn:
        """End the run here: nothing that it does from now on would be kept."""
        if not self.closed:
            self.closed = True
            self._broken(error)
        raise WalkStopped from error


def _spent(scope: Scope | None, now: float) -> str:
    return "" if scope is None else json.dumps(scope.spending(now), separators=(",", ":"))
