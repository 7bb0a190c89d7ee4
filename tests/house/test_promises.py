"""Holds the page of promises and the tests that prove them together, both ways."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.timeout(180)  # collecting every test takes its time

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "promises.md"
RUNS = "not skip and not skipif and not xfail"
"""What a test must be to prove anything: one that runs, everywhere, and is expected to pass."""
QUIET = ("-p", "no:cacheprovider", "-p", "no:inline_snapshot")
GIVES_UP = re.compile(r"(.*\.)?(skip|skipTest|xfail|importorskip)")


@pytest.fixture(scope="module")
def promised() -> list[str]:
    return re.findall(r"^- \*\*([^*]+)\*\* \S", PAGE.read_text("utf-8"), re.MULTILINE)


@pytest.fixture(scope="module")
def named() -> dict[str, list[str]]:
    """Returns the tests that name each promise."""
    return listed(ROOT)


@pytest.fixture(scope="module")
def proven(named: dict[str, list[str]]) -> dict[str, list[str]]:
    """Returns the tests that prove each promise."""
    return proofs(ROOT, named)


def listed(folder: Path, *options: str) -> dict[str, list[str]]:
    """Returns the tests of each promise that no mark leaves undone."""
    command = [sys.executable, "-m", "pytest", "--behaviours", "-m", RUNS, *QUIET, *options]
    env = os.environ if folder == ROOT else {**os.environ, "PYTHONPATH": str(ROOT)}
    listing = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=150)
    assert listing.returncode == 0, listing.stdout + listing.stderr
    rows = (line.split("\t") for line in listing.stdout.splitlines() if "\t" in line)
    return {promise: tests.split(" ") for promise, tests in rows}


def proofs(folder: Path, rows: dict[str, list[str]]) -> dict[str, list[str]]:
    """Returns the tests of each promise that do not leave themselves undone either."""
    files = {test.partition("::")[0] for tests in rows.values() for test in tests}
    idle = {f"{file}::{name}" for file in files for name in giving_up(folder / file)}
    kept = {promise: [test for test in tests if bare(test) not in idle] for promise, tests in rows.items()}
    return {promise: tests for promise, tests in kept.items() if tests}


def bare(test: str) -> str:
    """Returns the id of a test without the classes that it stands in."""
    return f"{test.partition('::')[0]}::{test.rpartition('::')[2]}"


def giving_up(path: Path) -> set[str]:
    """Returns the names of the functions in a file that may skip, or expect to fail, while they run."""
    functions = [
        item
        for item in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return {
        function.name
        for function in functions
        for statement in function.body
        for call in ast.walk(statement)
        if isinstance(call, ast.Call) and GIVES_UP.fullmatch(ast.unparse(call.func))
    }


def test_each_promise_stands_on_the_page_once(promised: list[str]) -> None:
    assert promised
    assert sorted(promised) == sorted(set(promised))


def test_each_promise_on_the_page_is_proven_by_a_test_that_runs(
    promised: list[str], proven: dict[str, list[str]]
) -> None:
    assert [promise for promise in promised if promise not in proven] == []


def test_each_promise_named_by_a_test_stands_on_the_page(promised: list[str], named: dict[str, list[str]]) -> None:
    assert {promise: tests for promise, tests in named.items() if promise not in promised} == {}


NO_PROOF = """
import pytest

pytestmark = pytest.mark.behaviour("S2-1")

@pytest.mark.skip(reason="later")
def test_skipped(): ...

@pytest.mark.skipif("False", reason="elsewhere")
def test_skipped_elsewhere(): ...

@pytest.mark.xfail
def test_expected_to_fail(): ...

@pytest.mark.parametrize("number", [pytest.param(1, marks=pytest.mark.skip(reason="later"))])
def test_its_only_case_is_skipped(number): ...

@pytest.mark.skip(reason="later")
class TestSkipped:
    def test_inside(self): ...

def test_skips_itself():
    if True:
        pytest.skip("later")

async def test_expects_itself_to_fail():
    pytest.xfail("later")

def test_needs_what_may_not_be_there():
    pytest.importorskip("nowhere")
"""
PROOF = """
import pytest

@pytest.mark.behaviour("S2-1", "S2-2")
@pytest.mark.parametrize("number", [pytest.param(1, marks=pytest.mark.xfail), 2])
def test_one_case_counts(number): ...

class TestBoth:
    @pytest.mark.behaviour("S2-2")
    def test_inside(self): ...
"""


def test_a_test_that_is_skipped_or_expected_to_fail_is_no_proof(tmp_path: Path) -> None:
    options = ["-p", "conftest", "--rootdir=."]
    (tmp_path / "test_no.py").write_text(NO_PROOF, "utf-8")
    assert proofs(tmp_path, listed(tmp_path, *options)) == {}
    (tmp_path / "test_yes.py").write_text(PROOF, "utf-8")
    assert proofs(tmp_path, listed(tmp_path, *options)) == {
        "S2-1": ["test_yes.py::test_one_case_counts"],
        "S2-2": ["test_yes.py::test_one_case_counts", "test_yes.py::TestBoth::test_inside"],
    }
