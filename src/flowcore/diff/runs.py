"""The diff of two runs: where they parted and why, what they changed differently, what they spent."""

from __future__ import annotations

from collections.abc import Iterator

from ..recording import Recording
from .comparison import Comparison
from .flows import diff_flows
from .run_change import Amount, RunDiff, ValueChange
from .walks import walk_of

__all__ = ["diff_runs"]

_SPENT = ("rounds", "requests", "tool_calls", "tokens", "cost")


def diff_runs(old: Recording, new: Recording) -> RunDiff:
    """Return how two runs differ, however their branches and items were scheduled.

    Visits are the same if they stand in the same walk and are the same visit of the same node. What a run
    dropped, such as the branches that a join did not wait for, is not looked at.
    """
    comparison = Comparison(old, new, list(_beginnings(old, new)))
    comparison.compare(walk_of(old), walk_of(new))
    amounts = [Amount(name, getattr(old.spent, name), getattr(new.spent, name)) for name in _SPENT]
    return RunDiff(
        old,
        new,
        diff_flows(old.flow, new.flow) if old.signature != new.signature else None,
        tuple(comparison.turns),
        tuple(comparison.only_old),
        tuple(comparison.only_new),
        (*comparison.values, *_endings(old, new)),
        tuple(amount for amount in amounts if amount.was != amount.now),
        Amount("seconds", old.spent.seconds, new.spent.seconds),
    )


def _beginnings(old: Recording, new: Recording) -> Iterator[ValueChange]:
    for place in dict.fromkeys([*new.state, *old.state]):
        was, now = old.state.get(place, ""), new.state.get(place, "")
        if was != now:
            yield ValueChange("start", "", place, was, now)
    for place in dict.fromkeys([*new.budget, *old.budget]):
        limits = [f"{run.budget[place]:g}" if place in run.budget else "" for run in (old, new)]
        if limits[0] != limits[1]:
            yield ValueChange("budget", "", place, *limits)


def _endings(old: Recording, new: Recording) -> Iterator[ValueChange]:
    for place, was, now in (
        ("status", old.status, new.status),
        ("ran out of", old.exhausted or "", new.exhausted or ""),
        ("reason", old.reason, new.reason),
        ("failure", str(old.failure or ""), str(new.failure or "")),
        ("value", old.value, new.value),
        ("stragglers", ", ".join(old.stragglers), ", ".join(new.stragglers)),
    ):
        if was != now:
            yield ValueChange("result", "", place, was, now)
