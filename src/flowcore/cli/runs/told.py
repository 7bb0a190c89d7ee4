"""How a stored run is told: its status, its times, and what it has spent."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ...scope import Usage
from ...store import RunRow, Stored

__all__ = ["is_walked", "moment", "span", "spent_of", "status_of"]

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def is_walked(run: RunRow) -> bool:
    """Return whether a process has the run now."""
    return run.end is None and bool(run.owner) and run.lease > time.time()


def status_of(run: RunRow) -> str:
    """Return the status of a run; `interrupted` for one that runs, and that nobody has any more."""
    return "interrupted" if run.status == "running" and not is_walked(run) else run.status


def moment(seconds: float) -> str:
    """Return a time of day, as the clock of this machine shows it."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def span(seconds: float) -> str:
    """Return a duration: `0.24 s`, `3 min 20 s`, `2 d 4 h`."""
    if seconds < 60:
        return f"{max(0.0, seconds):.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    left, words = int(seconds), list[str]()
    for size, unit in _UNITS:
        count, left = divmod(left, size)
        if count or words:
            words.append(f"{count} {unit}")
    return " ".join(words[:2])


def spent_of(stored: Stored) -> Usage:
    """Return what a run has used: at its end, or as far as was written."""
    run = stored.run
    if run.end is not None:
        return Usage(**json.loads(run.end.usage)) if run.end.usage else Usage()
    last = max(stored.visits, key=lambda row: row.last, default=None)
    told: Mapping[str, Any] = json.loads(run.spent) if run.spent else {}
    seconds = float(told.get("seconds", 0.0))
    if last is None:
        return Usage(seconds=seconds)
    usage = Usage.of((last.rounds, last.requests, last.tool_calls, last.tokens, last.cost))
    return Usage(usage.rounds, usage.requests, usage.tool_calls, usage.tokens, usage.cost, seconds)
