"""What asks a real model is left out unless it is asked for, whatever else is asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("options", "collected"), [(("-m", "not skip"), 0), (("-m", "realmodel"), 14), (("--behaviours",), 0)]
)
def test_a_real_model_is_asked_only_on_demand(options: tuple[str, ...], collected: int) -> None:
    command = [sys.executable, "-m", "pytest", "tests/models/test_realmodel.py", "--collect-only", "-q", *options]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=50)
    assert run.stdout.count("test_realmodel.py::") == collected
