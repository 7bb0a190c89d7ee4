"""The calls: the log of what is called inside the visits of a run, so that nothing of it is done a second time.

A visit that was interrupted runs again, and its calls find their results. Visits that have ended are forgotten.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

import anyio

from ..clock import Clock
from ..events import CallRecalled, Event
from ..frame import Frame
from ..state import snapshot
from ..visit import Where, path_of, written_path_of
from ..visit_host import CallKind, CallStatus
from .host import Left, WalkStopped
from .waiting import written

if TYPE_CHECKING:
    from ..state import Codec
    from ..store import CallRow, Stored
    from .ledger import Ledger

__all__ = ["Calls", "Entry"]

_EVERY_ATTEMPT: frozenset[CallKind] = frozenset(("effect", "once", "node"))
"""What an attempt after a failed one finds recorded, too; all else it asks anew."""
_LATE: frozenset[CallKind] = frozenset(("model", "tool"))
_EFFECTS: frozenset[CallKind] = frozenset(("effect", "node"))
_PLACE, _CALL = 20, 20
"""How many characters of a key say where the call is made, and what is called."""


class Entry:
    """One call in the log: a `LoggedCall`."""

    __slots__ = (
        "_calls", "_key", "_lock", "_result", "arguments", "at_end", "attempt", "kind", "log", "name", "status",
    )  # fmt: skip

    def __init__(self, calls: Calls, log: _VisitLog, kind: CallKind, name: str) -> None:
        self.kind: CallKind = kind
        self.name = name
        self._key = ""
        self.log = log
        self.arguments: str | Callable[[], str] = ""
        self.attempt = log.attempt
        self.status: CallStatus = ""
        self.at_end: CallStatus = "unknown"
        """How it stands when its visit ends without having said so."""
        self._result: Any = None
        self._lock: anyio.Lock | None = None
        self._calls = calls

    @property
    def key(self) -> str:
        """What tells it apart from every other call of the run."""
        if not self._key:
            self.log.settle()
        return self._key

    @key.setter
    def key(self, key: str) -> None:
        self._key = key

    @property
    def has_result(self) -> bool:
        """Whether its result is recorded."""
        return self._result is not None

    @property
    def alone(self) -> anyio.Lock:
        """What one at a time holds who makes this call."""
        if self._lock is None:
            self._lock = anyio.Lock()
        return self._lock

    @property
    def is_barred(self) -> bool:
        """Whether nobody knows of an equal call with effects whether it was done."""
        return self.status == "" and self in self._calls.unknown

    def recall(self) -> Any:
        """Return the recorded result, and tell that it was taken. Raises `StoreError` if it cannot be read."""
        result = self._calls.read(self, self._result)
        self._calls.heard(self.log.where, CallRecalled, {"of": self.kind, "name": self.name})
        return result

    def put(self, status: CallStatus, result: Any = None) -> None:
        """Note how the call stands. Raises `NotSerialisable`. Does nothing when the visit is over."""
        if self._calls.is_open(self.log.where):
            self.set(status, None if result is None else self._calls.as_kept(self, result))

    def set(self, status: CallStatus, kept: Any) -> None:
        """Note how the call stands, with a result as it is kept."""
        self.status, self._result = status, kept
        if self.kind in _EFFECTS:
            self._calls.unknown.note(self)
        self._calls.write(self, kept)

    def take_up(self, row: CallRow) -> None:
        """Stand as another process has left it."""
        self.key, self.status = row.key, cast(CallStatus, row.status)
        self._result = row.result or None

    async def written(self) -> None:
        """Return when what was noted is written."""
        await self._calls.written()

    async def keep(self, status: CallStatus, result: Any = None) -> None:
        """Note how the call stands, and return when that is written."""
        self.put(status, result)
        await self.written()

    async def clear(self, status: CallStatus, result: Any) -> None:
        """Note what came of the equal calls that nobody knew of."""
        for each in self._calls.unknown.like(self):
            each.set(status, self._calls.as_kept(each, result))
        await self._calls.written()


class _VisitLog:
    """The calls of one visit: by key, and how many equal ones were made in this run of it."""

    __slots__ = ("attempt", "calls", "is_resumed", "late", "nth", "where")

    def __init__(self, where: Where) -> None:
        self.where = where
        self.attempt = 1
        self.nth: Counter[tuple[int, str]] = Counter()
        self.calls: dict[str, Entry] = {}
        self.is_resumed = False
        self.late: list[Entry] = []
        """Those whose key is made when it is wanted: where nothing is written, that is after an interruption."""

    def key(self, entry: Entry) -> str:
        """Return by what a call is found again: its place, what it is, and which of several equal ones."""
        arguments = entry.arguments if isinstance(entry.arguments, str) else entry.arguments()
        name = "" if entry.kind == "node" else entry.name  # its place says all, under another name too
        call = _hash(_CALL, entry.kind, name, arguments)
        attempt = 0 if entry.kind in _EVERY_ATTEMPT else entry.attempt
        self.nth[attempt, call] += 0 if entry.kind == "once" else 1
        return f"{_hash(_PLACE, written_path_of(self.where), str(attempt), str(self.nth[attempt, call]))}.{call}"

    def interrupt(self) -> None:
        """Count anew: the visit runs again."""
        self.settle()
        self.nth.clear()
        self.is_resumed, self.attempt = True, 1

    def settle(self) -> None:
        """Make the keys that were put off."""
        for entry in self.late:
            entry.key = self.key(entry)
            self.calls[entry.key] = entry
        self.late.clear()


class _Unknown:
    """The calls with effects of which nobody knows whether they were done, by what was called."""

    def __init__(self) -> None:
        self._calls: dict[str, dict[str, Entry]] = {}

    def note(self, entry: Entry, *, cut_off: bool = False) -> None:
        """Note how a call stands: one that was cut off is unknown, too."""
        call = entry.key[_PLACE:]
        if entry.status == "unknown" or (cut_off and entry.status == "dispatched"):
            self._calls.setdefault(call, {})[entry.key] = entry
        elif (equal := self._calls.get(call)) is not None and equal.pop(entry.key, None) is not None and not equal:
            del self._calls[call]

    def like(self, entry: Entry) -> list[Entry]:
        """Return the unknown calls that are equal to one."""
        return list(self._calls.get(entry.key[_PLACE:], {}).values())

    def __contains__(self, entry: Entry) -> bool:
        return entry.key[_PLACE:] in self._calls


class Calls:
    """The log of the calls of a run: in memory while their visits last, and written where the run is stored."""

    def __init__(
        self,
        is_open: Callable[[Where], bool],
        heard: Callable[[Where, type[Event], Mapping[str, Any]], None],
        clock: Clock,
        codec: Callable[[], Codec],
    ) -> None:
        self.is_open = is_open
        self.heard = heard
        self.ledger: Ledger | None = None
        self.visits: dict[Where, _VisitLog] = {}
        self.unknown = _Unknown()
        self._clock = clock
        self._codec = codec

    def take_up(self, stored: Stored, frames: Mapping[int, Frame]) -> None:
        """Go on with what was written before. Of visits that have ended only what is unknown is of interest."""
        ended = {(frames[row.frame], row.node, row.number) for row in stored.visits if row.kind != "unfinished"}
        for row in stored.calls:
            where = (frames[row.frame], row.node, row.number)
            has_ended = _has_ended(where, ended)
            log = _VisitLog(where) if has_ended else self.visits.setdefault(where, _VisitLog(where))
            entry = Entry(self, log, cast(CallKind, row.kind), row.name)
            entry.take_up(row)
            log.calls[entry.key] = entry
            if entry.kind in _EFFECTS:
                self.unknown.note(entry, cut_off=True)

    def begin(self, where: Where, kind: CallKind, name: str, arguments: str | Callable[[], str]) -> Entry:
        """Return a call that is about to be made in a visit: of equal ones of this kind the next."""
        log = self.visits.get(where)
        if log is None:
            log = _VisitLog(where)
            if self.is_open(where):
                self.visits[where] = log
        entry = Entry(self, log, kind, name)
        entry.arguments = arguments
        if self.ledger is None and kind in _LATE and not log.is_resumed:
            log.late.append(entry)
            return entry
        entry.key = log.key(entry)
        return log.calls.setdefault(entry.key, entry)

    def again(self, where: Where, attempt: int) -> None:
        """Count equal calls of a visit anew: another attempt follows."""
        if (log := self.visits.get(where)) is not None:
            self._cut_off(log)
            log.attempt = attempt
            log.nth = Counter({key: count for key, count in log.nth.items() if key[0]})

    def interrupt(self) -> None:
        """Count equal calls anew: the visits that are under way run again."""
        for log in self.visits.values():
            log.interrupt()
            self._cut_off(log)

    def _cut_off(self, log: _VisitLog) -> None:
        for entry in log.calls.values():
            if entry.kind in _EFFECTS:
                self.unknown.note(entry, cut_off=True)

    def ended(self, left: Left) -> None:
        """Forget the calls of a visit that has ended, and of those inside it. What was cut off is unknown."""
        where = (left.frame, left.node, left.number)
        if (log := self.visits.get(where)) is not None:
            for entry in log.calls.values():
                if entry.status == "dispatched" or (entry.kind == "node" and entry.status != entry.at_end):
                    entry.set(entry.at_end, None)
            if left.way.kind != "unfinished":  # the composite around it may be walked again
                del self.visits[where]
        if left.done.inner is not None and left.way.kind != "unfinished":
            for inner in [each for each in self.visits if not isinstance(each, str) and _is_below(each[0], where)]:
                del self.visits[inner]

    def as_kept(self, entry: Entry, result: Any) -> Any:
        """Return a result as it is kept. Raises `NotSerialisable`."""
        if self.ledger is None and entry.kind != "once":
            return (result if entry.kind == "model" else snapshot(result),)  # a reply is frozen
        return self._codec().encode(result, f"{path_of(entry.log.where)}: {entry.kind} {entry.name!r}")

    def read(self, entry: Entry, kept: Any) -> Any:
        """Return a result that was kept. Raises `StoreError`."""
        if isinstance(kept, tuple):
            return kept[0] if entry.kind == "model" else snapshot(kept[0])
        return self._codec().decode(kept, f"{path_of(entry.log.where)}: {entry.kind} {entry.name!r}")

    def write(self, entry: Entry, kept: Any) -> None:
        """Write how a call stands with what comes next, if the run is stored."""
        ledger, where = self.ledger, entry.log.where
        if ledger is None or isinstance(where, str):
            return
        if ledger.closed and entry.status == "dispatched":
            raise WalkStopped
        from ..store import CallRow  # noqa: PLC0415 - loaded where a run is stored

        frame, node, number = where
        at = self._clock.utcnow().timestamp()
        result = kept if isinstance(kept, str) else ""
        ledger.call(
            CallRow(
                entry.key, ledger.number(frame), node, number, entry.kind, entry.name, entry.status, result, at
            )
        )

    async def written(self) -> None:
        """Return when all that was noted is written."""
        if self.ledger is not None and not self.ledger.closed:
            await written(self.ledger.flush())


def _hash(length: int, *parts: str) -> str:
    text = "\n".join(parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def _has_ended(where: tuple[Frame, str, int], ended: Iterable[tuple[Frame, str, int]]) -> bool:
    """Return whether a visit has ended, or one that it stands in."""
    while where not in ended:
        frame = where[0]
        if frame.parent is None:
            return False
        where = (frame.parent, frame.node, frame.number)
    return True


def _is_below(frame: Frame, visit: tuple[Frame, str, int]) -> bool:
    """Return whether a walk stands inside a visit, however deep."""
    return frame.parent is not None and _has_ended((frame.parent, frame.node, frame.number), {visit})
