"""The logs of a stored run: of a patch only what it appended is written, and the trace shows them whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from ..frame import Frame
from ..state import Codec, Log
from ..visit import VisitRecord
from .rows import FrameRow

__all__ = ["whole_logs"]

Appended = Mapping[int, Collection[str]]
"""Of visits, by their first number: the fields of which only what was appended is there."""


def whole_logs(
    records: Iterable[VisitRecord],
    appended: Appended,
    rows: Mapping[Frame, FrameRow],
    codec: Codec,
    is_known: Callable[[Frame], bool],
) -> list[VisitRecord]:
    """Return visits whose logs show what stood in them before, too.

    The state that a walk began with has to be the one before the first of its visits: where that `is_known`.
    """
    found, logs = list(records), _Logs(rows, codec, is_known)
    for index in sorted(range(len(found)), key=lambda index: found[index].last_seq):
        found[index] = logs.grown(found[index], appended.get(found[index].first_seq, ()))
    return found


class _Logs:
    """How far each log of each walk has grown."""

    def __init__(self, rows: Mapping[Frame, FrameRow], codec: Codec, is_known: Callable[[Frame], bool]) -> None:
        self._rows = rows
        self._codec = codec
        self._is_known = is_known
        self._logs: dict[tuple[Frame, str], Log[Any]] = {}
        self._items: dict[Frame, list[Any]] = {}

    def grown(self, record: VisitRecord, appended: Collection[str]) -> VisitRecord:
        """Return a visit with its logs whole, and note how far they have grown."""
        written = list(record.written)
        for index, (name, value) in enumerate(zip(record.names, written, strict=True)):
            if not isinstance(value, Log):
                continue
            before = self._log(record.frame, name) if name in appended else None
            if before is not None:
                grown = before.draft()
                grown.extend(value)
                written[index] = value = grown.settled()
            if before is not None or name not in appended:
                self._logs[record.frame, name] = value
        return record._replace(written=tuple(written))

    def _log(self, frame: Frame, name: str) -> Log[Any] | None:
        """Return a log as it is now in the state of a walk. Branches begin with that of the state around."""
        known = self._logs.get((frame, name))
        if known is not None or not self._is_known(frame):
            return known
        start = frame.start or self._item(frame)
        if name not in start and frame.parent is not None:
            return self._log(frame.parent, name)
        value = start.get(name)
        return value if isinstance(value, Log) else None

    def _item(self, frame: Frame) -> Mapping[str, Any]:
        """Return the state that an item began with; nothing for another walk."""
        owner = frame.owner
        if frame.index is None or owner is None or not (text := self._rows[owner].items):
            return {}
        items = self._items.setdefault(owner, [])
        items += json.loads(text) if not items else []
        return self._codec.decode_fields(items[frame.index][1], frame.path)
