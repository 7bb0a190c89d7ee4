"""The first flow does what the README says of it, and the README shows the very same code."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from flowcore import Budget, Flow, result_of

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "triage.py"


@pytest.fixture
def example() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLE))


def code_of(source: str) -> list[str]:
    """Returns the lines of code, without docstring, indentation of a main block, and empty lines."""
    body = re.sub(r'\A""".*"""\n|^if __name__ .*\n', "", source, flags=re.MULTILINE)
    return [line.strip() for line in body.splitlines() if line.strip()]


def readme_block(language: str, number: int = 0) -> str:
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)[number]


def test_the_readme_shows_the_example_in_about_twenty_lines() -> None:
    shown = code_of(readme_block("python"))
    assert shown == code_of(EXAMPLE.read_text())
    assert len(shown) <= 22


def test_the_example_prints_what_the_readme_shows() -> None:
    run = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, timeout=50)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.rstrip() == readme_block("text").rstrip()


async def test_a_poor_draft_is_written_again(example: dict[str, Any]) -> None:
    triage: Flow[Any, object, str] = example["triage"]
    result = await triage.run(example["Ticket"](question="?"), check=False)
    assert result.status == "completed"
    assert result.value == example["DRAFTS"][1]
    assert result.trace.path == "write > check > write > check > deliver"
    assert result.usage.rounds == 2


async def test_the_budget_ends_a_loop_that_does_not_get_better(example: dict[str, Any]) -> None:
    triage: Flow[Any, object, str] = example["triage"]
    example["DRAFTS"][:] = ["Restart it."] * 9
    with pytest.raises(Exception, match="the rounds ran out: 3 of 3 used") as raised:
        await triage.run(example["Ticket"](question="?"), budget=Budget(rounds=3))
    assert result_of(raised.value).exhausted == "rounds"
    assert result_of(raised.value).trace.path == "write > check > write > check > write > check"
