"""Waits: five faults in the table of problems raise more than their own problem."""

from __future__ import annotations

import pytest

from flowcore.graph import PROBLEMS, ProblemKind

from .graph.test_problems import problems_of


@pytest.mark.parametrize("kind", PROBLEMS.values(), ids=PROBLEMS)
def test_the_fault_of_each_kind_is_found_alone(kind: ProblemKind) -> None:
    assert {problem.code for problem in problems_of(kind.fault)} == {kind.code}
