"""Records of runs: rows, the protocol of stores, and the stores that come with flowcore."""

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

__all__ = [
    "Attention",
    "CallRow",
    "EndRow",
    "FrameRow",
    "NoteRow",
    "RequestRow",
    "RunRow",
    "RunStatus",
    "RunStore",
    "Signal",
    "Stored",
    "VisitRow",
    "Write",
]
