"""Taking up: a stored run turned back into walks that stand where they stood. A pure function of record and plan."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import FlowChanged
from ..events import BudgetSpent, BudgetWarned, Event
from ..frame import Frame, Standing
from ..graph import Each, Parallel, Plan, PlanNode, Subflow
from ..scope.budget import COUNTED
from ..state import Codec, Shape, Values, shape_of
from ..store import FrameRow, Stored, VisitRow
from ..store.failures import read_error, read_failure
from ..store.reading import Reading
from ..types import as_class
from ..visit import Note
from .host import Ended

__all__ = ["TakenUp"]


class TakenUp:
    """A stored run on today's plan: its frames, its counters. Raises `FlowChanged` if it cannot go on there."""

    def __init__(self, stored: Stored, plan: Plan, codec: Codec, *, last: int) -> None:
        self.stored = stored
        self.reading = Reading(stored, codec, last=last)
        self.frames: Mapping[int, Frame] = self.reading.frames
        self._codec = codec
        self._rows: dict[Frame, list[VisitRow]] = defaultdict(list)
        for row in sorted(stored.visits, key=lambda row: row.last):
            if row.kind != "unfinished":
                self._rows[self.frames[row.frame]].append(row)
        self._written: dict[Frame, FrameRow] = {self.frames[row.frame]: row for row in stored.frames}
        self._inside: dict[tuple[Frame, str, int], Frame] = {
            (frame.parent, frame.node, frame.number): frame
            for frame in self.frames.values()
            if frame.parent is not None and frame.owner is None
        }
        self._changes: list[str] = []
        records = self.reading.trace.records
        self._since = records[0].first_seq if self.reading.trace.forgotten and records else 0
        root, run = self.reading.trace.root, stored.run
        self.shape = self._shape(run.state_type, plan)
        self._walk(root, plan, self.shape, dict(root.start))
        self.start = dict(root.start)
        if self._changes:
            said = f"run {run.run_id} of {run.flow} cannot go on in today's flow"
            raise FlowChanged(said, self._changes)
        self._count()

    @property
    def spent(self) -> dict[str, float]:
        """What the run had spent. A round that was paid for a visit that begins again is paid anew."""
        spent: dict[str, float] = {"seconds": 0.0, "at": 0.0}
        if self.stored.run.spent:
            spent = json.loads(self.stored.run.spent)
        last = max(self.stored.visits, key=lambda row: row.last, default=None)
        counters: Iterable[Any] = (0,) * len(COUNTED) if last is None else last[-len(COUNTED) :]
        for name, counter in zip(COUNTED, counters, strict=True):
            spent[name] = max(spent.get(name, 0), counter)
        since = 0.0 if last is None else max(0.0, last.ended - spent.pop("at"))
        return {**spent, "seconds": spent["seconds"] + since, "rounds": self.rounds}

    @property
    def rounds(self) -> int:
        """How many rounds have been paid for visits that ended."""
        return sum(row.charged for row in self.stored.visits if row.kind != "unfinished")

    @property
    def seq(self) -> int:
        """The last number that the run has used."""
        visits = max((row.last for row in self.stored.visits), default=0)
        return max(visits, max((row.seq for row in self.stored.notes), default=0))

    @property
    def requests(self) -> int:
        """How many requests to models were numbered."""
        return sum(row.kind == "model.requested" for row in self.stored.notes)

    @property
    def warned(self) -> set[str]:
        """The dimensions of which it was told that they run out."""
        return {note.values["dimension"] for note in self._noted(BudgetWarned)}

    @property
    def exhausted(self) -> set[tuple[str, str]]:
        """The limits of which it was told that they were reached: dimension, and path of the scope."""
        return {(note.values["dimension"], note.values["scope"]) for note in self._noted(BudgetSpent)}

    def _noted(self, event: type[Event]) -> Iterable[Note]:
        return (self.reading.note(row) for row in self.stored.notes if row.kind == event.kind)

    def _count(self) -> None:
        """Count what was spent in each scope that a walk has of its own."""
        charged: dict[Frame, int] = defaultdict(int)
        for frame, rows in self._rows.items():
            paid = sum(row.charged for row in rows)
            here: Frame | None = frame if paid else None
            while here is not None:
                charged[here] += paid
                here = here.owner or here.parent
        for frame, row in self._written.items():
            if row.spent and frame.parent is not None:
                frame.spent = {**json.loads(row.spent), "rounds": charged[frame]}

    def _shape(self, name: str, plan: Plan) -> Shape:
        today = as_class(plan.state)
        if today is not None and self._codec.name_of(today) == name:
            return shape_of(today)
        found: Any = self._codec.find(name)
        return shape_of(found)

    def _walk(self, frame: Frame, plan: Plan, shape: Shape, start: Values, first: PlanNode | None = None) -> None:
        """Make one walk stand where it stood, and what is inside of it."""
        rows = self._rows[frame]
        for row in rows:
            frame.visits[row.node] = max(row.number, frame.visits.get(row.node, 0))
        frame.rounds = rows[-1].walk_round if rows else 0
        values = self._values(frame, start, rows)
        node = first or plan.entry
        standing = None
        if frame.finish is not None and frame.visits.get(frame.finish[0], 0) < frame.finish[1]:
            standing = Standing(frame.finish[0], values, None, frame.finish[2])
        elif rows and not rows[-1].target:
            self._end(frame, rows[-1], values)
            return
        elif rows:
            failure = json.loads(rows[-1].rest).get("failure") if rows[-1].kind == "error" else None
            standing = Standing(rows[-1].target, values, None if failure is None else read_failure(failure))
        if standing is not None:
            frame.standing = standing
            node = plan.nodes.get(standing.node)
            if node is None:
                self._changes.append(f"{frame.path_of(standing.node, 1)}: there is no such node any more")
                return
        assert node is not None  # a plan without an entry is never constructed
        self._go_inside(frame, node, shape, values)

    def _values(self, frame: Frame, start: Values, rows: Iterable[VisitRow]) -> Values:
        """Return the state of a walk. What it had where the trace in memory begins becomes its start."""
        cut, path = self._since, frame.path or "state"
        old = [row.patch for row in rows if row.patch and row.seq < cut]
        written = self._written.get(frame)
        if written is not None and written.start:
            values = self._codec.fold(written.start, old, path)
        else:
            values = dict(start)
            for patch in old:
                self._codec.apply(values, patch, path)
        frame.start = dict(values)
        for row in rows:
            if row.patch and row.seq >= cut:
                self._codec.apply(values, row.patch, path)
        return values

    def _end(self, frame: Frame, row: VisitRow, values: Values) -> None:
        rest = json.loads(row.rest) if row.rest else {}
        path = frame.path_of(row.node, row.number)
        value = self._codec.decode(rest["value"], f"{path}: result") if "value" in rest else None
        frame.order = row.last
        frame.ended = Ended(value, values)
        if "failure" in rest:
            failure, error = read_failure(rest["failure"]), read_error(rest["failure"])
            frame.ended = Ended(None, values, error, failure, rest.get("routable", True))

    def _go_inside(self, frame: Frame, item: PlanNode, shape: Shape, values: Values) -> None:
        inner = self._inside.get((frame, item.id, frame.visits.get(item.id, 0) + 1))
        if inner is None:
            return
        definition = item.definition
        frame.inside = inner
        written = self._written[inner]
        if isinstance(definition, Subflow):
            start = values
            if written.shape:
                shape, start = self._shape(written.shape, definition.plan), dict(inner.start)
                inner.shape = shape
            self._walk(inner, definition.plan, shape, start)
        elif isinstance(definition, Parallel):
            assert item.inner is not None  # built with the flow
            for child in inner.children:
                if not child.label:
                    continue  # it had not begun: others had, that are declared after it
                if child.label not in item.inner.nodes:
                    self._changes.append(f"{inner.path}: there is no branch {child.label} any more")
                    continue
                self._walk(child, item.inner, shape, values, item.inner.nodes[child.label])
        elif isinstance(definition, Each):
            self._items(inner, written, definition)
        else:
            self._changes.append(f"{inner.path}: it was made of several nodes, and is a single one today")

    def _items(self, inner: Frame, written: FrameRow, definition: Each) -> None:
        stored: list[tuple[str, str]] = json.loads(written.items)
        inner.items = [
            (self._shape(name, definition.plan), self._codec.decode_fields(text, f"{inner.path}[{index}]"))
            for index, (name, text) in enumerate(stored)
        ]
        for child in inner.children:
            assert child.index is not None  # an item has one
            shape, start = inner.items[child.index]
            child.start = start
            self._walk(child, definition.plan, shape, dict(start))
