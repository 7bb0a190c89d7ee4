"""The comparison of a text with the snapshot that was kept of it."""

from __future__ import annotations

from typing import NamedTuple

from ..trace import Trace
from .difference import Difference, diff_lines, difference

__all__ = ["Checked"]

_NEW = "no snapshot yet: run with --snapshot-update"


class Checked(NamedTuple):
    """What was kept, what is there now, and whether the two agree.

    `written` says that what is there now was kept in its place. `trace` is the run, if it was one.
    """

    was: str | None
    now: str
    agrees: bool
    written: bool
    trace: Trace | None = None

    @property
    def difference(self) -> Difference | None:
        """What changed; None if nothing did, or if nothing had been kept."""
        if self.was is None or self.was == self.now:
            return None
        if self.trace is not None:
            return difference(self.was, self.now)
        changed = [line for line in diff_lines(self.was, self.now) if not line.startswith(("---", "+++"))]
        added, removed = (sum(line.startswith(sign) for line in changed) for sign in "+-")
        lines = "line" if added == 1 else "lines"
        return Difference("path", f"diagram changed: {added} {lines} added, {removed} removed")

    def lines(self) -> list[str]:
        """Return what a reader is told: the kind of change first, then the difference line by line."""
        if self.was is None:
            return [_NEW, "", *self.now.splitlines()]
        found = self.difference
        return [] if found is None else [found.words, "", *diff_lines(self.was, self.now)]
