"""The page of the problems is the one that the table of problems makes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType


def load() -> ModuleType:
    path = Path(__file__).with_name("problems_page.py")
    spec = importlib.util.spec_from_file_location("problems_page", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current() -> None:
    maker = load()
    assert maker.PAGE.read_text("utf-8") == maker.page(), "run: python tests/docs/problems_page.py"
