"""The page on keeping runs: its commands are really given, one after the other, in a folder with its app."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from .desk import FLOWCORE, kill, let_lease_end, start, wait_for

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "keep-runs.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))


def commands(section: str) -> list[str]:
    return [
        line for block in re.findall(r"```bash\n(.*?)```", SECTIONS[section], re.S) for line in block.splitlines()
    ]


def give(here: Path, line: str) -> str:
    """Gives a command of the page, and returns what it prints."""
    words, _, target = line.partition(" > ")
    program, *rest = shlex.split(words)
    command = [FLOWCORE, *rest] if program == "flowcore" else [sys.executable, "-m", program, *rest]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
    if target:
        (here / target).write_text(done.stdout)
    return done.stdout


@pytest.mark.behaviour("CLI-4")
def test_the_walk_through_goes_as_the_page_says(tmp_path: Path) -> None:
    app = re.findall(r"```python\n(.*?)```", PAGE, re.S)[0]
    (tmp_path / "orders.py").write_text(app)
    (first,) = commands("Run it with a store")
    process = start(tmp_path, *shlex.split(first)[1:])
    wait_for(process.stderr, "waits for a person")
    kill(process)
    let_lease_end(tmp_path / "runs.db")
    printed = "".join(give(tmp_path, line) for line in commands("See what is there"))
    assert "tea  orders  waiting" in printed
    answered, resumed = (give(tmp_path, line) for line in commands("Answer, and go on"))
    assert (
        answered + resumed.rstrip() == re.findall(r"```text\n(.*?)\n```", SECTIONS["Answer, and go on"], re.S)[0]
    )
    fork, _ = commands("Begin again from a visit")
    assert give(tmp_path, fork).startswith("run tea-again is forked from tea at consent\n")
    tested = [give(tmp_path, line) for line in commands("Make a test of it")]
    assert "1 passed" in tested[1]
    for line in commands("Pause, stop, interrupt")[:2]:
        assert "run tea-again is " in give(tmp_path, line.replace(" tea ", " tea-again "))
    handed = [give(tmp_path, line) for line in commands("Hand it on, tidy up")]
    assert handed[1:] == ["0 runs would be removed\n", "0 runs removed\n"]
    assert (tmp_path / "tea.perfetto.json").exists()
