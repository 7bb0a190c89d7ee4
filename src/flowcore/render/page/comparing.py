"""Comparing: what another run did, beside each visit of the one that a page shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...recording import Recording, VisitData
from ..drawing import Drawing, draw
from ..marks import Ways, outcome_of
from .header import seconds_words

__all__ = ["Comparison", "compare_runs"]

_MICRO = 1_000_000
_MINUS = "\N{MINUS SIGN}"


class Beside(NamedTuple):
    """The visit of another run beside one: when it began, how long it took, how much longer the one took."""

    started: float
    took: float
    longer: float

    def data(self) -> tuple[int, int, str]:
        """Return it as a page reads it, the difference in words."""
        words = f"{'+' if self.longer >= 0 else _MINUS}{seconds_words(abs(self.longer))}"
        return round(self.started * _MICRO), round(self.took * _MICRO), words


@dataclass(frozen=True, slots=True)
class Comparison:
    """Another run beside the visits of one: its time for each, the edges only it took, where the two part.

    `apart` is the place of the first visit, in the order of their beginnings, that differs; -1 for none.
    """

    name: str
    times: tuple[Beside | None, ...]
    edges: tuple[str, ...]
    apart: int
    words: str

    def data(self) -> dict[str, Any]:
        """Return it as a page reads it."""
        return {
            "heading": f"{self.words}. Thin bars are {self.name}.",
            "times": [0 if beside is None else beside.data() for beside in self.times],
            "edges": list(self.edges),
            "apart": self.apart,
            "words": self.words,
        }


def compare_runs(run: Recording, other: Recording, drawing: Drawing) -> Comparison:
    """Compare a run with another one. Visits are the same where their paths are, whatever began first.

    The other run may be of another version of the flow: its edges are told as far as this one has them.
    """
    visits = sorted(run.visits, key=lambda visit: visit.seq)
    theirs = {visit.path: visit for visit in other.visits}
    name = _name(other, run)
    times = tuple(_beside(visit, theirs.get(visit.path)) for visit in visits)
    apart, words = _apart(visits, theirs, name)
    return Comparison(name, times, tuple(_only_theirs(run, other, drawing)), apart, words)


def _name(run: Recording, beside: Recording) -> str:
    return f"run {run.name}" if run.name and run.name != beside.name else f"run {run.run_id[:8] or 'other'}"


def _beside(visit: VisitData, other: VisitData | None) -> Beside | None:
    return None if other is None else Beside(other.started, _took(other), _took(visit) - _took(other))


def _took(visit: VisitData) -> float:
    return 0.0 if visit.ended is None else visit.ended - visit.started


def _apart(visits: Sequence[VisitData], theirs: dict[str, VisitData], name: str) -> tuple[int, str]:
    """Return after which visit the runs part, and how."""
    for place, visit in enumerate(visits):
        other = theirs.get(visit.path)
        if other is None:
            return place, f"{name} did not come to step {place + 1}: {visit.declared}"
        if _way(visit) != _way(other) and not (visit.dropped or other.dropped):
            told = "took another route" if other.target != visit.target or other.target else "ended otherwise"
            return place, f"{name} {told} after step {place + 1}: {_told(other)}"
    if more := theirs.keys() - {visit.path for visit in visits}:
        first = min((theirs[path] for path in more), key=lambda visit: visit.seq)
        return len(visits) - 1, f"{name} went on to {first.declared}"
    return -1, f"{name} took the same path"


def _way(visit: VisitData) -> tuple[str, str, str]:
    return visit.kind, visit.label, visit.target


def _told(visit: VisitData) -> str:
    reason = visit.label or ("" if visit.kind == "next" else visit.kind.replace("_", " "))
    values = ", ".join(f"{key} = {value}" for key, value in (visit.why or {}).items())
    words = ": ".join(filter(None, (reason, values)))
    if not visit.target:
        return f"{visit.node} {outcome_of(visit) if visit.failure else 'completed'}"
    return f"{visit.node} to {visit.target}" + (f" ({words})" if words else "")


def _only_theirs(run: Recording, other: Recording, drawing: Drawing) -> Iterator[str]:
    """Yield the edges that only the other run took, of those that its flow has in common with this one."""
    mine = _taken(run, drawing)
    theirs = _taken(other, drawing if other.signature == run.signature else draw(other.flow))
    for id, name in _names(drawing).items():
        if name in theirs and name not in mine:
            yield id


def _taken(run: Recording, drawing: Drawing) -> set[tuple[str, ...]]:
    ways, names = Ways(drawing), _names(drawing)
    return {names[edge] for visit in run.visits for edge in ways.taken(visit)}


def _names(drawing: Drawing) -> dict[str, tuple[str, ...]]:
    """Return the edges by the names of what they join, which are the same in drawings of several versions."""
    paths = {node.id: node.path for node in drawing.nodes} | {frame.id: frame.path for frame in drawing.frames}
    return {edge.id: (edge.kind, edge.label, paths[edge.source], paths[edge.target]) for edge in drawing.edges}
