"""The change: one thing that differs between two flows, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..recording import FlowData

__all__ = ["FlowChange", "FlowDiff"]


@dataclass(frozen=True, slots=True)
class FlowChange:
    """One difference. `path` is its place: of the node today, of a removed one the last, '' for the flow itself.

    `breaks` says why a run that was stored under the old flow cannot go on under the new one; '' where it can.
    """

    kind: Literal["added", "removed", "changed"]
    what: Literal["flow", "node", "route"]
    path: str
    words: str
    breaks: str = ""


@dataclass(frozen=True, slots=True)
class FlowDiff:
    """How two flows differ: nothing in `changes` means that they declare the same."""

    old: FlowData
    new: FlowData
    changes: tuple[FlowChange, ...]

    @property
    def breaking(self) -> tuple[FlowChange, ...]:
        """The changes that keep stored runs from going on."""
        return tuple(change for change in self.changes if change.breaks)
