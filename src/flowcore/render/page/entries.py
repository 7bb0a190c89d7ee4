"""The entries of a visit: failed attempts, requests to models and people, calls, and what it told, in one form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...recording import AskedData, Change, Fault, ModelCall, ToolCallData, VisitData

__all__ = ["Entry", "Line", "change_line", "entries"]

_YES = ("approved", "answered", "done")
_TOLD = {"artifact": ("▣", "artifact"), "context": ("◇", "context"), "custom": ("◆", "event")}


class Entry(NamedTuple):
    """One thing that happened in a visit. Times are seconds since the run began."""

    sign: str
    what: str
    name: str
    began: float
    ended: float | None
    """None while it is under way; as `began` for a moment."""
    words: str = ""
    """What it came to: what it spent, or the status of a call."""
    texts: tuple[str, ...] = ()
    """What was given, and what came of it."""
    failure: Fault | None = None


class Line(NamedTuple):
    """One change of the state. The sign is plus for what is there now, minus for what is not there any more."""

    sign: str
    place: str
    joint: str
    now: str
    was: str


def entries(visit: VisitData) -> list[Entry]:
    """Return what happened in a visit, in the order in which it began."""
    found = [*_attempts(visit), *map(_model, visit.calls), *map(_tool, visit.tools), *map(_asked, visit.asked)]
    found += [Entry(*_TOLD[said.kind], said.name, said.at, said.at, texts=(said.text,)) for said in visit.said]
    return sorted(found, key=lambda entry: entry.began)


def change_line(change: Change) -> Line:
    """Return a change as one line."""
    if change.kind == "removed":
        return Line("\N{MINUS SIGN}", change.place, "=", change.was, "")
    was = change.was if change.kind == "changed" else ""
    return Line("+", change.place, "+=" if change.kind == "appended" else "=", change.now, was)


def _attempts(visit: VisitData) -> Iterator[Entry]:
    began = visit.started
    for number, (at, failure) in enumerate(visit.retried, 1):
        yield Entry("↻", "attempt", f"{number} failed", began, at, failure=failure)
        began = at


def _model(call: ModelCall) -> Entry:
    tokens = f"{'about ' if call.estimated else ''}{call.tokens:,} tokens" if call.tokens else ""
    cost = f"cost {call.cost:,.4g}" if call.cost else ""
    words = ", ".join(filter(None, (call.why, tokens, cost)))
    sign = "✕" if call.failure is not None else "●" if call.ended is None else "✓"
    return Entry(sign, "model", call.model, call.started, call.ended, words, failure=call.failure)


def _asked(asked: AskedData) -> Entry:
    answer = asked.answer.replace("_", " ")
    words = f"{answer} by {asked.by}" if asked.by else answer or "waits for an answer"
    sign = "●" if asked.closed is None else "✓" if asked.answer in _YES else "✕"
    texts = (asked.shown,) if asked.shown not in ("", asked.question) else ()
    return Entry(sign, "asked", asked.question, asked.opened, asked.closed, words, texts)


def _tool(call: ToolCallData) -> Entry:
    answer = f"{call.answer} by {call.by}" if call.by else call.answer
    words = ", ".join(filter(None, (call.status.replace("_", " "), answer)))
    sign = "●" if call.ended is None else "✓" if call.status == "ok" else "✕"
    began = call.proposed if call.started is None else call.started
    return Entry(
        sign, "tool", call.tool, began, call.ended, words, tuple(filter(None, (call.arguments, call.text)))
    )
