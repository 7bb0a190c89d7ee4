"""Exit codes: what a script may rely on."""

from __future__ import annotations

__all__ = ["BAD_INPUT", "FAILED", "OK"]

OK = 0
FAILED = 1
"""The flow is wrong, or a run failed."""
BAD_INPUT = 2
"""Something that was given cannot be used."""
