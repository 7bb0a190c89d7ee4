"""The pages of the Agent Kit name every limit, every field of a spec and every reason of an end."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import get_args

from flowcore_agent import AgentLimits, AgentSpec, EndReason, OwnTools

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "build-an-agent.md").read_text("utf-8")
README = (ROOT / "kits" / "agent" / "README.md").read_text("utf-8")


def fields(kind: type) -> set[str]:
    return {field.name for field in dataclasses.fields(kind)}


def first_cells(page: str, heading: str) -> set[str]:
    """Returns the names in the first cells of the table with this heading."""
    table = page.partition(f"\n{heading}\n")[2].partition("\n\n")[0]
    return {name for row in table.splitlines()[1:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}


def test_the_table_of_limits_has_each_limit() -> None:
    assert first_cells(PAGE, "| limit | is | says |") | {"on_limit"} == fields(AgentLimits)


def test_the_table_of_reasons_has_each_reason() -> None:
    assert first_cells(README, "| the reason | says |") == set(get_args(EndReason))


def test_each_own_tool_and_each_field_of_a_spec_is_told_somewhere() -> None:
    told = set(re.findall(r"\w+", PAGE + README))
    assert fields(OwnTools) - told == set()
    assert fields(AgentSpec) - told == set()
