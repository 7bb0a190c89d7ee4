"""Waits: faults of runs that are reported and not mended yet."""

from __future__ import annotations

from .scope.test_scope_in_runs import budget_events


async def test_a_limit_is_warned_of_once() -> None:
    assert (await budget_events(8)).count(("budget.warned", "requests")) == 1
