"""Holds the two type checkers to one opinion on the code of users under ``tests/typing``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parents[1] / "typing").glob("*.py"))
MYPY = re.compile(r"# type: ignore\[[\w-]")
PYRIGHT = re.compile(r"# pyright: ignore\[\w")


def disagreements(source: str) -> Iterator[str]:
    for number, line in enumerate(source.splitlines(), start=1):
        if bool(MYPY.search(line)) != bool(PYRIGHT.search(line)):
            yield f"line {number} is refused by one checker only: {line.strip()}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_one_checker_refuses_the_other_refuses_too(path: Path) -> None:
    assert list(disagreements(path.read_text("utf-8"))) == []


def test_a_line_that_only_one_checker_refuses_is_named() -> None:
    both = "a()  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]\n"
    one = "b()  # pyright: ignore[reportArgumentType]\n"
    assert list(disagreements(both + one)) == [f"line 2 is refused by one checker only: {one.strip()}"]
