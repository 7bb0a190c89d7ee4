"""Packing: a style or a script without what only its writers need: indentation, empty lines, lines of comment."""

from __future__ import annotations

import re

__all__ = ["packed_script", "packed_style"]

_COMMENT = re.compile(r"^\s*(//.*|/\*.*\*/)?\s*$")
_AROUND = re.compile(r"\s*([{},;>])\s*")


def packed_script(text: str) -> str:
    """Return a script whose lines are as before, but for their indentation. No text may run over several lines."""
    return "\n".join(line.strip() for line in text.splitlines() if not _COMMENT.match(line))


def packed_style(text: str) -> str:
    """Return a style without space where it has no meaning; no text in it may have any beside such a sign."""
    return _AROUND.sub(r"\1", packed_script(text)).replace(": ", ":").replace("\n", " ")
