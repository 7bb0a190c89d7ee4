"""The comparison: two walks gone along side by side, and what differs noted in the order of the walk."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from ..errors import BudgetExhausted
from ..recording import Recording, VisitData
from .leaving import ended_words, left_words, value_words
from .run_change import Turn, ValueChange
from .walks import Stop, Walk, align

__all__ = ["Comparison"]


@dataclass(slots=True)
class Comparison:
    """What differs so far between two runs."""

    old: Recording
    new: Recording
    values: list[ValueChange]
    turns: list[Turn] = field(default_factory=list)
    only_old: list[str] = field(default_factory=list)
    only_new: list[str] = field(default_factory=list)

    def compare(self, old: Walk, new: Walk, path: str = "") -> None:
        """Note what differs between two walks inside the visit of `path`; where they part, once."""
        together: Stop | None = None
        parted = False
        for was, now in align(old, new):
            if was is not None and now is not None:
                parted = self._compare_visits(was, now, parted)
                together = now
                continue
            if not parted:
                self._part(together, old, new, path)
                parted = True
            if was is not None:
                self.only_old.append(was.visit.path)
            elif now is not None:
                self.only_new.append(now.visit.path)

    def _compare_visits(self, was: Stop, now: Stop, parted: bool) -> bool:
        """Note what differs between two visits; return whether their walks have parted by then."""
        old, new = was.visit, now.visit
        self._compare_inside(was, now)
        self.values += _value_changes(old, new)
        if parted or _way(old) == _way(new):
            return parted
        words = f"{left_words(new, old)} where it {left_words(old, new)}"
        self.turns.append(Turn(new.path, words, self._reason(old, new)))
        return True

    def _compare_inside(self, was: Stop, now: Stop) -> None:
        both = [name for name in now.inside if name in was.inside]
        for name in both:
            self.compare(was.inside[name], now.inside[name], now.visit.path)
        self.only_old += _paths(was.inside, but=both)
        self.only_new += _paths(now.inside, but=both)
        if was.inside.keys() != now.inside.keys():
            words = f"{_kept(now.inside)} where it {_kept(was.inside)}"
            self.turns.append(Turn(now.visit.path, words, self._reason(was.visit, now.visit)))

    def _part(self, together: Stop | None, old: Walk, new: Walk, path: str) -> None:
        """Note that two walks go on with other visits although the last common one was left in the same way."""
        was, now = (_after(together, walk) for walk in (old, new))
        if together is None:
            words = f"began {_with(now)} where it began {_with(was)}"
            self.turns.append(Turn(path, words, self._limit_reason() or self._state_reason()))
            return
        sides = zip((now, was), (self.new, self.old), strict=True)
        came, come = (
            f"was followed by {_name(stop.visit)}"
            if stop is not None
            else f"was the last one ({ended_words(run)})"
            for stop, run in sides
        )
        limits = [stop.visit.finish for stop in (now, was) if stop is not None and stop.visit.finish]
        told = f"the {limits[0]} ran out" if limits else ""
        because = self._limit_reason() or told or self._state_reason()
        self.turns.append(Turn(together.visit.path, f"{came} where it {come}", because))

    def _reason(self, old: VisitData, new: VisitData) -> str:
        """Return the value that decided which way a visit was left, as far as it was recorded."""
        told = [value_words(value) for value in self.values if value.path == new.path and value.kind == "why"]
        if told:
            return ", ".join(told)
        if _is_exhausted(old, new) and (limit := self._limit_reason()):
            return limit
        if (old.failure is None) != (new.failure is None):
            return _calls_reason(old, new)
        return self._state_reason() or _calls_reason(old, new)

    def _limit_reason(self) -> str:
        """Return the limit that ran out in one of the runs, if they had it differently."""
        for value in self.values:
            if value.kind == "budget" and value.place in (self.new.exhausted, self.old.exhausted):
                return f"a limit of {value_words(value)} (from the start)"
        return ""

    def _state_reason(self) -> str:
        """Return the last value before this that differed."""
        for value in reversed(self.values):
            if value.kind in ("start", "state"):
                return f"{value_words(value)} ({f'by {value.path}' if value.path else 'from the start'})"
        return ""


def _after(together: Stop | None, walk: Walk) -> Stop | None:
    """Return the visit that follows in a walk."""
    if together is None:
        return walk[0] if walk else None
    place = next(place for place, stop in enumerate(walk) if stop.key == together.key)
    return walk[place + 1] if place + 1 < len(walk) else None


def _with(stop: Stop | None) -> str:
    return "with nothing" if stop is None else f"with {_name(stop.visit)}"


def _paths(inside: Mapping[str, Walk], but: Collection[str]) -> list[str]:
    """Return the paths of the visits in all walks but some."""
    return [stop.visit.path for name, walk in inside.items() if name not in but for stop in walk]


def _name(visit: VisitData) -> str:
    return f"{visit.node}#{visit.number}"


def _kept(inside: Mapping[str, Walk]) -> str:
    """Return what a visit did inside: of branches by name, of items by number."""
    if not inside:
        return "did nothing inside"
    if "" in inside:
        return "went inside"
    if any(name.startswith("[") for name in inside):
        return f"kept {len(inside)} item{'' if len(inside) == 1 else 's'}"
    return f"kept {', '.join(inside)}"


def _way(visit: VisitData) -> tuple[str, str, str]:
    return visit.kind, visit.label, visit.target


def _is_exhausted(*visits: VisitData) -> bool:
    return any(visit.failure is not None and visit.failure.code == BudgetExhausted.code for visit in visits)


def _calls_reason(old: VisitData, new: VisitData) -> str:
    """Return how the requests of two visits to models went differently, if they did."""
    was, now = (
        [f"{call.model or 'a model'}: {call.failure}" for call in visit.calls if call.failure is not None]
        for visit in (old, new)
    )
    if was != now:
        return f"requests failed: {'; '.join(now) or 'none'}, were: {'; '.join(was) or 'none'}"
    if len(old.calls) != len(new.calls):
        return f"{len(new.calls)} requests, were {len(old.calls)}"
    return ""


def _value_changes(old: VisitData, new: VisitData) -> Iterator[ValueChange]:
    before, after = ({change.place: change.now for change in visit.changes} for visit in (old, new))
    reasons = [dict(visit.why or {}) for visit in (old, new)]
    for place in dict.fromkeys([*after, *before]):
        if before.get(place) != after.get(place):
            yield ValueChange("state", new.path, place, before.get(place, ""), after.get(place, ""))
    for place in dict.fromkeys([*reasons[1], *reasons[0]]):
        if reasons[0].get(place) != reasons[1].get(place):
            yield ValueChange("why", new.path, place, reasons[0].get(place, ""), reasons[1].get(place, ""))
    if old.attempts != new.attempts:
        yield ValueChange("attempts", new.path, "attempts", str(old.attempts), str(new.attempts))
    failures = [str(visit.failure or "") for visit in (old, new)]
    if failures[0] != failures[1]:
        yield ValueChange("failure", new.path, "failure", *failures)
