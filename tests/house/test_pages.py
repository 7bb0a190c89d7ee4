"""Runs what the pages and docstrings show: Python blocks, their output, commands, links."""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import importlib.util
import inspect
import io
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("kits/*/README.md")])
SOURCES = sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("kits/*/src/**/*.py")])
FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^(?P=indent)```$", re.M | re.S)
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)")
SHELLS = {"bash", "console"}
FOREIGN = {"cd", "git", "pip", "pytest", "source", "uv"}


@dataclass(frozen=True)
class Block:
    """A fenced block: its line on the page, and whether only space parts it from the one before."""

    language: str
    text: str
    line: int
    follows: bool


def blocks(page: str) -> Iterator[Block]:
    end = None
    for fence in FENCE.finditer(page):
        yield Block(
            fence["language"],
            textwrap.dedent(fence["text"]),
            page.count("\n", 0, fence.start("text")),
            end is not None and not page[end : fence.start()].strip(),
        )
        end = fence.end()


def run_page(page: str, namespace: ModuleType, backend: str = "asyncio") -> None:
    """Runs the Python blocks in order in one namespace; a text block right after one is what it prints."""
    shown = list(blocks(page))
    for block, after in zip_longest(shown, shown[1:]):
        if block.language != "python":
            continue
        printed, error = run_block(block, namespace, backend)
        if after is not None and after.language == "text" and after.follows:
            if error is not None:
                printed += f"{type(error).__name__}: {error}\n"
            assert printed.rstrip() == after.text.rstrip(), f"{namespace.__file__}:{block.line}"
        elif error is not None:
            raise error


def run_block(block: Block, namespace: ModuleType, backend: str = "asyncio") -> tuple[str, Exception | None]:
    """Returns what the block printed and the error that ended it. ``await`` may stand at its top level.

    What a block keeps for the time when it is the main program runs too.
    """
    code = compile(
        "\n" * block.line + block.text.replace('if __name__ == "__main__":', "if True:"),
        str(namespace.__file__),
        "exec",
        flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
        dont_inherit=True,
    )
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            waiting = eval(code, namespace.__dict__)
            if inspect.iscoroutine(waiting):
                anyio.run(finish, waiting, backend=backend)
        except Exception as error:
            return printed.getvalue(), error
    return printed.getvalue(), None


async def finish(waiting: Coroutine[Any, Any, None]) -> None:
    await waiting


@pytest.fixture
def namespace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """A module of the page's own, since types look up their names in the module that they stand in."""
    module = ModuleType("page")
    module.__file__ = "page"
    monkeypatch.setitem(sys.modules, "page", module)
    monkeypatch.chdir(tmp_path)
    return module


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_python_blocks_of_a_page_run(path: Path, backend: str, namespace: ModuleType) -> None:
    namespace.__file__ = str(path)
    run_page(path.read_text("utf-8"), namespace, backend)


def examples(path: Path) -> Iterator[tuple[str, str, int]]:
    """Yields each docstring of a file that shows code, with its owner's name and its line."""
    for owner in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(owner, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(owner)
            if docstring and (">>>" in docstring or "```" in docstring):
                yield getattr(owner, "name", "module"), docstring, owner.body[0].lineno


@pytest.mark.parametrize(
    ("path", "docstring", "line"),
    [
        pytest.param(path, docstring, line, id=f"{path.relative_to(ROOT)}:{name}")
        for path in SOURCES
        for name, docstring, line in examples(path)
    ],
)
def test_the_examples_of_a_docstring_run(path: Path, docstring: str, line: int, namespace: ModuleType) -> None:
    folder = next(parent for parent in path.parents if parent.name == "src")
    name = ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")
    namespace.__dict__.update(importlib.import_module(name).__dict__, __name__="page")
    run_page(docstring, namespace)
    session = doctest.DocTestParser().get_doctest(docstring, namespace.__dict__, name, str(path), line - 1)
    report: list[str] = []
    doctest.DocTestRunner().run(session, out=report.append, clear_globs=False)
    assert "".join(report) == ""


def commands(page: str) -> Iterator[list[str]]:
    """Yields the words of each command on a page; in a console block a command follows ``$``."""
    for block in blocks(page):
        if block.language in SHELLS:
            for line in block.text.replace("\\\n", " ").splitlines():
                if block.language == "bash" or line.startswith("$ "):
                    words = shlex.split(line.removeprefix("$ "), comments=True)
                    if words:
                        yield words[2:] if words[:2] == ["uv", "run"] else words


def check_command(words: list[str]) -> None:
    program, *arguments = words
    if program == "flowcore":
        # A check only reads, so it is really made; of the others, it is enough here that they exist.
        tried = arguments if arguments[0] == "check" else [arguments[0], "--help"]
        command = [sys.executable, "-c", "from flowcore.cli import main; main()", *tried]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30)
        assert run.returncode == 0, f"{shlex.join(words)}: {run.stdout}{run.stderr}"
    elif program == "python":
        assert arguments[0] == "-m", words
        module = ROOT.joinpath(*arguments[1].split("."))
        runs = (module / "__main__.py").is_file() or module.with_suffix(".py").is_file()
        assert arguments[1] == "venv" or runs, words
    elif "/" in program:
        assert os.access(ROOT / program, os.X_OK), f"{program} is not there or cannot be run"
    else:
        assert program in FOREIGN, f"{program}: is this a command?"


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(words, id=f"{path.relative_to(ROOT)}:{shlex.join(words)}")
        for path in PAGES
        for words in commands(path.read_text("utf-8"))
    ],
)
def test_a_command_on_a_page_exists(words: list[str]) -> None:
    check_command(words)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_links_of_a_page_lead_somewhere(path: Path) -> None:
    text = FENCE.sub("", path.read_text("utf-8"))
    assert [link for link in LINK.findall(text) if not (path.parent / link).exists()] == []


# The runner itself.


def test_blocks_share_a_namespace_and_may_await(namespace: ModuleType) -> None:
    page = """
        ```python
        import anyio
        x: "Later" = 1
        ```
        ```python
        await anyio.sleep(0)
        print(x)
        ```

        ```text
        1
        ```
        """
    run_page(textwrap.dedent(page), namespace)


def test_other_output_than_shown_fails(namespace: ModuleType) -> None:
    with pytest.raises(AssertionError, match="page:1"):
        run_page("```python\nprint(1)\n```\n```text\n2\n```\n", namespace)


def test_an_error_fails_unless_it_is_shown(namespace: ModuleType) -> None:
    page = "```python\nprint(1)\nint('x')\n```\n"
    with pytest.raises(ValueError, match="invalid literal"):
        run_page(page, namespace)
    run_page(page + "\n```text\n1\nValueError: invalid literal for int() with base 10: 'x'\n```\n", namespace)


def test_commands_are_read_from_both_kinds_of_block() -> None:
    page = "```console\n$ uv run flowcore check x # why\nfine\n```\n```bash\nscripts/demo \\\n  'a b'\n```\n"
    assert list(commands(page)) == [["flowcore", "check", "x"], ["scripts/demo", "a b"]]


def test_a_command_that_is_not_there_is_named() -> None:
    with pytest.raises(AssertionError, match="scripts/nothing is not there"):
        check_command(["scripts/nothing"])
    with pytest.raises(AssertionError, match="floqcore: is this a command"):
        check_command(["floqcore"])
