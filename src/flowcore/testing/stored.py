"""A stored run in a test: its trace, made of the text of its record."""

from __future__ import annotations

from typing import Any

from ..flow import Flow
from ..frame import Frame
from ..runtime.opening import codec_of
from ..state import Values
from ..store.reading import read_trace
from ..store.text import load_record
from ..trace import Trace

__all__ = ["stored_run"]


def stored_run(record: str, flow: Flow[Any, Any, Any]) -> Trace:
    """Return the trace of a stored run, to be given to `replay`. `flowcore runs test` prints such tests.

    Args:
        record: The text of the record, as `flowcore.store.dump_record` makes it.
        flow: The flow as it is today; its classes are those of the values.

    Raises:
        StoreError: The text is no record, or a class is gone, or has other fields than then.
    """
    stored, codec = load_record(record), codec_of(flow.plan)
    trace = read_trace(stored, codec)
    held: dict[int, Values] = {}
    for index, row in sorted(enumerate(stored.visits), key=lambda entry: entry[1].last):
        visit = trace.records[index]
        values = _values(visit.frame, held)
        if row.patch:
            codec.apply(values, row.patch, visit.frame.path_of(row.node, row.number))
            trace.records[index] = visit._replace(written=tuple(values[name] for name in visit.names))
    return trace


def _values(frame: Frame, held: dict[int, Values]) -> Values:
    """Return the state of a walk, so far. One that has none of its own began with that of the walk around it."""
    if id(frame) not in held:
        around = frame.owner or frame.parent
        held[id(frame)] = dict(frame.start if frame.start or around is None else _values(around, held))
    return held[id(frame)]
