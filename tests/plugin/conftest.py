"""What the tests of the plugin share: projects of their own, in which real pytest runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest


class Ran(NamedTuple):
    """How a run of pytest ended."""

    code: int
    text: str

    @property
    def first_lines(self) -> list[str]:
        """The first line of each failed assertion."""
        return re.findall(r"^E +(?:AssertionError: )?assert (.*)$", self.text, re.M)


class Project:
    """A folder with tests, and snapshots beside them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, "utf-8")

    def read(self, name: str) -> str:
        return (self.folder / name).read_text("utf-8")

    def pytest(self, *options: str, plugins: Sequence[str] = ("syrupy",), **environment: str) -> Ran:
        """Runs pytest as a user at a terminal does: outside of CI, which shows assertions whole.

        No other plugins than ours and these are loaded, which halves the time.
        """
        outer = ("PYTEST_", "CI", "BUILD_NUMBER", "COLUMNS")
        alone = {name: value for name, value in os.environ.items() if not name.startswith(outer)}
        loaded = [word for plugin in ("_flowcore_pytest", *plugins) for word in ("-p", plugin)]
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error", *loaded, *options]
        env = {**alone, "COLUMNS": "200", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment}
        ran = subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, timeout=55)
        return Ran(ran.returncode, ran.stdout + ran.stderr)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture(scope="module")
def new_project(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Project]:
    return lambda: Project(tmp_path_factory.mktemp("project"))
