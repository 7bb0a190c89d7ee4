"""The difference between two texts of a run: in one line what kind of change it is, and then line by line."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Literal, NamedTuple

from .told import Step, Told, told

__all__ = ["Difference", "Kind", "diff_lines", "difference"]

Kind = Literal["path", "order", "route", "values", "result"]
"""What changed: the visits, their order, where one led to, values along the same path, or how the run ended."""
_CONTEXT = 2
_MOST_COMPARED = 4_000
"""Lines of each text that are compared one by one, from the first that differs: beyond that it takes minutes."""
_LONGEST = 80


class Difference(NamedTuple):
    """What kind of change it is, and one line that says so."""

    kind: Kind
    words: str


def difference(was: str, now: str) -> Difference:
    """Return what tells two texts of a run apart, the first cause before its consequences."""
    old, new = told(was), told(now)
    if old.head.get("flow") != new.head.get("flow"):
        return Difference("path", f"another flow: was {old.head.get('flow')}, now {new.head.get('flow')}")
    return (
        _other_path(old.steps, new.steps)
        or _other_route(old.steps, new.steps)
        or _other_values(old.steps, new.steps)
        or _other_ending(old, new)
    )


def diff_lines(was: str, now: str) -> list[str]:
    """Return the unified difference, with two lines of context."""
    old, new = was.splitlines(), now.splitlines()
    same = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = max(0, same - _CONTEXT)
    cut = slice(start, start + _MOST_COMPARED)
    lines = difflib.unified_diff(old[cut], new[cut], "was", "now", n=_CONTEXT, lineterm="")
    told = [_moved(line, start) if line.startswith("@@") else line for line in lines]
    if max(len(old), len(new)) > cut.stop:
        told.append(f"... compared to line {cut.stop} only")
    return told


def _moved(header: str, by: int) -> str:
    """Return the header of a hunk with the numbers of the whole text."""
    parts = header.split(" ")
    for index in (1, 2):
        first, comma, length = parts[index][1:].partition(",")
        parts[index] = f"{parts[index][0]}{int(first) + by}{comma}{length}"
    return " ".join(parts)


def _other_path(old: Sequence[Step], new: Sequence[Step]) -> Difference | None:
    was, now = [step.shown for step in old], [step.shown for step in new]
    if was == now:
        return _other_round(old, new)
    at = next(n for n, (a, b) in enumerate(zip_longest(was, now)) if a != b)
    before, after = _at(was, at), _at(now, at)
    if sorted(was) == sorted(now):
        return Difference("order", f"order changed at step {at + 1}: was {before}, now {after}")
    if (gone := _only(old, new)) is not None:
        return Difference("path", f"node {gone.place} missing: it was step {old.index(gone) + 1}")
    if (added := _only(new, old)) is not None:
        return Difference("path", f"node {added.place} is new: it is step {new.index(added) + 1}")
    return Difference("path", f"path changed at step {at + 1}: was {before}, now {after}")


def _other_round(old: Sequence[Step], new: Sequence[Step]) -> Difference | None:
    for number, (before, after) in enumerate(zip(old, new, strict=True), 1):
        if before.round != after.round:
            words = f"{after.place} was in {before.round or 'no round'}, now in {after.round or 'no round'}"
            return Difference("path", f"path changed at step {number}: {words}")
    return None


def _only(more: Sequence[Step], less: Sequence[Step]) -> Step | None:
    """Return a step of a node that only one of two paths has, if nothing else tells them apart."""
    known = {step.node for step in less}
    extra = [step for step in more if step.node not in known]
    rest = [step.shown for step in more if step.node in known]
    return extra[0] if extra and rest == [step.shown for step in less] else None


def _other_route(old: Sequence[Step], new: Sequence[Step]) -> Difference | None:
    for before, after in zip(old, new, strict=True):
        if before.way != after.way:
            ways = f"was {before.way or 'none'}, now {after.way or 'none'}"
            return Difference("route", f"same path, another route at {before.place}: {ways}")
    return None


def _other_values(old: Sequence[Step], new: Sequence[Step]) -> Difference | None:
    for before, after in zip(old, new, strict=True):
        for name, was, now in _changed_facts(before, after):
            words = f"was {_short(was)}, now {_short(now)}"
            return Difference("values", f"same path, values differ: {name} at {before.place}: {words}")
    return None


def _changed_facts(before: Step, after: Step) -> Iterator[tuple[str, str, str]]:
    names = dict.fromkeys([*before.facts, *after.facts])
    for name in sorted(names, key=lambda name: not name.startswith("state.")):
        was, now = before.facts.get(name, ()), after.facts.get(name, ())
        yield from ((name, a, b) for a, b in zip_longest(was, now, fillvalue="unset") if a != b)


def _other_ending(old: Told, new: Told) -> Difference:
    names = dict.fromkeys([*old.head, *new.head])
    for name in names:
        was, now = old.head.get(name, "none"), new.head.get(name, "none")
        words = f"was {_short(was)}, now {_short(now)}"
        if was != now and name == "used":
            return Difference("values", f"same path, values differ: used {words}")
        if was != now:
            place = "" if name == "result" else f"{name} "
            return Difference("result", f"result changed: {place}{words}")
    return Difference("values", "the texts differ")


def _at(steps: Sequence[str], index: int) -> str:
    return steps[index] if index < len(steps) else "the end"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
