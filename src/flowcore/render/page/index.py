"""The index: several runs of one flow on one page, each with a link to its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...recording import Recording
from ..shell import page_text, read_text, themed
from .header import outcome, seconds_words

__all__ = ["Entry", "runs_page"]

_HERE = "flowcore.render.page"
_SIGNS = {"ok": "✓", "warn": "!", "error": "✕", "going": "…"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the index: a run with the address of its page; or why there was none."""

    name: str
    about: str
    run: Recording | None
    href: str = ""
    reason: str = ""


def runs_page(flow: str, entries: Sequence[Entry]) -> str:
    """Return the index of runs as one HTML page that needs no other file but the pages that it names."""
    rows = [_row(entry) for entry in entries]
    whole = sum(row["tone"] == "ok" for row in rows)
    words = {"title": flow, "summary": f"{len(rows)} runs, {whole} completed without ado", "rows": rows}
    return page_text(read_text(_HERE, "index.html.j2"), themed(read_text(_HERE, "index.css")), words)


def _row(entry: Entry) -> dict[str, object]:
    row: dict[str, object] = {"name": entry.name, "about": entry.about, "href": entry.href}
    if entry.run is None:
        return {**row, "tone": "error", "sign": _SIGNS["error"], "outcome": entry.reason, "rounds": "", "took": ""}
    ended, spent = outcome(entry.run), entry.run.spent
    return {
        **row,
        "tone": ended.tone,
        "sign": _SIGNS[ended.tone],
        "outcome": ended.words,
        "rounds": spent.rounds,
        "took": seconds_words(spent.seconds),
    }
