"""The fence: text from outside stands between marks that it cannot contain, and cannot pass for the prompt."""

from __future__ import annotations

import re

__all__ = ["fenced", "one_line"]

_SHORTEST = 4
_LONGEST = 500


def fenced(text: str) -> str:
    """Return a text between two lines of tildes, more of them than stand anywhere in it in a row."""
    longest = max(map(len, re.findall("~+", text)), default=0)
    mark = "~" * max(_SHORTEST, longest + 1)
    return f"{mark}\n{text}\n{mark}"


def one_line(text: str, longest: int = _LONGEST) -> str:
    """Return a text in one line, cut where it is too long."""
    words = " ".join(text.split())
    return words if len(words) <= longest else words[: longest - 1] + "…"
