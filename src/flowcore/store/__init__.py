"""Records of runs: rows, the protocol of stores, and the stores that come with flowcore.

All but the protocol is loaded when it is first asked for, since most programs store nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .store import RunStore

if TYPE_CHECKING:
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
    from .sqlite import SQLiteRunStore
    from .text import dump_record, load_record

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

_LATER = {
    "MemoryRunStore": ".memory",
    "SQLiteRunStore": ".sqlite",
    "dump_record": ".text",
    "load_record": ".text",
}
"""Where what is no row is defined."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_LATER.get(name, ".rows"), __name__), name)
    return found
