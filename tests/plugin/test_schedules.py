"""The text that a snapshot holds is equal under every schedule, on both event loops and under every hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("schedules.py")
SCHEDULES = 50


@pytest.mark.behaviour("A73", "TEST-1")
def test_the_text_is_equal_over_fifty_schedules_under_five_hash_seeds() -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, str(SCRIPT), str(SCHEDULES)],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in range(1, 6)
    ]
    texts = [text for process in processes for text in process.communicate(timeout=50)[0].split("\0")[:-1]]
    assert len(texts) == 5 * SCHEDULES
    assert len(set(texts)) == 1
    told = texts[0]
    assert told.index("    a\n") < told.index("    b  [2 attempts]\n") < told.index("    c\n")
    assert told.index("    [0]\n") < told.index("    [5]\n")
    assert '["a", <uuid 1>]' not in told
    assert '+ ids = [("a", <uuid 1>), ("b", <uuid 2>), ("c", <uuid 3>)' in told
    assert told.count("<uuid 1>") > 3
