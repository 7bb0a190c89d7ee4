"""Processes that are killed while they walk: a few. `scripts/kill9` kills many."""

from __future__ import annotations

import pytest

from .kill_flows import FLOWS
from .killing import kill_all

POINTS = 20


@pytest.mark.behaviour("A79", "A81", "A83", "A101")
@pytest.mark.parametrize("seed", [0])
def test_nothing_is_lost_by_a_kill(seed: int) -> None:
    counts = kill_all(POINTS, seed, lives=3)
    assert counts.faults == []
    assert counts.kills >= POINTS
    assert set(counts.by_flow) == set(FLOWS)
    assert counts.reported > counts.runs
