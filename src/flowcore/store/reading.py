"""Reading: the rows of a record, turned back into the trace of its run. A pure function of the rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from ..errors import StoreError
from ..events import EVENT_KINDS
from ..frame import Frame
from ..scope import Budget, Usage
from ..state import Codec
from ..trace import Trace
from ..trace_events import told_ending
from ..visit import Ending, Note, Rare, VisitRecord, Way, Where
from .beginnings import fill_in
from .failures import read_failure
from .logs import whole_logs
from .rows import EndRow, FrameRow, NoteRow, Stored, VisitRow

__all__ = ["Reading", "read_ending", "read_trace"]


class Reading:
    """What is made of rows: the trace, and which frame has which number."""

    def __init__(self, stored: Stored, codec: Codec, *, last: int | None = None) -> None:
        """Read a record; with `last`, only that many visits, and the notes since the first of them.

        Then their logs are made whole when it is known what stood in them before: by `whole_logs`.
        """
        run = stored.run
        self.stored = stored
        self.codec = codec
        declared = json.loads(run.declared)
        began = datetime.fromtimestamp(run.began, UTC)
        budget = Budget(**json.loads(run.budget))
        self.trace = Trace(run.flow, run.run_id, began, lambda: declared, budget)
        self.frames = self._frames(stored.frames)
        self._name(stored.visits)
        self._alternatives = dict(_alternatives(declared))
        self._appended: dict[int, tuple[str, ...]] = {}
        visits = stored.visits if last is None else stored.visits[-last:] if last else []
        since = visits[0].seq if len(visits) < len(stored.visits) and visits else 0
        self.trace.forgotten = len(stored.visits) - len(visits)
        self.trace.records += [self.record(row) for row in visits]
        self._drop(stored.visits)
        if last is None:
            self.whole_logs(lambda _: True)
        if run.end is not None:
            self.trace.ending = read_ending(run.end, codec)
        self.trace.notes += [self.note(row) for row in stored.notes if row.seq >= since]

    def _frames(self, rows: Iterable[FrameRow]) -> dict[int, Frame]:
        found = {0: self.trace.root}
        for row in sorted(rows, key=lambda row: row.frame):
            if row.owner >= 0:
                found[row.frame] = found[row.owner].beside(row.place, row.label)
            elif row.frame:
                found[row.frame] = Frame(row.flow, found[row.parent], row.node, row.number)
            frame = found[row.frame]
            if row.start:
                frame.start = self.codec.decode_fields(row.start, frame.path or "state")
            if row.finish:
                node, _, dimension = row.finish.rpartition(" ")
                name, _, number = node.rpartition("#")
                frame.finish = (name, int(number), dimension)
        return found

    def _name(self, rows: Iterable[VisitRow]) -> None:
        """Let a walk inside a visit bear the name under which that ended: its node may have been renamed."""
        for row in rows:
            if '"inner":' in row.rest and (inner := json.loads(row.rest).get("inner")) is not None:
                for frame in (self.frames[inner], *self.frames[inner].children):
                    frame.node = row.node

    def _drop(self, rows: Iterable[VisitRow]) -> None:
        for row in rows:
            if row.rest and "dropped" in (rest := json.loads(row.rest)):
                for index in rest["dropped"]:
                    self.frames[rest["inner"]].children[index].dropped = True

    def whole_logs(self, is_known: Callable[[Frame], bool]) -> None:
        """Let logs show what stood in them before, where it `is_known` what a walk began with."""
        if self._appended:
            rows = {self.frames[row.frame]: row for row in self.stored.frames}
            records = self.trace.records
            self.trace.records = whole_logs(records, self._appended, rows, self.codec, is_known)

    def record(self, row: VisitRow) -> VisitRecord:
        """Return a visit as the trace keeps it."""
        frame = self.frames[row.frame]
        patch = {}
        if row.patch:
            patch = self.codec.decode_fields(row.patch, frame.path_of(row.node, row.number))
            if appended := _appended(row.patch):
                self._appended[row.seq] = appended
        kind: Any = row.kind
        way = Way(kind, row.label, row.target, self._others(frame, row), row.edge)
        counters = (row.rounds, row.requests, row.tool_calls, row.tokens, row.cost)
        return VisitRecord(
            frame, row.node, row.number, bool(row.charged), row.round, row.walk_round, way, self._rare(row),
            tuple(patch), tuple(patch.values()), row.started, row.ended, row.seq, row.last - row.seq, counters,
        )  # fmt: skip

    def _rare(self, row: VisitRow) -> Rare | None:
        if not row.rest:
            return None
        rest, path = json.loads(row.rest), self.frames[row.frame].path_of(row.node, row.number)
        known = {
            name: self.codec.decode(rest[name], f"{path}: {name}") for name in ("why", "value") if name in rest
        }
        return Rare(
            inner=self.frames[rest["inner"]] if "inner" in rest else None,
            attempts=rest.get("attempts", 1),
            failure=read_failure(rest["failure"]) if "failure" in rest else None,
            retried=tuple(map(read_failure, rest.get("retried", ()))),
            **known,
        )

    def _others(self, frame: Frame, row: VisitRow) -> tuple[str, ...]:
        if row.kind != "label":
            return ()
        labels = self._alternatives.get((_declared(frame), row.node), ())
        return tuple(label for label in labels if label != row.label)

    def note(self, row: NoteRow) -> Note:
        """Return what happened and no visit tells as the trace keeps it."""
        where: Where = row.node if row.frame < 0 else (self.frames[row.frame], row.node, row.number)
        kind = EVENT_KINDS.get(row.kind)
        if kind is None:
            raise StoreError(
                f"{self.trace.run_id}: an event of kind {row.kind!r} is not known: a later flowcore wrote it"
            )
        values = {name: self._value(name, value) for name, value in json.loads(row.values or "{}").items()}
        if (ending := self.trace.ending) is not None and kind.kind.removeprefix("run.") == ending.status:
            kind, values = told_ending(ending)
        return Note(kind, row.seq, where, row.at, values)

    def _value(self, name: str, value: Any) -> Any:
        return read_failure(value["failure"]) if isinstance(value, dict) else self.codec.decode(value[0], name)


def _appended(patch: str) -> tuple[str, ...]:
    """Return the fields of which a stored patch has only what was appended."""
    if '"+' not in patch:
        return ()
    return tuple(name[1:] for name in json.loads(patch) if name[:1] == "+")


def read_trace(stored: Stored, codec: Codec) -> Trace:
    """Return the trace of a stored run, whole. Raises `StoreError` for values that cannot be read any more."""
    reading = Reading(stored, codec)
    fill_in({reading.frames[row.frame]: row for row in stored.frames}, reading.trace.records, codec)
    return reading.trace


def read_ending(end: EndRow, codec: Codec) -> Ending:
    """Return how a stored run ended."""
    return Ending(
        end.status,
        codec.decode(end.value, "result") if end.value else None,
        read_failure(json.loads(end.failure)) if end.failure else None,
        Usage(**json.loads(end.usage)),
        end.exhausted or None,
        end.reason,
        end.stragglers,
    )


def _alternatives(flow: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[tuple[str, str], tuple[str, ...]]]:
    """Yield the labels that each node may return, by the declared path of its walk and its id."""
    for node in flow["nodes"]:
        labels = [
            route["label"] for route in flow["routes"] if route["from"] == node["id"] and route["kind"] == "label"
        ]
        yield (prefix, node["id"]), tuple(labels)
        below = f"{prefix}/{node['id']}".lstrip("/")
        for inside in (node.get("flow"), node.get("branches")):
            if inside is not None:
                yield from _alternatives(inside, below)


def _declared(frame: Frame) -> str:
    """Return the path of a walk in the declared flow."""
    names: list[str] = []
    here = frame
    while here.parent is not None:
        names.append(here.node)
        here = here.parent
    return "/".join(reversed(names))
