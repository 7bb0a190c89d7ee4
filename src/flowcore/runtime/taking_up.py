"""Taking up: a stored run turned back into walks that stand where they did. A pure function of record and plan."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..errors import StoreError
from ..events import BudgetSpent, BudgetWarned, Event
from ..frame import Frame, Standing
from ..graph import Each, Parallel, Plan, PlanNode, Subflow
from ..scope.budget import COUNTED
from ..state import Codec, Shape, Values
from ..store import CallRow, FrameRow, Stored, VisitRow
from ..store.failures import read_error, read_failure
from ..store.reading import Reading
from ..visit import Note
from .changed import Changes, Level, check_flow
from .host import Ended
from .opening import lenient_codec_of
from .stored_state import MISSING, Loaded, Misfit, StateType, StoredState

__all__ = ["TakenUp"]


class TakenUp:
    """A stored run on today's plan: its frames, its counters. Raises `FlowChanged` if it cannot go on there."""

    def __init__(self, stored: Stored, plan: Plan, codec: Codec, *, last: int) -> None:
        check_flow(stored.run, plan)
        self.stored = stored
        self.reading = Reading(stored, lenient_codec_of(plan), last=last)
        self.frames: Mapping[int, Frame] = self.reading.frames
        self.rewritten: list[FrameRow] = []
        """Walks whose state is another one today than what is stored of it."""
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
        self._called = {(row.frame, row.node, row.number) for row in stored.calls}
        self._asked = {row.path for row in stored.requests}
        records = self.reading.trace.records
        self._since = records[0].first_seq if self.reading.trace.forgotten and records else 0
        self._changes = Changes(stored.run)
        self._loaded: set[Frame] = set()
        root = self.reading.trace.root
        written = self._written[root]
        level = Level.of(stored.run, plan)
        begun = StoredState(codec, written.start, self._after(root), "")
        loaded = self._load(root, begun, level.state_type(written.shape or stored.run.state_type), None)
        self._walk(root, level, begun, loaded)
        self._changes.check()
        self.shape: Shape = loaded.shape
        self.start: Values = dict(root.start)
        self.reading.whole_logs(self._is_known)
        self._count()
        self.stored = replace(stored, calls=[self._call_today(row) for row in stored.calls])

    @property
    def spent(self) -> dict[str, float]:
        """What the run had spent. A round that was paid for a visit that begins again is paid anew."""
        spent: dict[str, float] = {"seconds": 0.0, "at": 0.0}
        if self.stored.run.spent:
            spent = json.loads(self.stored.run.spent)
        last = max(self.stored.visits, key=lambda row: row.last, default=None)
        for name in COUNTED:
            spent[name] = max(spent.get(name, 0), 0 if last is None else getattr(last, name))
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

    def _call_today(self, row: CallRow) -> CallRow:
        """Return a call with what its node is called today, if its visit begins again."""
        former = self.frames[row.frame].former
        if former is None or row.number != former[1] or row.node not in (former[2], former[0]):
            return row
        return row._replace(node=former[0])

    def _after(self, frame: Frame) -> list[VisitRow]:
        """Return the visits of a walk whose changes are not in what is written as its start."""
        since = self._written[frame].since if frame in self._written else 0
        return [row for row in self._rows[frame] if row.last > since]

    def _begun(self, frame: Frame, start: str | StoredState) -> StoredState:
        """Return the stored state of a walk that began with `start`, unless another one was written of it."""
        written = self._written[frame].start if frame in self._written else ""
        return StoredState(self._codec, written or start, self._after(frame), frame.path)

    def _load(self, frame: Frame, begun: StoredState, of: StateType, around: Loaded | None) -> Loaded:
        """Return the state of a walk today, or one that stands for it after noting why there is none."""
        if around is not None and around.is_missing:
            return around  # that of the walk around, which was noted
        try:
            loaded = begun.load(of, around, self._since)
        except Misfit as misfit:
            self._changes.states(begun.path, misfit.faults, can_upgrade=of.upgrade is not None)
            return MISSING
        frame.start = loaded.start
        if not loaded.is_new:
            self._loaded.add(frame)
        if loaded.is_new and (row := self._written.get(frame)) is not None:
            self._rewrite(row, loaded)
        return loaded

    def _is_known(self, frame: Frame) -> bool:
        """Return whether what a walk is said to begin with is its state where the trace in memory begins."""
        rows = self._rows[frame]
        return frame in self._loaded or not rows or rows[0].seq >= self._since

    def _rewrite(self, row: FrameRow, loaded: Loaded) -> None:
        codec, cls = self._codec, loaded.shape.cls
        start = codec.encode_fields(loaded.values, "state", of=cls)
        row = row._replace(shape=codec.name_of(cls), start=start, since=self.seq)
        self.rewritten.append(row)

    def _walk(
        self, frame: Frame, level: Level, begun: StoredState, loaded: Loaded, first: str | None = None
    ) -> None:
        """Make one walk stand where it stood, and what is inside of it. Note what is not there any more."""
        rows, plan, values = self._rows[frame], level.plan, loaded.values
        for row in rows:
            id = level.today(row.node)
            frame.visits[id] = max(row.number, frame.visits.get(id, 0))
        frame.rounds = rows[-1].walk_round if rows else 0
        if frame.finish is not None:
            frame.finish = (level.today(frame.finish[0]), *frame.finish[1:])
            if plan.finish is None:
                words = f"was on its finish path ({frame.finish[2]}), is a flow without a finish"
                self._changes.add(frame.path or plan.name, words, "give it a finish again")
        stored, failure, exhausted = first or level.entry, None, None
        if frame.finish is not None and frame.visits.get(frame.finish[0], 0) < frame.finish[1]:
            stored, exhausted = frame.finish[0], frame.finish[2]
        elif rows and not rows[-1].target:
            self._end(frame, rows[-1], values)
            return
        elif rows:
            stored = rows[-1].target
            found = json.loads(rows[-1].rest).get("failure") if rows[-1].kind == "error" else None
            failure = None if found is None else read_failure(found)
        item = plan.nodes.get(level.today(stored))
        if item is None:
            self._changes.gone(frame.path_of(stored, frame.visits.get(stored, 0) + 1), stored, level)
            return
        frame.standing = Standing(item.id, values, failure, exhausted)
        self._go_inside(frame, stored, item, level, begun, loaded)

    def _end(self, frame: Frame, row: VisitRow, values: Values) -> None:
        rest = json.loads(row.rest) if row.rest else {}
        path = frame.path_of(row.node, row.number)
        value = None
        try:
            value = self._codec.decode(rest["value"], f"{path}: result") if "value" in rest else None
        except StoreError as fault:
            self._changes.add(path, f"its result was kept, and cannot be read today: {fault}", "keep its class")
        frame.order = row.last
        frame.ended = Ended(value, values)
        if "failure" in rest:
            failure, error = read_failure(rest["failure"]), read_error(rest["failure"])
            frame.ended = Ended(None, values, error, failure, rest.get("routable", True))

    def _go_inside(
        self, frame: Frame, stored: str, item: PlanNode, level: Level, begun: StoredState, loaded: Loaded
    ) -> None:
        """Take up what is inside of the visit that a walk stands at, if there is anything."""
        number = frame.visits.get(item.id, 0) + 1
        inner = None
        for name in dict.fromkeys((stored, item.id, *item.former)):
            if (inner := self._inside.get((frame, name, number))) is not None:
                stored = name
                break
        if stored != item.id:
            frame.former = (item.id, number, stored)
        path = frame.path_of(stored, number)
        is_open = self._is_open(frame, item, stored, number)
        self._changes.node(path, stored, item, level, is_inside=inner is not None, is_open=is_open)
        if inner is None:
            return
        frame.inside = inner
        inner.node = item.id
        definition = item.definition
        if isinstance(definition, Subflow):
            inside = level.inside(stored, item, shares_state=definition.shares_state)
            self._subflow(inner, definition, inside, begun, loaded)
        elif isinstance(definition, Parallel):
            inside = level.inside(stored, item, shares_state=True)
            for child in inner.children:
                self._branch(inner, child, inside, begun, loaded)
        elif isinstance(definition, Each):
            self._items(inner, level.inside(stored, item, shares_state=False))

    def _subflow(
        self, inner: Frame, definition: Subflow, level: Level, begun: StoredState, loaded: Loaded
    ) -> None:
        written = self._written[inner]
        state = self._begun(inner, begun)
        around = loaded if definition.shares_state else None
        shape = loaded.shape if definition.shares_state else None
        found = self._load(inner, state, level.state_type(written.shape, shape), around)
        if written.shape or found.is_new:
            inner.shape = found.shape
        self._walk(inner, level, state, found)

    def _branch(self, inner: Frame, child: Frame, level: Level, begun: StoredState, loaded: Loaded) -> None:
        child.node = inner.node
        if not child.label:
            return  # it had not begun: others had, that are declared after it
        label = child.label
        child.label = level.today(label)
        if child.label not in level.plan.nodes:
            self._changes.gone(inner.path, label, level, "branch")
            return
        state = self._begun(child, begun)
        found = self._load(child, state, level.state_type("", loaded.shape), loaded)
        self._walk(child, level, state, found, label)

    def _items(self, inner: Frame, level: Level) -> None:
        """Take up the items of an each as they were evaluated, and the walks of those that were begun."""
        stored: list[tuple[str, str]] = json.loads(self._written[inner].items)
        items: list[Loaded] = []
        for index, (name, text) in enumerate(stored):
            begun = StoredState(self._codec, text, (), f"{inner.path}[{index}]")
            items.append(self._load(Frame(""), begun, level.state_type(name), None))
        inner.items = [(found.shape, found.values) for found in items]
        if any(found.is_new for found in items):
            texts = [
                [self._codec.name_of(shape.cls), self._codec.encode_fields(values, inner.path, of=shape.cls)]
                for shape, values in inner.items
            ]
            self.rewritten.append(self._written[inner]._replace(items=json.dumps(texts)))
        for child in inner.children:
            assert child.index is not None  # an item has one
            child.node = inner.node
            found, (name, text) = items[child.index], stored[child.index]
            written = self._written.get(child)
            state = self._begun(child, text)
            of = level.state_type(written.shape if written is not None and written.shape else name)
            loaded = found if found.is_missing else self._load(child, state, of, None)
            self._walk(child, level, state, loaded)

    def _is_open(self, frame: Frame, item: PlanNode, stored: str, number: int) -> bool:
        """Return whether something that a visit comes to was asked for or dispatched."""
        row = self._written.get(frame)
        names = (stored, item.id, *item.former)
        called = row is not None and any((row.frame, name, number) in self._called for name in names)
        above = frame.written_path
        return called or any(f"{above}/{name}#{number}".removeprefix("/") in self._asked for name in names)
