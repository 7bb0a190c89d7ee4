"""Marks of a run: what it did with each node and frame of a drawing, and which ways it took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ..recording import Recording, VisitData
from .drawing import Drawing, DrawnEdge, Mark

__all__ = ["Ways", "counted", "outcome_of", "run_marks"]


class Ways:
    """The ways of a drawing as a run takes them: in to a node, and out of it."""

    def __init__(self, drawing: Drawing) -> None:
        nodes = [(node.path, node.id) for node in drawing.nodes if node.kind == "node"]
        self.ids = dict([*nodes, *((frame.path, frame.id) for frame in drawing.frames)])
        """The ids of nodes and frames by their paths."""
        self.out: dict[str, list[DrawnEdge]] = {}
        """By the id of a node or frame its declared routes in the order of its row, then its way to the end."""
        self.start: dict[str, str] = {}
        """The edge by which a walk begins, by the id of the node that it leads to."""
        self.finish: dict[str, str] = {}
        """The edge by which a finish path begins, by the id of the node that it leads to."""
        for edge in drawing.edges:
            if edge.kind == "start":
                self.start[edge.target] = edge.id
            elif edge.kind == "finish":
                self.finish[edge.target] = edge.id
            else:
                self.out.setdefault(edge.source, []).append(edge)

    def taken(self, visit: VisitData) -> list[str]:
        """Return the ids of the edges that a visit shows as taken: how its walk began, and how it was left."""
        id = self.ids.get(visit.declared)
        if id is None:
            return []
        found = [self.finish.get(id)] if visit.finish else [self.start.get(id)]
        edges = self.out.get(id, [])
        if 0 <= visit.edge < len(edges):
            found.append(edges[visit.edge].id)
        elif visit.kind in ("complete", "join"):
            found += [edge.id for edge in edges[-1:] if edge.kind in ("end", "join")]
        return [edge for edge in found if edge is not None]


def run_marks(run: Recording, drawing: Drawing, other: Recording | None = None) -> dict[str, Mark]:
    """Return the marks of a run: every node and frame is ok, failed, retried or unused, ways are taken.

    Args:
        run: The run.
        drawing: The drawing of its flow.
        other: Another run of the same flow: ways that only it took are marked as such.
    """
    ways = Ways(drawing)
    visits: dict[str, list[VisitData]] = {}
    taken: Counter[str] = Counter()
    for visit in run.visits:
        visits.setdefault(visit.declared, []).append(visit)
        taken.update(ways.taken(visit))
    marks = {id: _mark(visits.get(path, ())) for path, id in ways.ids.items()}
    marks |= {edge.id: Mark("taken", counted(taken[edge.id])) for edge in drawing.edges if taken[edge.id]}
    if other is not None:
        also = _all_taken(other.visits, ways) - set(taken)
        marks |= {edge.id: Mark("other", "in the other run only") for edge in drawing.edges if edge.id in also}
    return marks


def outcome_of(visit: VisitData) -> str:
    """Return how a visit went, in one word or two."""
    if visit.kind in ("running", "unfinished"):
        return visit.kind
    if visit.failure is not None:
        return "failed"
    if visit.kind == "over_limit":
        return "over limit"
    return "retried" if visit.attempts > 1 else "ok"


def counted(times: int) -> str:
    """Return how often something happened."""
    return {1: "once", 2: "twice"}.get(times, f"{times} times")


def _all_taken(visits: Iterable[VisitData], ways: Ways) -> set[str]:
    return {edge for visit in visits for edge in ways.taken(visit)}


def _mark(visits: Sequence[VisitData]) -> Mark:
    """Return the mark of a node with these visits; how the last one went weighs most."""
    if not visits:
        return Mark("unused", "did not run")
    last = outcome_of(visits[-1])
    ran = f"ran {counted(len(visits))}"
    failures = sum(visit.failure is not None for visit in visits)
    if last in ("failed", "unfinished"):
        return Mark("failed", f"{ran}, {last}")
    if failures:
        return Mark("retried", f"{ran}, failed {counted(failures)}, {last} at last")
    attempts = sum(max(0, visit.attempts - 1) for visit in visits)
    if attempts:
        return Mark("retried", f"{ran}, tried again {counted(attempts)}, ok at last")
    return Mark("ok", f"{ran}, {last}")
