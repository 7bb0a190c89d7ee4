"""Parking: what is noted in the walks of a run when it is paused, so that they can be walked on from."""

from __future__ import annotations

from ..frame import Frame

__all__ = ["stand_still"]


def stand_still(frame: Frame, now: float) -> None:
    """Note in a walk, and in those inside of it that were interrupted, what the scopes of their own have spent."""
    if frame.scope is not None:
        frame.spent, frame.scope = frame.scope.spending(now), None
    for inner in (frame.inside, *frame.children):
        if inner is not None and inner.ended is None:
            stand_still(inner, now)
