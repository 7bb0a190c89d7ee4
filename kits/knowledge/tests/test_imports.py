"""The kit stands alone: it knows neither of the other two, by whatever way one module comes to another."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import flowcore_knowledge

FOLDER = Path(flowcore_knowledge.__file__).parent
OTHERS = ("flowcore_answering", "flowcore_presentation")
LOADS_ALL = """
import pkgutil, sys
import flowcore_knowledge
for item in pkgutil.walk_packages(flowcore_knowledge.__path__, "flowcore_knowledge."):
    __import__(item.name)
knowledge = flowcore_knowledge
path = sys.argv[1]
shelf = (knowledge.Source(id="tea"), [knowledge.Passage(source="tea", where="p. 3", text="It steeps.")])
knowledge.SQLiteKnowledge.build(path, [shelf], fingerprint="one")
with_index = knowledge.SQLiteKnowledge(path)
assert [hit.passage.where for hit in with_index.find("steeps")] == ["p. 3"]
with_index.close()
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def said(tree: ast.Module) -> set[str]:
    """Returns the modules that a source imports, and every name and text by which it could come to one."""
    found: set[str] = set()
    for item in ast.walk(tree):
        if isinstance(item, ast.Import):
            found.update(alias.name for alias in item.names)
        elif isinstance(item, ast.ImportFrom):
            found.add(item.module or "")
        elif isinstance(item, ast.Name):
            found.add(item.id)
        elif isinstance(item, ast.Constant) and isinstance(item.value, str):
            found.add(item.value)
    return found


@pytest.mark.behaviour("S2-69")
@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: str(path.relative_to(FOLDER)))
def test_no_source_of_the_kit_names_another_kit_or_imports_by_name(path: Path) -> None:
    words = said(ast.parse(path.read_text("utf-8")))
    assert [word for word in words if any(other in word for other in OTHERS)] == []
    assert words.isdisjoint({"importlib", "importlib.metadata", "pkgutil", "__import__", "exec", "eval"})


@pytest.mark.behaviour("S2-69")
def test_the_kit_whole_and_at_work_loads_no_other_kit(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LOADS_ALL, str(tmp_path / "index.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    loaded = set(done.stdout.split())
    assert "flowcore_knowledge" in loaded
    assert {name for name in loaded if name.startswith("flowcore_")} == {"flowcore_knowledge"}
