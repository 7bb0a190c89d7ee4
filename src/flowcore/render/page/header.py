"""The header of a run: how it ended in words, and what it spent of its budget."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...recording import Recording, Spent

__all__ = ["DIMENSIONS", "Chip", "Outcome", "chips", "head_data", "outcome", "seconds_words", "spent_of"]

DIMENSIONS = ("rounds", "requests", "tool_calls", "tokens", "cost", "seconds")
"""What a budget may limit, in the order in which a page tells it."""
_NEAR = 0.9
_SIGNS = {"ok": "✓", "warn": "↻", "error": "✕", "going": "●"}


class Outcome(NamedTuple):
    """How a run ended. `tone` is `ok`, `warn`, `error` or `going`."""

    tone: str
    words: str

    @property
    def sign(self) -> str:
        """The tone without a colour."""
        return _SIGNS[self.tone]


class Chip(NamedTuple):
    """One figure of a run. `tone` is `` (nothing to say), `warn` (near a limit) or `error` (at or over it)."""

    tone: str
    words: str


def outcome(run: Recording) -> Outcome:
    """Return how a run ended, in words."""
    if run.status == "running":
        return Outcome("going", "running")
    if run.status == "cancelled":
        return Outcome("warn", f"cancelled: {run.reason}" if run.reason else "cancelled")
    if run.status == "failed":
        if run.exhausted is not None:
            return Outcome("error", f"ran out of {run.exhausted.replace('_', ' ')}")
        return Outcome("error", f"failed: {run.failure}" if run.failure is not None else "failed")
    if finish := next((visit.finish for visit in run.visits if visit.finish), ""):
        return Outcome("warn", f"completed by its finish path, since {finish.replace('_', ' ')} ran out")
    if any(visit.kind == "error" and not visit.dropped for visit in run.visits):
        return Outcome("warn", "completed, took an error route")
    return Outcome("ok", "completed")


def chips(run: Recording) -> Iterator[Chip]:
    """Yield the figures of a run: its time, and what it spent of what is limited or worth telling."""
    spent, limits = spent_of(run), _limits(run)
    if "seconds" not in limits:
        yield Chip("", seconds_words(spent.seconds))
    for name in DIMENSIONS:
        used, limit = getattr(spent, name), limits.get(name)
        if limit is not None:
            yield Chip(_tone(name, used, limit, run), _of_limit(name, used, limit))
        elif used and name != "seconds":
            yield Chip("", _amount(name, used))


def spent_of(run: Recording) -> Spent:
    """Return what a run has spent; while it goes on, as far as its visits tell."""
    if run.status != "running":
        return run.spent
    seconds = max((visit.ended or visit.started for visit in run.visits), default=0.0)
    ended = [visit for visit in run.visits if visit.ended is not None]
    last = max(ended, key=lambda visit: visit.ended or 0.0).spent if ended else Spent()
    return last.model_copy(update={"seconds": seconds})


def head_data(run: Recording) -> dict[str, Any]:
    """Return what a page's header says, as data."""
    spent, ended = spent_of(run), outcome(run)
    return {
        "status": run.status,
        "outcome": [*ended, ended.sign],
        "chips": [list(chip) for chip in chips(run)],
        "limits": sorted(_limited(run, spent), key=lambda limit: -limit[-1]),
        "spent": [getattr(spent, name) for name in DIMENSIONS],
        "value": run.value,
    }


def seconds_words(seconds: float) -> str:
    """Return a length of time in the unit that suits it."""
    if seconds < 0.000_95:
        return f"{seconds * 1_000_000:.0f} µs"
    if seconds < 0.009_95:
        return f"{seconds * 1_000:.1f} ms"
    if seconds < 0.9995:
        return f"{seconds * 1_000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def _limited(run: Recording, spent: Spent) -> Iterator[tuple[str, int, float, float]]:
    """Yield what is limited: its name, its place among what was spent, the limit, the share that was used up."""
    for name, limit in _limits(run).items():
        if limit > 0:
            yield name.replace("_", " ").capitalize(), DIMENSIONS.index(name), limit, getattr(spent, name) / limit


def _limits(run: Recording) -> dict[str, float]:
    """Return the limits that this version knows: a file may tell of more."""
    return {name: limit for name, limit in run.budget.items() if name in DIMENSIONS and math.isfinite(limit)}


def _tone(name: str, used: float, limit: float, run: Recording) -> str:
    if used > limit or run.exhausted == name:
        return "error"
    # Who needs all of a few rounds has spent nothing out of the way.
    return "warn" if used and used >= limit * _NEAR and not (run.status == "completed" and limit < 10) else ""


def _of_limit(name: str, used: float, limit: float) -> str:
    if name == "rounds":
        return f"{used:,} {'round' if used == 1 else 'rounds'} of {limit:,.0f}"
    if name == "seconds":
        return f"{seconds_words(used)} of {limit:g} s"
    return f"{name.replace('_', ' ')} {_number(name, used)} of {_number(name, limit)}"


def _amount(name: str, used: float) -> str:
    words = name.replace("_", " ")
    if name == "cost":
        return f"cost {_number(name, used)}"
    return f"{_number(name, used)} {words.removesuffix('s') if used == 1 else words}"


def _number(name: str, value: float) -> str:
    return f"{value:,.4g}" if name == "cost" else f"{value:,.0f}"
