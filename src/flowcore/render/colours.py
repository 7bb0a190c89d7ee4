"""Colours: the one table, chosen for contrast and to be told apart by colour-blind readers.

Shape and words come first. Text is always in a colour of at least 4.5:1 on what it stands on.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["DARK", "LIGHT", "Palette"]


class Palette(NamedTuple):
    """The colours of one theme, by their role. `..._fill` is what a box of that role is filled with."""

    panel: str
    text: str
    soft_text: str
    line: str
    """Boxes and ways of which nothing is said, and the ways of another run."""
    frame: str
    """Frames, and what a run did not use: a line, never a text."""
    taken: str
    ok: str
    """What went well, and what was added."""
    ok_fill: str
    error: str
    """What failed, and what was removed."""
    error_fill: str
    limit: str
    """What was tried again, limits, and what was changed."""
    limit_fill: str


LIGHT = Palette(
    panel="#ffffff",
    text="#1a202c",
    soft_text="#556070",
    line="#5b6472",
    frame="#8a94a6",
    taken="#0b6ff0",
    ok="#0a5c3c",
    ok_fill="#cfeee2",
    error="#b34a12",
    error_fill="#fbd9c6",
    limit="#4a1470",
    limit_fill="#eadff5",
)
DARK = Palette(
    panel="#1a2029",
    text="#e8ecf2",
    soft_text="#a3aebd",
    line="#b4bdc9",
    frame="#667386",
    taken="#7895ea",
    ok="#7ff5cb",
    ok_fill="#0f3a2d",
    error="#e88050",
    error_fill="#4d220c",
    limit="#ffd740",
    limit_fill="#453308",
)
