"""Effort: how much work a layout is worth. Long ways cost an engine more than many ways."""

from __future__ import annotations

from .drawing import Drawing

__all__ = ["engine_options"]

_LONGEST = 1_500
"""Ranks that all ways together may pass before beauty takes minutes: a second or two, tried on two cores."""
_HURRIED = ("-Gsplines=line", "-Gnslimit=0.005")


def engine_options(drawing: Drawing) -> tuple[str, ...]:
    """Return options for the layout engine: none, or straight lines for a drawing that would take minutes."""
    ranks, ways = _ranks(drawing)
    passed = sum(abs(ranks[target] - ranks[source]) for source, target in ways)
    return _HURRIED if passed > _LONGEST else ()


def _ranks(drawing: Drawing) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Return how far from a start each node stands at the most, as engines place them, and all ways by dots."""
    dots = {frame.id: frame for frame in drawing.frames}
    ways: list[tuple[str, str]] = []
    after: dict[str, list[str]] = {node.id: [] for node in drawing.nodes}
    entering = dict.fromkeys(after, 0)
    for edge in drawing.edges:
        source, target = drawing.anchors(edge)
        source = dots[source].end if source in dots else source
        target = dots[target].start if target in dots else target
        ways.append((source, target))
        if not edge.backward:
            after[source].append(target)
            entering[target] += 1
    ranks = dict.fromkeys(after, 0)
    ready = [id for id, count in entering.items() if count == 0]
    for id in ready:  # grows while it is read
        for target in after[id]:
            ranks[target] = max(ranks[target], ranks[id] + 1)
            entering[target] -= 1
            if entering[target] == 0:
                ready.append(target)
    return ranks, ways
