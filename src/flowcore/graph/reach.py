"""Reaching: which nodes can be come to from which, and whether one can come to the end unpaid."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .plan import PlanNode

__all__ = ["can_end_unpaid", "is_acyclic", "reach"]


def reach(start: Iterable[PlanNode], following: Callable[[PlanNode], Iterable[PlanNode]]) -> list[PlanNode]:
    """Return every node that can be come to, the starting ones included, the nearest first."""
    queue = list(start)
    seen = {item.index for item in queue}
    for item in queue:  # grows while it is read
        for target in following(item):
            if target.index not in seen:
                seen.add(target.index)
                queue.append(target)
    return queue


def can_end_unpaid(start: PlanNode, is_end: Callable[[PlanNode], bool]) -> bool:
    """Return whether an unpaid path leads from here to an end that is not paid for either."""
    reached = reach([start], lambda item: [edge.target for edge in item.unpaid()])
    return any(is_end(item) and not item.starts_round and item.passable for item in reached)


def is_acyclic(nodes: Iterable[PlanNode], following: Callable[[PlanNode], Iterable[PlanNode]]) -> bool:
    """Take away nodes that nothing enters until none is left; what cannot be taken away is a cycle."""
    targets = {item.index: list(following(item)) for item in nodes}
    entering = dict.fromkeys(targets, 0)
    for group in targets.values():
        for target in group:
            entering[target.index] += 1
    ready = [index for index, count in entering.items() if count == 0]
    for index in ready:  # grows while it is read
        for target in targets[index]:
            entering[target.index] -= 1
            if entering[target.index] == 0:
                ready.append(target.index)
    return len(ready) == len(entering)
