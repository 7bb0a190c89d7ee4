"""The trace: every visit of a run, in memory. One small tuple a visit; paths and objects are made when read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, overload

from .frame import Frame
from .scope import Budget
from .trace_text import Detail, trace_text
from .visit import Ending, Note, Visit, VisitRecord, visit_of

__all__ = ["Trace"]


class Trace(Sequence[Visit]):
    """The visits of one run, in the order in which they began.

    A node that was over its limit was not visited: it stands here with the kind `over_limit` and no attempts.
    """

    def __init__(
        self,
        flow: str,
        run_id: str = "",
        began: datetime | None = None,
        declared: Callable[[], Mapping[str, Any]] = dict,
        budget: Budget | None = None,
    ) -> None:
        self.flow = flow
        self.run_id = run_id
        self.began = began
        self.declared = declared
        self.budget = budget if budget is not None else Budget()
        self.root = Frame(flow)
        self.records: list[VisitRecord] = []
        self.notes: list[Note] = []
        self.ending: Ending | None = None
        self.forgotten = 0
        """How many visits are not kept in memory any more: those of a stored run stand in its store."""
        self._ordered: list[VisitRecord] = []

    def ordered(self) -> list[VisitRecord]:
        """Return what is kept of each visit, in the order in which they began."""
        if len(self._ordered) != len(self.records):
            self._ordered = sorted(self.records, key=lambda record: record.first_seq)
        return self._ordered

    def forget(self, visits: int) -> None:
        """Keep the first visits no longer, nor what was noted before the first that stays.

        The state that a walk began with becomes the one that it had then.
        """
        for record in self.records[:visits]:
            record.frame.start = {**record.frame.start, **record.patch}
        del self.records[:visits]
        self.forgotten += visits
        self._ordered = []
        since = min((record.first_seq for record in self.records), default=0)
        self.notes = [note for note in self.notes if note.seq >= since]

    @overload
    def __getitem__(self, index: int) -> Visit: ...
    @overload
    def __getitem__(self, index: slice) -> list[Visit]: ...
    def __getitem__(self, index: int | slice) -> Visit | list[Visit]:
        found = self.ordered()[index]
        return visit_of(found) if isinstance(found, VisitRecord) else [visit_of(record) for record in found]

    def __repr__(self) -> str:
        return f"<trace {self.flow}: {len(self.records)} visits>"

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Visit]:
        return map(visit_of, self.ordered())

    def to_text(self, *, detail: Detail = "full", mask: Mapping[str, str] | None = None) -> str:
        """Return the run as text that is equal for equal runs under every schedule: no times and no ids.

        Args:
            detail: `path` has the visits, their marks and rounds; `routes` also where each led to and why; `state`
                also what it changed; `full` also requests to models, events, artifacts, failures, and the usage.
            mask: A word for each place whose value is not to be shown: `{"state.token": "secret"}`.
        """
        return trace_text(self.flow, self.ordered(), self.root, self.ending, self.notes, detail, mask)

    @property
    def path(self) -> str:
        """The nodes in the order they were visited: `draft > check > draft > check > deliver`.

        A failed visit is marked with `!`, one that was not made since its limit was used up with `-`. The visits
        of a sub-flow stand in brackets, and so do branches and items, with `|` between them.
        """
        return _path(self.ordered(), self.root)


def _path(records: Sequence[VisitRecord], root: Frame) -> str:
    inside: dict[int, list[VisitRecord]] = {}
    for record in records:
        inside.setdefault(id(record.frame), []).append(record)

    def words(frame: Frame) -> str:
        return " > ".join(word(record) for record in inside.get(id(frame), ()))

    def word(record: VisitRecord) -> str:
        mark = "-" if record.kind == "over_limit" else "!" if record.failure is not None else ""
        frames = () if record.inner is None else (record.inner, *record.inner.children)
        inner = " | ".join(filter(None, (words(frame) for frame in frames if not frame.dropped)))
        return f"{record.node}{mark}({inner})" if inner else f"{record.node}{mark}"

    return words(root)
