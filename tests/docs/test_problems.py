"""The page of the problems is the one that the table of problems makes, and its examples are true."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from flowcore import Flow
from flowcore.graph import PROBLEMS


def load() -> ModuleType:
    path = Path(__file__).with_name("problems_page.py")
    spec = importlib.util.spec_from_file_location("problems_page", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


maker = load()


def test_the_page_is_current() -> None:
    assert maker.PAGE.read_text("utf-8") == maker.page(), "run: python tests/docs/problems_page.py"


@pytest.mark.parametrize("code", PROBLEMS)
def test_the_fault_has_the_problem_and_the_mend_has_none(code: str) -> None:
    kind = PROBLEMS[code]
    assert code in [problem.code for problem in maker.raised_by(kind).problems]
    assert isinstance(eval(kind.mend, maker.example_names()), Flow)
