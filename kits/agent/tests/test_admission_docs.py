"""The page of the faults says of each what the code says."""

from __future__ import annotations

from pathlib import Path

from flowcore_agent.admission.faults import FAULT_CODES, fault

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "agent-faults.md"


def test_the_page_has_each_fault_with_its_remedy_and_who_can_mend_it() -> None:
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert [(row[0], row[2], row[3]) for row in rows] == [
        (f"`{code}`", made.remedy, "client" if made.is_clients else "application")
        for code in FAULT_CODES
        for made in [fault(code, "", "")]
    ]
