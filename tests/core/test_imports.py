"""What the core is: it loads nothing that it does not need, and ships no flow of its own."""

from __future__ import annotations

import ast
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import flowcore
from flowcore import Flow

SOURCE = Path(flowcore.__file__).parent
HEAVY = ("networkx", "httpx", "jinja2", "graphviz", "sqlite3", "starlette", "uvicorn", "pytest", "trio")

SMALL = """
import sys
from flowcore import Complete, Continue, Flow, Step, node
from pydantic import BaseModel

class State(BaseModel):
    text: str = "x"

@node
async def only(step: Step[State]) -> Complete[str]:
    return Complete(step.state.text)

flow = Flow("small", only)
flow.signature, flow.to_json()
before = {name.partition(".")[0] for name in sys.modules}
assert flow.run_sync(State()) == "x"
after = {name.partition(".")[0] for name in sys.modules}
print(*sorted(before), "|", *sorted(after))
"""


@pytest.fixture(scope="module")
def loaded() -> tuple[set[str], set[str]]:
    """Returns the packages that are loaded when a flow was made, and when it has run."""
    done = subprocess.run([sys.executable, "-c", SMALL], capture_output=True, text=True, check=True, timeout=30)
    before, after = done.stdout.split("|")
    return set(before.split()), set(after.split())


@pytest.mark.parametrize("heavy", HEAVY)
def test_making_and_running_a_flow_loads_no_heavy_library(loaded: tuple[set[str], set[str]], heavy: str) -> None:
    made, ran = loaded
    assert heavy not in made
    assert heavy not in ran


@pytest.mark.behaviour("S2-04", "S2-05", "S2-07")
def test_a_flow_of_one_node_runs_without_a_kit_and_without_the_application(
    loaded: tuple[set[str], set[str]],
) -> None:
    made, ran = loaded
    assert "flowcore" in made
    assert [name for name in ran if name.startswith(("flowcore_", "examples", "package_support"))] == []


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for item in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(item, ast.Import):
            names.update(alias.name for alias in item.names)
        elif isinstance(item, ast.ImportFrom) and item.module and not item.level:
            names.add(item.module)
    return names


@pytest.mark.behaviour("S2-05", "S2-07")
@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_core_imports_no_kit_and_nothing_of_an_application(path: Path) -> None:
    foreign = ("flowcore_", "examples", "package_support", "offline_service", "tests")
    assert [name for name in imported(path) if name.startswith(foreign)] == []


def modules() -> list[Any]:
    names = [item.name for item in pkgutil.walk_packages([str(SOURCE)], "flowcore.")]
    wanted = [name for name in names if "_backend" not in name and "pytest_plugin" not in name]
    return [__import__(name, fromlist=["_"]) for name in wanted]


@pytest.mark.behaviour("S2-03")
def test_the_core_ships_no_flow() -> None:
    flows = [
        f"{module.__name__}.{name}"
        for module in [flowcore, *modules()]
        for name, value in vars(module).items()
        if isinstance(value, Flow)
    ]
    assert flows == []


@pytest.mark.behaviour("S2-03", "S2-07")
def test_the_front_door_hands_on_nothing_that_returns_a_flow() -> None:
    makers = [
        name
        for name in flowcore.__all__
        if inspect.isfunction(getattr(flowcore, name))
        and "Flow" in str(inspect.signature(getattr(flowcore, name)).return_annotation)
    ]
    assert makers == []
