"""The proofreader: its checks run side by side, and its findings stand in the order of the declaration."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from flowcore import Budget

EXAMPLE = Path(__file__).parents[2] / "examples" / "side_by_side.py"
LONG = "far and wide " * 10 + "it ends."
TEXT = f"This is is wrong (and never closed.\n\n---\n\n{LONG}\n\nAll is fine."


@pytest.fixture
def example(tmp_path: Path) -> dict[str, Any]:
    found = runpy.run_path(str(EXAMPLE))
    words = tmp_path / "words"
    words.write_text("This wrong never wide ends\n")
    found["spelling"].definition.fn.__globals__["DICTIONARY"] = words
    return found


async def run(example: dict[str, Any]) -> Any:
    return await example["proofreader"].run(example["Text"](text=TEXT), budget=Budget(rounds=0), check=False)


async def test_findings_stand_in_the_order_of_the_branches_whoever_was_first(example: dict[str, Any]) -> None:
    result = await run(example)
    assert result.value == [
        "twice: is",
        "not as many ( as )",
        "unknown: closed",
        "unknown: fine",
        "paragraph 3: 32 words a sentence",
    ]


async def test_a_paragraph_without_a_sentence_spoils_nothing_and_no_item_costs_a_round(
    example: dict[str, Any],
) -> None:
    result = await run(example)
    failed = [(visit.path, visit.failure.type) for visit in result.trace if visit.failure]
    assert failed == [("lengths#1[1]/measure#1", "ZeroDivisionError")]
    assert result.usage.rounds == 0


async def test_without_a_dictionary_the_other_checks_stand(example: dict[str, Any]) -> None:
    missing = Path("nowhere")
    example["spelling"].definition.fn.__globals__["DICTIONARY"] = missing
    result = await run(example)
    assert "spelling not checked: there is no nowhere" in result.value
    assert "twice: is" in result.value


def test_it_reads_a_file_from_the_command_line(tmp_path: Path) -> None:
    page = tmp_path / "page.txt"
    page.write_text(TEXT)
    run = subprocess.run([sys.executable, str(EXAMPLE), str(page)], capture_output=True, text=True, timeout=50)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.splitlines()[:1] == ["twice: is"]


def test_it_is_short_enough_to_read_at_once() -> None:
    assert len(EXAMPLE.read_text("utf-8").splitlines()) <= 80
