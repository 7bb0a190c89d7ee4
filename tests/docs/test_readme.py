"""The README shows the first example as it is, and the picture that flowcore draws of it."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from flowcore.render import render

ROOT = Path(__file__).parents[2]


@pytest.mark.behaviour("S2-02")
def test_the_picture_is_the_flow_that_the_readme_declares() -> None:
    pictures = re.findall(r"^```mermaid\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.M | re.S)
    flow = runpy.run_path(str(ROOT / "examples" / "triage.py"))["triage"]
    drawn = render(flow, "mermaid")
    assert pictures == [drawn], f"put this into the README:\n{drawn}"


def test_the_readme_shows_the_first_example_as_it_stands_in_its_file() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    docstring, _, code = (ROOT / "examples" / "triage.py").read_text("utf-8").partition("\n\n")
    assert docstring.startswith('"""')
    assert f"```python\n{code}```" in readme


def test_a_copy_of_the_readme_is_drawn_without_being_run(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    (block,) = re.findall(r"^```python\n(from typing.*?)^```$", readme, re.M | re.S)
    (tmp_path / "first.py").write_text(block, "utf-8")
    command = [str(Path(sys.executable).with_name("flowcore")), "render", "first.py:triage"]
    drawn = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=50)
    assert (drawn.returncode, drawn.stderr) == (0, "")
    assert drawn.stdout.startswith("flowchart TB\n")
