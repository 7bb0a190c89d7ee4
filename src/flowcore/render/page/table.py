"""The table: the visits of a run for readers without a script, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...recording import Recording, VisitData
from ..marks import outcome_of
from ..words import visible
from .entries import Entry, Line, change_line, entries
from .header import seconds_words

__all__ = ["MOST_ROWS", "Row", "table_rows"]

MOST_ROWS = 2_000
_LONGEST = 160


class Row(NamedTuple):
    """One visit. All texts are visible, and cut where they are long."""

    number: int
    round: str
    path: str
    tone: str
    """The outcome as a class of its row."""
    words: str
    """The outcome, and the failure."""
    began: str
    took: str
    target: str
    why: str
    changes: tuple[str, ...]
    calls: tuple[str, ...]


def table_rows(run: Recording) -> Iterator[Row]:
    """Yield the rows of a run in the order in which its visits began, as many as a table may have."""
    visits = sorted(run.visits, key=lambda visit: visit.seq)[:MOST_ROWS]
    return (_row(number, visit) for number, visit in enumerate(visits, 1))


def _row(number: int, visit: VisitData) -> Row:
    outcome = outcome_of(visit)
    words = outcome if visit.failure is None else f"{outcome}: {visit.failure}"
    values = ", ".join(f"{key} = {value}" for key, value in (visit.why or {}).items())
    return Row(
        number=number,
        round=str(visit.round or ""),
        path=_short(visit.path),
        tone=outcome.replace(" ", "-"),
        words=_short(f"{words}, dropped" if visit.dropped else words),
        began=seconds_words(visit.started),
        took="" if visit.ended is None else seconds_words(visit.ended - visit.started),
        target=_short(visit.target or ("the end" if visit.kind == "complete" else "")),
        why=_short(": ".join(filter(None, (visit.label, values)))),
        changes=tuple(_short(_change(change_line(change))) for change in visit.changes),
        calls=tuple(_short(_call(entry)) for entry in entries(visit)),
    )


def _change(line: Line) -> str:
    return f"{line.sign} {line.place} {line.joint} {line.now}"


def _call(entry: Entry) -> str:
    told = (entry.words, *entry.texts, "" if entry.failure is None else str(entry.failure))
    return ": ".join(filter(None, (f"{entry.sign} {entry.what} {entry.name}", " → ".join(filter(None, told)))))


def _short(text: str) -> str:
    return visible(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters)")
