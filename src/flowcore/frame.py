"""The frame: one walk through one flow, written down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .errors import Failure

__all__ = ["Frame", "Standing"]


class Standing(NamedTuple):
    """Where a walk that was interrupted stands: before a visit, or in one that has to be made again.

    `failure` and `exhausted` are what led there. `paid` says that the round of the visit has been charged.
    """

    node: str
    values: Mapping[str, Any]
    failure: Failure | None = None
    exhausted: str | None = None
    paid: bool = False


class Frame:
    """Where a walk stands: its place under its parent, and how often each of its nodes was entered.

    The path of a frame is made only when it is read: `answer#1` for the walk inside the first visit of `answer`,
    `solve#1[3]` for that of an item. Walks side by side inside one visit are its children, in declared order.
    """

    __slots__ = (
        "children",
        "dropped",
        "ended",
        "finish",
        "flow",
        "former",
        "index",
        "inside",
        "items",
        "label",
        "node",
        "number",
        "order",
        "owner",
        "parent",
        "position",
        "rounds",
        "scope",
        "shape",
        "spent",
        "standing",
        "start",
        "visits",
    )

    def __init__(
        self, flow: str, parent: Frame | None = None, node: str = "", number: int = 0, index: int | None = None
    ) -> None:
        self.flow = flow
        self.parent = parent
        self.node = node
        self.number = number
        self.visits: dict[str, int] = {}
        self.rounds = 0
        self.index = index
        self.label = ""
        self.position = -1
        """Of a walk beside others: which of them it is, in declared order."""
        self.owner: Frame | None = None
        self.children: list[Frame] = []
        self.dropped = False
        self.finish: tuple[str, int, str] | None = None
        self.start: Mapping[str, Any] = {}
        """The state that the walk began with, by field."""
        self.standing: Standing | None = None
        """Where the walk goes on, if it was interrupted."""
        self.ended: Any = None
        """How the walk ended, if it did."""
        self.order = 0
        """The number in the run of what ended the walk: which of several ended first."""
        self.inside: Frame | None = None
        """The walk inside the composite that is being visited."""
        self.items: Any = None
        """Of an each: the states of its items, as they were evaluated."""
        self.shape: Any = None
        """The shape of the state that a sub-flow or an item was entered with."""
        self.scope: Any = None
        """The scope that the walk has of its own."""
        self.former: tuple[str, int, str] | None = None
        """A node, the number of the visit that the walk was interrupted in, and what the node was called then."""
        self.spent: Mapping[str, float] | None = None
        """What that scope had spent, in another process."""

    @property
    def path(self) -> str:
        """The path of the visit that this walk stands in; '' for the run's own walk."""
        if self.parent is None:
            return ""
        path = self.parent.path_of(self.node, self.number)
        return path if self.index is None else f"{path}[{self.index}]"

    def keep(self, indices: Iterable[int]) -> None:
        """Say which of the walks side by side counted; of the others nothing was kept."""
        kept = set(indices)
        for index, child in enumerate(self.children):
            child.dropped = index not in kept

    def branch(self, index: int | None = None, label: str = "") -> Frame:
        """Return the frame of a walk beside others inside a visit: a branch of a name, an item of an index."""
        assert self.parent is not None  # only a visit has walks side by side
        made = Frame(self.flow, self.parent, self.node, self.number, index)
        made.owner = self
        made.label = label
        made.position = len(self.children)
        self.children.append(made)
        return made

    def beside(self, position: int, label: str = "") -> Frame:
        """Return the walk beside others at a position, begun now if it was not: a branch of a name, or an item."""
        children = self.children
        while len(children) <= position:  # several, where others of an interrupted visit had got further
            self.branch(None if label else len(children))
        found = children[position]
        found.label = label
        return found

    def stand(self, standing: Standing, *, is_entered: bool) -> None:
        """Note where the walk was interrupted: a visit that was entered will be entered again."""
        self.standing = standing
        if is_entered:
            self.visits[standing.node] -= 1

    def taken_up(self) -> Standing | None:
        """Return where the walk goes on, once; None if it was not interrupted."""
        standing, self.standing = self.standing, None
        return standing

    def path_of(self, node: str, number: int) -> str:
        """Return the path of a visit in this walk."""
        above = self.path
        return f"{above}/{node}#{number}" if above else f"{node}#{number}"

    @property
    def written_path(self) -> str:
        """The path under which what happened in this walk before an interruption is kept."""
        if self.parent is None:
            return ""
        path = self.parent.written_path_of(self.node, self.number)
        return path if self.index is None else f"{path}[{self.index}]"

    def written_path_of(self, node: str, number: int) -> str:
        """Return the path under which what happened in a visit before an interruption is kept."""
        if self.former is not None and self.former[:2] == (node, number):
            node = self.former[2]
        above = self.written_path
        return f"{above}/{node}#{number}" if above else f"{node}#{number}"

    def is_within(self, frame: Frame) -> bool:
        """Return whether this is `frame`, or a walk beneath it."""
        here: Frame | None = self
        while here is not None and here is not frame and here.owner is not frame:
            here = here.parent
        return here is not None

    def enter(self, node: str) -> int:
        """Count an entry of a node and return its number."""
        number = self.visits.get(node, 0) + 1
        self.visits[node] = number
        return number

    def to_data(self) -> dict[str, Any]:
        """Return the frame as plain data."""
        return {"flow": self.flow, "path": self.path, "visits": dict(self.visits), "rounds": self.rounds}
