"""Records of runs: rows, the protocol of stores, and the stores that come with flowcore.

The database is loaded when `SQLiteRunStore` is first asked for, and not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .memory import MemoryRunStore
from .rows import (
    Attention,
    CallRow,
    EndRow,
    FrameRow,
    NoteRow,
    RequestRow,
    RunRow,
    RunStatus,
    Signal,
    Stored,
    VisitRow,
    Write,
)
from .store import RunStore
from .text import dump_record, load_record

if TYPE_CHECKING:
    from .sqlite import SQLiteRunStore

__all__ = [
    "Attention",
    "CallRow",
    "EndRow",
    "FrameRow",
    "MemoryRunStore",
    "NoteRow",
    "RequestRow",
    "RunRow",
    "RunStatus",
    "RunStore",
    "SQLiteRunStore",
    "Signal",
    "Stored",
    "VisitRow",
    "Write",
    "dump_record",
    "load_record",
]


def __getattr__(name: str) -> Any:
    if name == "SQLiteRunStore":
        from .sqlite import SQLiteRunStore  # noqa: PLC0415 - the library of the database is loaded when it is needed

        return SQLiteRunStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
