"""A stored run in a test: its trace, made of the text of its record."""

from __future__ import annotations

from typing import Any

from ..flow import Flow
from ..runtime.opening import codec_of
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
    return read_trace(load_record(record), codec_of(flow.plan))
