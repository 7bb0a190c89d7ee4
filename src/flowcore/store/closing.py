"""Closing: the ending of a run that nobody walks any more, written by whoever asks for it."""

from __future__ import annotations

import json
from dataclasses import asdict

import anyio

from ..clock import Clock
from ..errors import RunConflict
from ..events import RunCancelledEvent, RunPaused
from ..scope import Usage
from .rows import EndRow, NoteRow, RunRow, Signal, Stored, Write
from .store import RunStore

__all__ = ["cancel_unwalked", "ended_already", "is_walked", "pause_unwalked"]

_TRIES = 5


def is_walked(run: RunRow, now: float) -> bool:
    """Return whether somebody walks a run: it has an owner, whose lease is not over."""
    return run.end is None and bool(run.owner) and run.lease > now


def ended_already(run: RunRow) -> RunConflict:
    """Return the error for a run that was to go on and has ended."""
    reason = f" ({run.end.reason})" if run.end is not None and run.end.reason else ""
    return RunConflict(
        f"run {run.run_id!r} has ended: {run.status}{reason}. It stays so; "
        f"begin another one at any of its visits: flow.fork({run.run_id!r}, at=...), or `flowcore runs fork`"
    )


async def cancel_unwalked(store: RunStore, run_id: str, reason: Signal, clock: Clock) -> bool:
    """End a run that nobody walks, and those that it delegated, as cancelled. Return whether this did it.

    Raises `RunConflict` if somebody walks it now.
    """
    for last in (*[False] * _TRIES, True):
        stored = await store.load(run_id)
        if stored.run.end is not None:
            return False
        now = clock.utcnow().timestamp()
        end = EndRow("cancelled", now, reason=reason, usage=json.dumps(asdict(_usage(stored))))
        note = NoteRow(_seq(stored) + 1, -1, "", 0, RunCancelledEvent.kind, now - stored.run.began, "")
        try:
            return await store.settle(run_id, end, Write(run_id, "", notes=(note,)), owner=None)
        except RunConflict:
            if last or is_walked(await store.run(run_id), now):
                raise
    raise AssertionError("the last try returns or raises")


async def pause_unwalked(store: RunStore, run_id: str, owner: str, by: str, clock: Clock) -> None:
    """Mark a run that nobody walks as paused. Raises `RunConflict` if somebody walks it now."""
    now = clock.utcnow().timestamp()
    await store.take(run_id, owner, now, now + 5)
    try:
        stored = await store.load(run_id)
        if stored.run.status != "paused":
            told = json.dumps({"by": [json.dumps(by)]})
            note = NoteRow(_seq(stored) + 1, -1, "", 0, RunPaused.kind, now - stored.run.began, told)
            waiting = store.commit(Write(run_id, owner, notes=(note,), status="paused"))
            if waiting is not None:
                await waiting
    finally:
        with anyio.CancelScope(shield=True):
            await store.release(run_id, owner)


def _seq(stored: Stored) -> int:
    visits = max((row.last for row in stored.visits), default=0)
    return max(visits, max((row.seq for row in stored.notes), default=0))


def _usage(stored: Stored) -> Usage:
    """Return what a run had spent when it was last heard of."""
    spent = json.loads(stored.run.spent) if stored.run.spent else {}
    last = max(stored.visits, key=lambda row: row.last, default=None)
    counted = {name: spent.get(name, 0) for name in ("rounds", "requests", "tool_calls", "tokens", "cost")}
    seconds = spent.get("seconds", 0.0)
    if last is not None:
        counted = {name: max(value, getattr(last, name)) for name, value in counted.items()}
        seconds += max(0.0, last.ended - spent.get("at", 0.0))
    return Usage(**counted, seconds=seconds)
