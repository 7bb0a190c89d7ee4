"""What the core is: it loads nothing that it does not need, and ships no flow of its own."""

from __future__ import annotations

import ast
import inspect
import pkgutil
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import flowcore
from flowcore import Flow

SOURCE = Path(flowcore.__file__).parent
ROOT = Path(__file__).parents[2]
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
after = set(sys.modules)
files = {getattr(module, "__file__", None) or "" for module in sys.modules.values()}
print(*sorted(before), sep="\\n", end="\\n|\\n")
print(*sorted(after), sep="\\n", end="\\n|\\n")
print(*sorted(files), sep="\\n")
"""


@dataclass(frozen=True)
class Loaded:
    """What is loaded when a flow of one node was made, when it has run, and the files of that."""

    made: set[str]
    ran: set[str]
    files: list[Path]


@pytest.fixture(scope="module")
def loaded() -> Loaded:
    done = subprocess.run([sys.executable, "-c", SMALL], capture_output=True, text=True, check=True, timeout=30)
    made, ran, files = (part.split("\n") for part in done.stdout.split("\n|\n"))
    return Loaded(set(made), set(ran), [Path(file) for file in files if file])


@pytest.mark.parametrize("heavy", HEAVY)
def test_making_and_running_a_flow_loads_no_heavy_library(loaded: Loaded, heavy: str) -> None:
    assert heavy not in loaded.made
    assert heavy not in loaded.ran


def test_a_flow_that_stores_nothing_loads_nothing_of_stores(loaded: Loaded) -> None:
    inside = {name.removeprefix("flowcore.") for name in loaded.ran if name.startswith("flowcore.")}
    late = {
        "ledger",
        "residence",
        "tenure",
        "opening",
        "taking_up",
        "changed",
        "stored_state",
        "forking",
        "rewinding",
    }
    assert {name for name in inside if name.startswith("store.")} == {"store.store"}
    assert {name for name in inside if name.startswith("state.codec")} == set()
    assert {f"runtime.{name}" for name in late} & inside == set()


@pytest.mark.behaviour("S2-04", "S2-05", "S2-07")
def test_a_flow_of_one_node_runs_without_a_kit_without_tools_and_without_the_application(loaded: Loaded) -> None:
    assert {"flowcore", "flowcore.runtime.walk"} <= loaded.ran
    kits = [path.name for path in ROOT.glob("kits/*/src/*")]
    examples = [path.stem for path in ROOT.glob("examples/*") if path.suffix in ("", ".py")]
    assert len(kits) >= 3
    assert examples
    strangers = {*kits, *examples, "examples", "kits", "tests", "mcp", "openai"}
    assert [name for name in loaded.ran if strangers & set(name.split("."))] == []
    assert [name for name in loaded.ran if name.startswith(("flowcore_", "flowcore.kits"))] == []
    assert [name for name in loaded.ran if re.search(r"(^|[._])(tools?|toolkit|agents?)($|[._])", name)] == []
    ours = [path for path in loaded.files if path.is_relative_to(ROOT) and "site-packages" not in path.parts]
    assert [path for path in ours if not path.is_relative_to(SOURCE)] == []


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
