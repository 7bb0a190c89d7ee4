"""The calls of tools in a visit, from what was noted of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..events import RequestAnswered, RequestOpened, ToolFinished, ToolProposed, ToolStarted
from ..visit import Note
from .recording import ToolCallData

__all__ = ["tool_calls"]

_LONGEST = 4_000
"""Characters that are kept of arguments and results."""
_OF_CALLS = (ToolProposed, ToolStarted, ToolFinished)


def tool_calls(notes: Iterable[Note]) -> tuple[ToolCallData, ...]:
    """Return each call that was proposed, in the order of the proposals, with what came of it so far."""
    calls: list[ToolCallData] = []
    latest: dict[str, int] = {}
    asked: dict[str, str] = {}
    for note in notes:
        values = note.values
        if note.event is ToolProposed:
            latest[values["call"]] = len(calls)
            calls.append(_proposed(note))
        elif note.event is RequestOpened:
            asked[values["request"]] = values["call"]
        elif note.event is RequestAnswered and values["request"] in asked:
            index = latest[asked[values["request"]]]
            calls[index] = calls[index].model_copy(update={"answer": values["answer"], "by": values["by"]})
        elif note.event in _OF_CALLS and values["call"] in latest:
            index = latest[values["call"]]
            calls[index] = calls[index].model_copy(update=_news(note))
    return tuple(calls)


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
