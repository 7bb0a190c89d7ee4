"""The beginnings of stored walks: a state is written only where it is not that of the walk around it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from ..frame import Frame
from ..state import Codec, Values
from ..visit import VisitRecord
from .rows import FrameRow

__all__ = ["fill_in"]


def fill_in(rows: Mapping[Frame, FrameRow], records: Iterable[VisitRecord], codec: Codec) -> None:
    """Give each walk in which there are visits the state that it began with. The visits must all be there."""
    states = _States(rows, codec)
    for record in sorted(records, key=lambda record: record.last_seq):
        states.of(record.frame).update(record.patch)


class _States:
    """The state of each walk, so far."""

    def __init__(self, rows: Mapping[Frame, FrameRow], codec: Codec) -> None:
        self._rows = rows
        self._codec = codec
        self._states: dict[Frame, Values] = {}
        self._items: dict[Frame, list[list[str]]] = {}

    def of(self, frame: Frame) -> Values:
        """Return the state of a walk."""
        known = self._states.get(frame)
        if known is None:
            if not frame.start:
                frame.start = self._begun(frame)
            known = self._states[frame] = dict(frame.start)
        return known

    def _begun(self, frame: Frame) -> Values:
        around = frame.owner or frame.parent
        if around is None:
            return {}
        row = self._rows.get(around)
        if frame.index is not None and row is not None and row.items:
            if around not in self._items:
                self._items[around] = json.loads(row.items)
            return self._codec.decode_fields(self._items[around][frame.index][1], frame.path)
        return dict(self.of(around))
