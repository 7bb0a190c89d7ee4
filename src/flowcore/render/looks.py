"""Looks: how each kind of mark is shown. A sign or a line says it first, a colour second."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .drawing import DrawnNode, Mark, MarkKind
from .words import shown

__all__ = ["LOOKS", "Look", "badge_words", "edge_lines", "mark_words", "note_lines", "signed", "small_lines"]


@dataclass(frozen=True, slots=True)
class Look:
    """How a kind of mark looks. `role` and `text` name colours of a palette.

    A `line` of '' leaves the line as the kind of the edge has it. A `badge` sits on the corner of a box; other
    signs stand before the label. A note that is not `noted` is told to who points at it or listens, and not drawn.
    """

    word: str
    role: str
    width: float
    line: Literal["", "dashed", "dotted"] = ""
    sign: str = ""
    badge: bool = False
    text: str = "soft_text"
    noted: bool = True

    @property
    def fill(self) -> str:
        """What a box is filled with, as a role."""
        return f"{self.role}_fill" if self.role in ("ok", "error", "limit") else "panel"


LOOKS: Mapping[MarkKind, Look] = {
    "added": Look("added", "ok", 3, sign="+", text="ok"),
    "removed": Look("removed", "error", 2.6, "dashed", "-", text="error"),
    "changed": Look("changed", "limit", 2.6, sign="~", text="limit"),
    "ok": Look("ok", "ok", 2, sign="✓", badge=True),
    "failed": Look("failed", "error", 2.2, "dashed", "✕", True),
    "retried": Look("retried", "limit", 2.2, sign="↻", badge=True),
    "unused": Look("not used", "frame", 1, noted=False),
    "taken": Look("taken", "taken", 3, noted=False),
    "other": Look("taken by the other run", "line", 2.4, "dotted", noted=False),
}
_WIDEST = 36
_SHORT = 3


def signed(label: str, mark: Mark | None, badges: bool = True) -> str:
    """Return a label with the sign of its mark before it, but for signs that are drawn as badges."""
    look = LOOKS[mark.kind] if mark is not None else None
    if look is None or not look.sign or (badges and look.badge):
        return label
    return f"{look.sign} {label}".rstrip()


def badge_words(mark: Mark | None) -> str:
    """Return what stands in the badge of a box, a short note too; '' where there is none."""
    if mark is None or not LOOKS[mark.kind].badge:
        return ""
    return f"{LOOKS[mark.kind].sign} {mark.note}" if _fits(mark.note) else LOOKS[mark.kind].sign


def note_lines(mark: Mark | None, badges: bool = False) -> list[str]:
    """Return the note of a mark as short lines.

    With `badges`, a short note stands in the badge. Without, what the sign of the badge means comes first.
    """
    if mark is None:
        return []
    look = LOOKS[mark.kind]
    if not look.noted or (badges and look.badge and _fits(mark.note)):
        return []
    word = look.word if look.badge and not badges and look.word not in mark.note else ""
    note = ", ".join(filter(None, (word, mark.note)))
    return textwrap.wrap(shown(note), _WIDEST, break_on_hyphens=False)


def small_lines(node: DrawnNode, mark: Mark | None, badges: bool = False) -> list[str]:
    """Return the lines below the label of a box: how it counts, what it is, what its mark notes."""
    waits = ["waits for a person"] * node.waits
    return [*["starts round"] * node.starts_round, *waits, *node.details, *note_lines(mark, badges)]


def edge_lines(label: str, mark: Mark | None) -> list[str]:
    """Return what stands beside a way: its label, the sign of its mark and the note."""
    notes = note_lines(mark)
    if not label and notes:
        return [signed(notes[0], mark), *notes[1:]]
    return [line for line in (signed(label, mark), *notes) if line]


def mark_words(mark: Mark) -> str:
    """Return a mark in words alone."""
    word = LOOKS[mark.kind].word
    return f"{word} ({shown(mark.note)})" if mark.note else word


def _fits(note: str) -> bool:
    return 0 < len(note) <= _SHORT and note.isprintable()
