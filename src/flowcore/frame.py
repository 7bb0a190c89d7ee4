"""The frame: one walk through one flow, written down."""

from __future__ import annotations

from typing import Any

__all__ = ["Frame"]


class Frame:
    """Where a walk stands: its place under its parent, and how often each of its nodes was entered.

    The path of a frame is made only when it is read: `answer#1` for the walk inside the first visit of `answer`.
    """

    __slots__ = ("finish", "flow", "node", "number", "parent", "rounds", "visits")

    def __init__(self, flow: str, parent: Frame | None = None, node: str = "", number: int = 0) -> None:
        self.flow = flow
        self.parent = parent
        self.node = node
        self.number = number
        self.visits: dict[str, int] = {}
        self.rounds = 0
        self.finish: tuple[str, int, str] | None = None

    @property
    def path(self) -> str:
        """The path of the visit that this walk stands in; '' for the run's own walk."""
        if self.parent is None:
            return ""
        return self.parent.path_of(self.node, self.number)

    def path_of(self, node: str, number: int) -> str:
        """Return the path of a visit in this walk."""
        above = self.path
        return f"{above}/{node}#{number}" if above else f"{node}#{number}"

    def is_within(self, frame: Frame) -> bool:
        """Return whether this is `frame`, or a walk beneath it."""
        here: Frame | None = self
        while here is not None and here is not frame:
            here = here.parent
        return here is frame

    def enter(self, node: str) -> int:
        """Count an entry of a node and return its number."""
        number = self.visits.get(node, 0) + 1
        self.visits[node] = number
        return number

    def to_data(self) -> dict[str, Any]:
        """Return the frame as plain data."""
        return {"flow": self.flow, "path": self.path, "visits": dict(self.visits), "rounds": self.rounds}
