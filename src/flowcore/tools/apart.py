"""Calls told apart: those under way in one visit have ids that differ, though a model may use an id twice.

Two replies may be run side by side in one node, and a tool may run the calls of another model. The messages keep
the ids as they are; events and requests name such a call by an id with a number.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from ..messages import ToolCall
from ..visit_host import Inside

__all__ = ["told_apart"]


@contextmanager
def told_apart(calls: Sequence[ToolCall], around: Inside | None) -> Generator[Mapping[str, str]]:
    """Hold ids by which calls are told while they are under way; yields them by the ids that the calls have."""
    if around is None:
        yield {}
        return
    under_way = around.host.calls.setdefault(around.where, set())
    told: dict[str, str] = {}
    for call in calls:
        id, number = call.id, 1
        while id in under_way:
            number += 1
            id = f"{call.id}-{number}"
        under_way.add(id)
        told[call.id] = id
    try:
        yield told
    finally:
        under_way.difference_update(told.values())
        if not under_way:
            around.host.calls.pop(around.where, None)
