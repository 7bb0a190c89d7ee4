"""Walks: the visits of a recording as they followed one another, each with the walks inside it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..recording import Recording, VisitData

__all__ = ["Stop", "Walk", "align", "walk_of"]


@dataclass(frozen=True, slots=True)
class Stop:
    """A visit, and the walks inside it by the name of the branch or item; a sub-flow's has none."""

    visit: VisitData
    inside: Mapping[str, Walk]

    @property
    def key(self) -> tuple[str, int]:
        """What it is known by in its walk."""
        return self.visit.node, self.visit.number


Walk = tuple[Stop, ...]
"""Visits one after the other."""


def walk_of(run: Recording) -> Walk:
    """Return the walk of a run. Branches stand in declared order, items by number; what was dropped is left out.

    When something happened, and what happened beside it, is not to be seen in it.
    """
    order = {
        (path, start): place
        for path, node in run.flow.walk()
        if node.branches is not None
        for place, start in enumerate(node.branches.starts)
    }
    walks: dict[str, dict[str, list[VisitData]]] = {}
    for visit in sorted(run.visits, key=lambda visit: visit.seq):
        if not visit.dropped:
            walks.setdefault(visit.around, {}).setdefault(visit.branch, []).append(visit)

    def place(path: str, name: str) -> tuple[int, str]:
        if name.startswith("["):
            return int(name[1:-1]), ""
        return order.get((path, name), len(order)), name

    def walk(visits: Sequence[VisitData]) -> Walk:
        return tuple(Stop(visit, inside(visit)) for visit in visits)

    def inside(visit: VisitData) -> dict[str, Walk]:
        found = walks.get(visit.path, {})
        return {name: walk(found[name]) for name in sorted(found, key=lambda name: place(visit.declared, name))}

    return walk(walks.get("", {}).get("", ()))


def align(old: Walk, new: Walk) -> list[tuple[Stop | None, Stop | None]]:
    """Return the visits of two walks side by side: as many as can be are paired without a change of order.

    No visit comes twice in a walk, so that the longest common path is the longest rising one.
    """
    places = {stop.key: place for place, stop in enumerate(old)}
    common = [(places[stop.key], place) for place, stop in enumerate(new) if stop.key in places]
    found: list[tuple[Stop | None, Stop | None]] = []
    before = after = 0
    for left, right in [*_longest_rising(common), (len(old), len(new))]:
        found += [(stop, None) for stop in old[before:left]]
        found += [(None, stop) for stop in new[after:right]]
        if left < len(old):
            found.append((old[left], new[right]))
        before, after = left + 1, right + 1
    return found


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return as many pairs as can be whose first numbers rise; the second ones do already."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (left, _) in enumerate(pairs):
        length = bisect_left(ends, left)
        ends[length : length + 1] = [left]
        last[length : length + 1] = [number]
        before.append(last[length - 1] if length else -1)
    found: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]
