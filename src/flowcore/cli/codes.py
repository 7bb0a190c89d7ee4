"""Exit codes: what a script may rely on."""

from __future__ import annotations

__all__ = ["BAD_INPUT", "DIFFERS", "FAILED", "OK"]

OK = 0
FAILED = 1
"""The flow is wrong, or a run failed."""
DIFFERS = 1
"""What was compared is not the same."""
BAD_INPUT = 2
"""Something that was given cannot be used."""
