"""The index: several runs of one flow on one page, each with a link to its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...recording import Recording
from ..shell import page_text, read_text, themed
from .header import Chip, Outcome, outcome, seconds_words

__all__ = ["Entry", "runs_page"]

_HERE = "flowcore.render.page"
_LONGEST = 280
_KINDS = {"ok": "completed", "warn": "ended another way", "error": "failed", "going": "running"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the index: a run with the address of its page; or why there was none.

    `said` is what a person was told, where that is not the value as it stands.
    """

    name: str
    about: str
    run: Recording | None
    href: str = ""
    reason: str = ""
    said: str = ""


class _Row(NamedTuple):
    """One line as it is shown. `share` is its time as a part of the longest, in hundredths."""

    name: str
    about: str
    href: str
    outcome: Outcome
    value: str
    rounds: str
    took: str
    share: float


def runs_page(flow: str, entries: Sequence[Entry]) -> str:
    """Return the index of runs as one HTML page that needs no other file but the pages that it names."""
    longest = max((entry.run.spent.seconds for entry in entries if entry.run is not None), default=0.0)
    rows = [_row(entry, longest) for entry in entries]
    count = f"{len(rows):,} {'run' if len(rows) == 1 else 'runs'}"
    words = {"title": flow, "count": count, "chips": list(_chips(entries, rows)), "rows": rows}
    return page_text(read_text(_HERE, "index.html.j2"), themed(read_text(_HERE, "index.css")), words)


def _chips(entries: Sequence[Entry], rows: Sequence[_Row]) -> Iterator[Chip]:
    """Yield how many runs ended in which way, and what all of them spent."""
    counts = Counter(row.outcome.tone for row in rows)
    for tone, words in _KINDS.items():
        if counts[tone]:
            yield Chip(tone, f"{Outcome(tone, '').sign} {counts[tone]:,} {words}")
    spent = [entry.run.spent for entry in entries if entry.run is not None]
    yield Chip("", seconds_words(sum(one.seconds for one in spent)))
    if tokens := sum(one.tokens for one in spent):
        yield Chip("", f"{tokens:,} tokens")


def _row(entry: Entry, longest: float) -> _Row:
    if entry.run is None:
        return _Row(entry.name, _short(entry.about), "", Outcome("error", _short(entry.reason)), "", "", "", 0.0)
    run, spent = entry.run, entry.run.spent
    return _Row(
        entry.name,
        _short(entry.about),
        entry.href,
        outcome(run),
        _short(entry.said or run.value),
        f"{spent.rounds:,}",
        seconds_words(spent.seconds),
        round(100 * spent.seconds / longest, 1) if longest else 0.0,
    )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
