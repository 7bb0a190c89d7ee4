"""The parallel: a definition whose branches run side by side and meet at a join."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Never

from ..types import DepsT, StateT
from .definition import Composite
from .node import Node
from .signature import Signature

__all__ = ["Join", "Parallel", "parallel"]

Join = Literal["all", "any"] | int
"""When the branches are enough: all of them, the first that succeeds, or that many."""


@dataclass(frozen=True, slots=True)
class Parallel(Composite):
    """A node whose branches each work on a draft of their own; the state changes at the join only."""

    kind: ClassVar[str] = "parallel"
    is_composite: ClassVar[bool] = True
    branches: tuple[Node[Any, Any, Any, Any], ...]
    join: Join = "all"

    @property
    def description(self) -> str:
        """None of its own."""
        return ""

    @property
    def passable(self) -> bool:
        """Settled with its branches, when the flow around it is built."""
        return False

    @property
    def signature(self) -> Signature:
        """The state of its branches; it continues without a label."""
        states = [branch.definition.signature.state for branch in self.branches]
        return Signature(next((state for state in states if state is not Any), Any), plain=True)

    @property
    def wanted(self) -> int:
        """How many branches have to succeed."""
        return len(self.branches) if self.join == "all" else 1 if self.join == "any" else self.join

    def wanted_deps(self) -> Iterator[tuple[str, Any]]:
        """Yield what each branch, and what its error routes lead to, want as deps."""
        for row in self.rows():
            yield from ((f"/{row.id}{below}", kind) for below, kind in row.definition.wanted_deps())

    def rows(self) -> Iterator[Node[Any, Any, Any, Any]]:
        """Yield the branches, then what the error routes of each lead to, once for each branch."""
        yield from self.branches
        for branch in self.branches:
            rows = [branch]
            for row in rows:  # grows while it is read
                for route in row.errors:
                    if route.target is not None and route.target not in rows:
                        rows.append(route.target)
            yield from rows[1:]


def parallel(
    id: str, /, *branches: Node[StateT, DepsT, None, Never], join: Join = "all"
) -> Node[StateT, DepsT, None, Never]:
    """Return a node that runs branches side by side.

    A branch is a node or a sub-flow whose only outcome is `Continue()`. What its own `.on_error(...)` leads to
    belongs to the branch, and goes on to the join. Each branch has a draft of its own; at the join the changes are
    merged in declared order.

    Args:
        id: The node's id. The branches are `id/branch` in paths, events and diagrams.
        branches: The branches, with their own `.using(...)` and `.on_error(...)`, without `.to(...)`.
        join: `"all"`: every branch must succeed. `"any"`: the first that succeeds is enough, the others are
            stopped. A number: that many have to succeed.

    Raises:
        ValueError: `join` is none of these.
    """
    if join not in ("all", "any") and type(join) is not int:
        raise ValueError(f"parallel({id!r}, join={join!r}): give 'all', 'any' or a number of branches")
    return Node(Parallel(branches, join), id)
