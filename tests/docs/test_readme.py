"""The picture of the README is what flowcore draws of the README's own flow."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from flowcore.render import render

ROOT = Path(__file__).parents[2]


def test_the_picture_is_the_flow_that_the_readme_declares() -> None:
    pictures = re.findall(r"^```mermaid\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.M | re.S)
    flow = runpy.run_path(str(ROOT / "examples" / "triage.py"))["triage"]
    drawn = render(flow, "mermaid")
    assert pictures == [drawn], f"put this into the README:\n{drawn}"
