"""The diagrams of the docs are those that flowcore draws of the flows that the docs show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.behaviour("S2-02")
def test_each_diagram_is_the_checked_output_of_its_page() -> None:
    """What a page prints is run and compared by another test: a diagram must stand among it."""
    found = 0
    for page in DOCS.rglob("*.md"):
        text = page.read_text("utf-8")
        printed = re.findall(r"^```text\n(flowchart .*?)^```$", text, re.M | re.S)
        for diagram in re.findall(r"^```mermaid\n(.*?)^```$", text, re.M | re.S):
            assert diagram in printed, f"{page.name}: no code of this page prints this diagram:\n{diagram}"
            found += 1
    assert found >= 1
