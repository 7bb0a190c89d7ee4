"""Rows of runs, as tests of stores write them."""

from __future__ import annotations

from typing import Any

from ..store import CallRow, EndRow, FrameRow, NoteRow, RequestRow, RunRow, RunStore, VisitRow, Write
from ..trigger import Trigger

__all__ = [
    "BEGAN",
    "LEASE",
    "ME",
    "call_row",
    "end_row",
    "frame_row",
    "note_row",
    "request_row",
    "run_row",
    "visit_row",
    "write_of",
    "written",
]

ME = "host one"
BEGAN = 1_764_512_345.25
LEASE = BEGAN + 30


def run_row(run_id: str = "run", **changes: Any) -> RunRow:
    """Return a new run that `ME` walks."""
    parts: dict[str, Any] = {
        "run_id": run_id,
        "flow": "triage",
        "signature": "s1",
        "declared": '{"id": "triage"}',
        "state_type": "tickets:Ticket",
        "trigger": Trigger("chat", user="ann", agent="desk", conversation="c1"),
        "budget": '{"rounds": 25}',
        "began": BEGAN,
        "owner": ME,
        "lease": LEASE,
        "title": "a ticket",
    }
    return RunRow(**(parts | changes))


def visit_row(seq: int = 1, **changes: Any) -> VisitRow:
    """Return a visit whose events begin with `seq`."""
    row = VisitRow(
        seq=seq,
        last=seq + 4,
        frame=0,
        node="draft",
        number=1,
        kind="label",
        label="good",
        target="check",
        edge=1,
        round=1,
        walk_round=1,
        charged=1,
        patch='{"draft": "é 漢 \\u0000"}',
        rest="",
        started=BEGAN + 0.125,
        ended=BEGAN + 0.1234567,
        rounds=1,
        requests=2,
        tool_calls=3,
        tokens=12_345_678_901,
        cost=0.1,
    )
    return row._replace(**changes)


def frame_row(frame: int = 0, **changes: Any) -> FrameRow:
    """Return a walk that stands at its first visit."""
    row = FrameRow(
        frame=frame,
        parent=-1,
        owner=-1,
        node="draft",
        number=1,
        place=-1,
        label="",
        flow="triage",
        shape="s1",
        start='{"question": "?"}',
        items="",
        finish="",
        spent="",
        since=0,
    )
    return row._replace(**changes)


def note_row(seq: int = 1, **changes: Any) -> NoteRow:
    """Return something that happened."""
    return NoteRow(seq, 0, "draft", 1, "custom", BEGAN + 1, '{"name": "said"}')._replace(**changes)


def call_row(key: str = "k1", **changes: Any) -> CallRow:
    """Return a call that was dispatched."""
    return CallRow(key, 0, "draft", 1, "tool", "send", "dispatched", "", BEGAN + 2)._replace(**changes)


def request_row(id: str = "q1", **changes: Any) -> RequestRow:
    """Return a request that waits for its answer for five minutes."""
    row = RequestRow(id, f"key of {id}", "triage/ask#1", "ask", '{"form": {}}', BEGAN + 3, BEGAN + 303)
    return row._replace(**changes)


def end_row(status: Any = "completed", ended: float = BEGAN + 60, **changes: Any) -> EndRow:
    """Return how a run ended."""
    return EndRow(status, ended, **changes)


def write_of(run_id: str = "run", owner: str = ME, **rows: Any) -> Write:
    """Return a write of a run by its owner."""
    return Write(run_id, owner, **rows)


async def written(store: RunStore, write: Write) -> None:
    """Write, and wait until it is written."""
    waiting = store.commit(write)
    if waiting is not None:
        await waiting
