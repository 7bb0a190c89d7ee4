"""The calls of tools in a visit, and what people were asked in it, from what was noted of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..events import RequestAnswered, RequestOpened, ToolFinished, ToolProposed, ToolStarted
from ..visit import Note
from .recording import AskedData, ToolCallData

__all__ = ["asked", "tool_calls"]

_LONGEST = 4_000
"""Characters that are kept of arguments and results."""
_OF_CALLS = (ToolProposed, ToolStarted, ToolFinished)


def tool_calls(notes: Iterable[Note]) -> tuple[ToolCallData, ...]:
    """Return each call that was proposed, in the order of the proposals, with what came of it so far."""
    calls: list[ToolCallData] = []
    latest: dict[str, int] = {}
    requests: dict[str, str] = {}
    for note in notes:
        values = note.values
        if note.event is ToolProposed:
            latest[values["call"]] = len(calls)
            calls.append(_proposed(note))
        elif note.event is RequestOpened and values["call"] in latest:
            requests[values["request"]] = values["call"]
        elif note.event is RequestAnswered and values["request"] in requests:
            index = latest[requests[values["request"]]]
            calls[index] = calls[index].model_copy(update={"answer": values["answer"], "by": values["by"]})
        elif note.event in _OF_CALLS and values["call"] in latest:
            index = latest[values["call"]]
            calls[index] = calls[index].model_copy(update=_news(note))
    return tuple(calls)


def asked(notes: Iterable[Note]) -> tuple[AskedData, ...]:
    """Return what people were asked beside the calls of tools, in this order, with the answers so far."""
    found: dict[str, AskedData] = {}
    for note in notes:
        values = note.values
        if note.event is RequestOpened and values["asks"] != "tool":
            question, shown = _cut(values["question"]), _cut(values["shown"])
            asking = AskedData(kind=values["asks"], question=question, shown=shown, opened=note.at)
            found[values["request"]] = asking
        elif note.event is RequestAnswered and values["request"] in found:
            closed = {"closed": note.at, "answer": values["answer"], "by": values["by"]}
            found[values["request"]] = found[values["request"]].model_copy(update=closed)
    return tuple(found.values())


def _proposed(note: Note) -> ToolCallData:
    values = note.values
    arguments = _cut(values["arguments"])
    return ToolCallData(id=values["call"], tool=values["tool"], arguments=arguments, proposed=note.at)


def _news(note: Note) -> dict[str, Any]:
    values = note.values
    if note.event is ToolStarted:
        return {"started": note.at, "arguments": _cut(values["arguments"])}
    return {"ended": note.at, "status": values["status"], "text": _cut(values["text"])}


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters)"
