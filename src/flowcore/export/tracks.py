"""Tracks: where each visit of a run is drawn, so that what overlaps in time never lies on one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..recording import ModelCall, Recording, VisitData

__all__ = ["Placed", "Span", "Track", "Tracks", "nanoseconds"]


def nanoseconds(seconds: float) -> int:
    """Return a time as whole nanoseconds, in which sums are exact."""
    return round(seconds * 1_000_000_000)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time, in nanoseconds since the run began."""

    start: int
    end: int

    def within(self, outer: Span) -> Span:
        """Return the part of it that lies in another one."""
        start = min(max(self.start, outer.start), outer.end)
        return Span(start, min(max(self.end, start), outer.end))


@dataclass(eq=False, slots=True)
class Track:
    """One line. What lies on it lies side by side, or inside what it belongs to."""

    name: str
    _open: list[tuple[str, Span]] = field(default_factory=list)

    def takes(self, name: str, span: Span, around: str) -> bool:
        """Put something on it, if it fits. What begins earlier must come first, and the outer before the inner."""
        while self._open and self._open[-1][1].end <= span.start:
            self._open.pop()
        if self._open:
            outer, whole = self._open[-1]
            if outer != around or span.end > whole.end:
                return False
        self._open.append((name, span))
        return True


@dataclass(frozen=True, slots=True)
class Placed:
    """A visit, or a request of one, with its time and its track."""

    visit: VisitData
    call: ModelCall | None
    span: Span
    track: Track


class Tracks:
    """The tracks of a run: one for its own walk, one for each branch, and for items as many as ran at a time.

    A sub-flow lies on the track of the visit that it stands in.
    """

    def __init__(self, run: Recording) -> None:
        self.tracks: list[Track] = []
        self.placed: list[Placed] = []
        self.whole = Span(0, max(map(nanoseconds, _moments(run)), default=0))
        self._of_visit: dict[str, tuple[Track, Span]] = {}
        self._of_walk: dict[tuple[str, str], Track] = {}
        self._alike: dict[tuple[Track, str], list[Track]] = {}
        self._free_at: dict[Track, int] = {}
        self._main = self._new(run.flow.name)
        self._ends = _ends_of_walks(run, self.whole)
        for _, _, _, visit, call in sorted(_pieces(run, self.whole), key=lambda piece: piece[:3]):
            self._place(visit, call)

    def _place(self, visit: VisitData, call: ModelCall | None) -> None:
        if call is None:
            span = _span(visit, self.whole)
            track = self._taken(self._wanted(visit, span), visit.path, span, visit.around)
            self._of_visit[visit.path] = (track, span)
        else:
            track, outer = self._of_visit[visit.path]
            span = _span(call, outer)
            track = self._taken(track, "", span, visit.path)
        self.placed.append(Placed(visit, call, span, track))

    def _wanted(self, visit: VisitData, span: Span) -> Track:
        """Return the track of the walk that a visit belongs to."""
        if not visit.branch:
            return self._above(visit)
        walk = (visit.around, visit.branch)
        if walk not in self._of_walk:
            self._of_walk[walk] = self._free(visit, span.start)
            self._free_at[self._of_walk[walk]] = self._ends[walk]
        return self._of_walk[walk]

    def _above(self, visit: VisitData) -> Track:
        return self._of_visit[visit.around][0] if visit.around in self._of_visit else self._main

    def _free(self, visit: VisitData, start: int) -> Track:
        """Return a track on which no other walk is under way: items share them, each branch has its own."""
        composite = visit.declared.rpartition("/")[0]
        is_item = visit.branch.startswith("[")
        name = f"{composite}, item" if is_item else f"{composite}/{visit.branch}"
        group = self._alike.setdefault((self._above(visit), name), [])
        for track in group:
            if self._free_at[track] <= start:
                return track
        group.append(self._new(f"{name} {len(group) + 1}" if is_item or group else name))
        return group[-1]

    def _taken(self, track: Track, name: str, span: Span, around: str) -> Track:
        """Put something on the track where it belongs, or on one beside it if something there is in its way."""
        beside = self._alike.setdefault((track, ""), [])
        for other in (track, *beside):
            if other.takes(name, span, around):
                return other
        beside.append(self._new(f"{track.name}, beside"))
        beside[-1].takes(name, span, around)
        return beside[-1]

    def _new(self, name: str) -> Track:
        self.tracks.append(Track(name))
        return self.tracks[-1]


def _moments(run: Recording) -> Iterable[float]:
    yield run.spent.seconds
    for visit in run.visits:
        yield visit.started if visit.ended is None else visit.ended


def _pieces(run: Recording, whole: Span) -> Iterator[tuple[int, int, int, VisitData, ModelCall | None]]:
    """Yield visits and their requests, with what orders them by their beginning, the outer ones first."""
    for visit in run.visits:
        span = _span(visit, whole)
        yield span.start, visit.seq, 0, visit, None
        for number, call in enumerate(visit.calls, 1):
            yield _span(call, span).start, visit.seq, number, visit, call


def _span(timed: VisitData | ModelCall, outer: Span) -> Span:
    """Return the time of something within that of what is around it; what has no end goes on to that end."""
    start = nanoseconds(timed.started)
    return Span(start, outer.end if timed.ended is None else nanoseconds(timed.ended)).within(outer)


def _ends_of_walks(run: Recording, whole: Span) -> dict[tuple[str, str], int]:
    ends: dict[tuple[str, str], int] = {}
    for visit in run.visits:
        walk = (visit.around, visit.branch)
        ends[walk] = max(ends.get(walk, 0), _span(visit, whole).end)
    return ends
