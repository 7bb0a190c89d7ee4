"""The text of a run diff: the first divergence first, then values, then what was spent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..recording import Recording
from ..render import shown, visible
from .flow_text import flow_summary
from .leaving import value_words
from .run_change import RunDiff, Turn, ValueChange

__all__ = ["run_summary", "run_text"]

_MOST = 12
"""Paths of visits that are listed, of those that one run alone has."""


def run_text(diff: RunDiff) -> str:
    """Return what differs, a fact on each line. Time comes last and counts for nothing."""
    return "".join(f"{visible(line)}\n" for line in (run_summary(diff), *_lines(diff)))


def run_summary(diff: RunDiff) -> str:
    """Return in one line what the runs are, and whether they differ."""
    names = f"run {_name(diff.new)}, was {_name(diff.old)}"
    if not diff.differs:
        return f"{names}: no difference"
    if diff.turns:
        return f"{names}: they part at {shown(diff.turns[0].path) or 'the beginning'}"
    return f"{names}: {'the same path' if not diff.only_old and not diff.only_new else 'another path'}"


def _name(run: Recording) -> str:
    return shown(run.name or run.run_id)


def _lines(diff: RunDiff) -> Iterator[str]:
    if diff.flows is not None:
        yield f"! runs of different flows; {flow_summary(diff.flows)}"
    for word, turn in zip(["first", *["then"] * len(diff.turns)], diff.turns, strict=False):
        yield f"{word}: {_turn(turn)}"
    for sign, which, paths in (("-", "old", diff.only_old), ("+", "new", diff.only_new)):
        if paths:
            yield f"{sign} visits of the {which} run only: {_paths(paths)}"
    yield from (f"~ {_value(value)}" for value in diff.values)
    for amount in diff.spending:
        yield f"~ spent: {amount.now:g} {amount.name.replace('_', ' ')}, was {amount.was:g}"
    seconds = diff.seconds
    yield f"  time: {seconds.now:.2f} s, was {seconds.was:.2f} s"


def _turn(turn: Turn) -> str:
    words = f"{turn.path or 'the run'} {turn.words}"
    return f"{words}: {turn.because}" if turn.because else words


def _paths(paths: Sequence[str]) -> str:
    listed = ", ".join(map(shown, paths[:_MOST]))
    return f"{listed} and {len(paths) - _MOST} more" if len(paths) > _MOST else listed


def _value(value: ValueChange) -> str:
    places = {"start": "the start", "budget": "the budget", "result": "the run"}
    words = {"why": "reason "}
    return f"{places.get(value.kind, value.path)}: {words.get(value.kind, '')}{value_words(value)}"
