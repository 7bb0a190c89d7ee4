"""What is wrong with a flow of some rows, for tests that want to know."""

from __future__ import annotations

from typing import Any

import pytest

from flowcore import Flow, FlowError, Problem


def found(*rows: Any, **options: Any) -> tuple[Problem, ...]:
    """Returns every problem of a flow called f."""
    with pytest.raises(FlowError) as caught:
        Flow("f", *rows, **options)
    return caught.value.problems


def kinds(*rows: Any, **options: Any) -> list[tuple[str, str]]:
    """Returns the code and the place of every problem."""
    return [(problem.code, problem.where) for problem in found(*rows, **options)]


def only(*rows: Any, **options: Any) -> Problem:
    """Returns the one problem that there is."""
    [problem] = found(*rows, **options)
    return problem
