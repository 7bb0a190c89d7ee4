"""The tests that the pages show pass, in plain pytest, as a reader would run them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```$(?:\n+^```text\n(?P<output>.*?)^```$)?", re.M | re.S)
ERROR = re.compile(r"^(FlowError|BudgetExhausted): ", re.M)


def module_of(page: str) -> str:
    """Returns the code of a page as one module, without the blocks that show an error."""
    shown = BLOCK.finditer((ROOT / page).read_text("utf-8"))
    return "\n".join(block["code"] for block in shown if not ERROR.search(block["output"] or ""))


def run_pytest(folder: Path, *options: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", *options]
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    run = subprocess.run(command, cwd=folder, env=alone, capture_output=True, text=True, timeout=50)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_the_tests_of_the_tutorial_pass(tmp_path: Path) -> None:
    (tmp_path / "test_page.py").write_text(module_of("docs/tutorial/first-flow.md"), "utf-8")
    assert "2 passed" in run_pytest(tmp_path)


def test_the_tests_of_the_guide_pass_and_its_snapshots_hold(tmp_path: Path) -> None:
    (tmp_path / "test_page.py").write_text(module_of("docs/how-to/test-a-flow.md"), "utf-8")
    written = run_pytest(tmp_path, "--snapshot-update")
    assert "4 snapshots generated" in written
    assert "3 traces: 3 new" in written
    printed = run_pytest(tmp_path)
    assert "20 passed" in printed
    assert "4 snapshots passed" in printed
