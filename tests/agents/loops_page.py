"""Writes the table in docs/concepts/loops-beside-others.md from what the loops really do:
`python -m tests.agents.loops_page`."""

from __future__ import annotations

import re
from pathlib import Path

import anyio
from tests.agents.beside import SAME, course, differences
from tests.agents.scripts import SCRIPTS, Script
from tests.agents.sides import SIDES, Told

__all__ = ["PAGE", "put", "row", "table", "told_by_all"]

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "loops-beside-others.md"
_TABLE = re.compile(r"^\| conversation \|.*?\n(?!\|)", re.M | re.S)


async def told_by_all(script: Script) -> dict[str, Told]:
    """Put every loop through a conversation."""
    return {name: await side(script) for name, side in SIDES.items()}


def row(script: Script, told: dict[str, Told]) -> str:
    """Return a conversation as a row: how it went with ours, in what the others differ, and why."""
    ours, *others = told.values()
    cells = [script.name, course(ours)]
    cells += ["; ".join(differences(ours, each)) or SAME for each in others]
    return f"| {' | '.join([*cells, script.why])} |"


async def table() -> str:
    """Return the whole table."""
    head = ["conversation", *SIDES, "why"]
    rows = [row(script, await told_by_all(script)) for script in SCRIPTS]
    return "\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *rows, ""])


def put(page: str, made: str) -> str:
    """Return a page with the table in its place."""
    return _TABLE.sub(lambda found: made, page, count=1)


if __name__ == "__main__":
    PAGE.write_text(put(PAGE.read_text("utf-8"), anyio.run(table)), "utf-8")
