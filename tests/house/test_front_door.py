"""Holds the front door: who imports it, what stands in it, what it loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import flowcore

ROOT = Path(__file__).parents[2]
CORE = sorted(ROOT.glob("src/flowcore/**/*.py"))
KITS = sorted(ROOT.glob("kits/*/src/**/*.py"))
PUBLIC = {"flowcore", "flowcore.context", "flowcore.errors", "flowcore.events"}
PUBLIC |= {"flowcore.messages", "flowcore.models", "flowcore.render", "flowcore.store", "flowcore.testing"}
PUBLIC |= {"flowcore.tools"}
HEAVY = {"graphviz", "graphviz_pure", "httpx", "jinja2", "networkx", "sqlite3", "starlette", "uvicorn"}


def imported(path: Path) -> Iterator[str]:
    """Yields the modules that a file imports by full name, those for types alone included."""
    for statement in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.level == 0 and statement.module:
            yield statement.module


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_of_the_core_imports_the_front_door(path: Path) -> None:
    above = "." * len(path.relative_to(ROOT / "src" / "flowcore").parts)
    relative = [
        f"from {above} import {alias.name}"
        for statement in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(statement, ast.ImportFrom) and statement.module is None
        if "." * statement.level == above
        for alias in statement.names
    ]
    assert [name for name in imported(path) if name == "flowcore"] + relative == []


@pytest.mark.parametrize("path", KITS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_kit_uses_public_modules_only(path: Path) -> None:
    core = {name for name in imported(path) if name.split(".")[0] == "flowcore"}
    assert sorted(core - PUBLIC) == []


def test_the_front_door_names_what_it_offers_in_order() -> None:
    offered: list[str] = getattr(flowcore, "__all__", [])
    assert offered == sorted(offered)
    assert [name for name in offered if not hasattr(flowcore, name)] == []


def test_the_front_door_loads_nothing_heavy() -> None:
    code = "import sys, flowcore; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    loaded = set(run.stdout.split())
    assert "flowcore" in loaded
    assert sorted(loaded & HEAVY) == []
    assert [name for name in sorted(loaded) if name.startswith("flowcore_")] == []
