"""What is shown, before it takes a format."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import flowcore_presentation
from flowcore_presentation import to_html, to_markdown, to_text


@pytest.mark.parametrize("show", [to_text, to_markdown, to_html])
def test_an_unknown_status_is_refused_in_every_format(make: Any, show: Any) -> None:
    with pytest.raises(ValueError, match="no status 'done'; expected answered, fallback or blocked"):
        show(make(("a", "done", "text", [], "")))


@pytest.mark.parametrize("show", [to_text, to_markdown, to_html])
def test_a_place_has_one_number_wherever_it_is_cited(make: Any, show: Any) -> None:
    result = make(
        ("a", "answered", "one", [("x", "1"), ("y", "2")], ""),
        ("b", "answered", "two", [("y", "2"), ("z", "3")], ""),
    )
    shown = show(result).replace("\\", "").replace("<sup>", "").replace("</sup>", "")
    assert "one [1] [2]" in shown
    assert "two [2] [3]" in shown
    assert [shown.count(name) for name in ("x, 1", "y, 2", "z, 3")] == [1, 1, 1]


@pytest.mark.behaviour("S2-69")
def test_the_kit_imports_no_other_kit() -> None:
    folder = Path(flowcore_presentation.__file__).parent
    trees = [ast.parse(file.read_text()) for file in folder.glob("*.py")]
    modules = {node.module for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {
        name.name
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for name in node.names
    }
    kits = {module for module in modules if module and module.startswith("flowcore")}
    assert {module.partition(".")[0] for module in kits} == {"flowcore_presentation"}
