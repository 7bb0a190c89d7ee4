"""Holds the page of promises and the tests that prove them together, both ways."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "promises.md"


@pytest.fixture(scope="module")
def promised() -> list[str]:
    return re.findall(r"^- \*\*([^*]+)\*\* \S", PAGE.read_text("utf-8"), re.MULTILINE)


@pytest.fixture(scope="module")
def proven() -> dict[str, list[str]]:
    command = [sys.executable, "-m", "pytest", "--behaviours", "-p", "no:cacheprovider"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=50)
    assert listing.returncode == 0, listing.stdout + listing.stderr
    rows = (line.split("\t") for line in listing.stdout.splitlines() if line)
    return {promise: tests.split(" ") for promise, tests in rows}


def test_each_promise_stands_on_the_page_once(promised: list[str]) -> None:
    assert promised
    assert sorted(promised) == sorted(set(promised))


def test_each_promise_on_the_page_is_proven_by_a_test(promised: list[str], proven: dict[str, list[str]]) -> None:
    assert [promise for promise in promised if promise not in proven] == []


def test_each_promise_named_by_a_test_stands_on_the_page(
    promised: list[str], proven: dict[str, list[str]]
) -> None:
    assert {promise: tests for promise, tests in proven.items() if promise not in promised} == {}
