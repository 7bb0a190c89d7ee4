"""Colours: chosen for contrast and to be told apart by colour-blind readers. Shape and words come first."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["DARK", "LIGHT", "Palette"]


class Palette(NamedTuple):
    """The colours of one theme."""

    panel: str
    text: str
    soft_text: str
    line: str
    frame: str
    error: str
    limit: str


LIGHT = Palette("#ffffff", "#1a202c", "#556070", "#5b6472", "#8a94a6", "#b34a12", "#4a1470")
DARK = Palette("#1a2029", "#e8ecf2", "#a3aebd", "#b4bdc9", "#667386", "#e88050", "#ffd740")
