"""Holds files and functions small enough to be read at one sitting."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    path for folder in (ROOT / "src", ROOT / "examples", *ROOT.glob("kits/*/src")) for path in folder.rglob("*.py")
)
FILE_LINES = 420
FUNCTION_LINES = 45


def too_large(name: str, source: str) -> Iterator[str]:
    lines = source.count("\n")
    if lines > FILE_LINES:
        yield f"{name} has {lines} lines, {FILE_LINES} are allowed: give a part of it a file of its own"
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = function_lines(function)
            if lines > FUNCTION_LINES:
                where = f"{name}:{function.lineno}: {function.name}"
                yield f"{where} has {lines} lines, {FUNCTION_LINES} are allowed: name a part of it"


def function_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Counts from ``def`` to the end, the docstring left out."""
    assert function.end_lineno is not None
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function) is not None:
        docstring = function.body[0]
        assert docstring.end_lineno is not None
        lines -= docstring.end_lineno - docstring.lineno + 1
    return lines


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_and_function_is_small(path: Path) -> None:
    assert list(too_large(str(path.relative_to(ROOT)), path.read_text("utf-8"))) == []


def test_a_long_file_and_a_long_function_are_named() -> None:
    body = "    pass\n" * FUNCTION_LINES
    source = f"def short():\n    '''Says\n    much.\n    '''\n{body[9:]}def long():\n{body}" + "x = 1\n" * 400
    assert list(too_large("here.py", source)) == [
        f"here.py has {source.count(chr(10))} lines, 420 are allowed: give a part of it a file of its own",
        "here.py:49: long has 46 lines, 45 are allowed: name a part of it",
    ]
