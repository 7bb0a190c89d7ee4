"""What is shown, before it takes a format."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import flowcore_presentation
from flowcore_presentation import to_html, to_markdown, to_text

LOADS_ALL = """
import pkgutil, sys
import flowcore_presentation
for item in pkgutil.walk_packages(flowcore_presentation.__path__, "flowcore_presentation."):
    __import__(item.name)
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


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
    sources = [file.read_text("utf-8") for file in folder.rglob("*.py")]
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    imported = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    imported |= {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    ours = {module.partition(".")[0] for module in imported if module.startswith("flowcore")}
    assert ours == {"flowcore_presentation"}
    for way in ("importlib", "__import__", "flowcore_answering", "flowcore_knowledge"):
        assert [source for source in sources if way in source] == []


@pytest.mark.behaviour("S2-69")
def test_the_kit_whole_loads_no_other_kit() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADS_ALL], capture_output=True, text=True, check=True, timeout=30
    )
    loaded = set(done.stdout.split())
    assert {name for name in loaded if name.startswith("flowcore_")} == {"flowcore_presentation"}
