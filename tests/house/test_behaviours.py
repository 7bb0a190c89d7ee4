"""Holds the list of kept promises that ``pytest --behaviours`` prints, and both event loops."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import sniffio

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest

@pytest.mark.behaviour("S2-10", "A01")
@pytest.mark.parametrize("number", [1, 2])
async def test_both(number): raise AssertionError("must not run")

@pytest.mark.behaviour("S2-9")
class TestNine:
    def test_it(self): ...

def test_nothing(): ...
"""


def listing(folder: Path, source: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(source, "utf-8")
    quiet = ["-p", "no:cacheprovider", "-p", "no:inline_snapshot"]
    command = [sys.executable, "-m", "pytest", "-p", "conftest", *quiet, "--rootdir=.", *options]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    env["PYTHONPATH"] = str(ROOT)
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=30)


@pytest.mark.parametrize("options", [[], ["-q"], ["-v"], ["-n", "2"]], ids=" ".join)
def test_each_promise_has_one_line_in_natural_order_and_nothing_runs(tmp_path: Path, options: list[str]) -> None:
    run = listing(tmp_path, TESTS, "--behaviours", *options)
    assert run.stdout.splitlines()[:3] == [
        "A01\ttest_it.py::test_both",
        "S2-9\ttest_it.py::TestNine::test_it",
        "S2-10\ttest_it.py::test_both",
    ]
    assert "".join(run.stdout.splitlines()[3:]) == ""
    assert run.returncode == 0


def test_no_test_is_no_promise(tmp_path: Path) -> None:
    run = listing(tmp_path, "", "--behaviours")
    assert (run.stdout.strip(), run.returncode) == ("", 0)


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    run = listing(tmp_path, "import nowhere\n", "--behaviours")
    assert "nowhere" in run.stdout
    assert run.returncode != 0


async def test_async_tests_run_on_the_loop_that_is_asked_for(anyio_backend_name: str) -> None:
    assert sniffio.current_async_library() == anyio_backend_name
