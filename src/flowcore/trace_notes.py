"""What a visit told by itself, as lines: calls of models and tools, events, artifacts, failed attempts."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from .errors import Failure
from .events import (
    ArtifactAdded,
    ContextCompacted,
    Custom,
    ModelFinished,
    ModelRequested,
    NodeRetrying,
    ToolFinished,
    ToolStarted,
)
from .value_text import ValuePrinter, escaped
from .visit import Note

__all__ = ["compacted_words", "note_lines"]

_Call = tuple[bool, object]
"""Whether a tool was called and not a model, and the id of the call; a model may use an id twice."""
_ENDS = (ModelFinished, ToolFinished)


def note_lines(notes: Sequence[Note], retried: Iterable[Failure], printer: ValuePrinter) -> Iterator[str]:
    """Yield a line for each thing that a visit told, in the order in which it began.

    What happened while several calls were under way at once is sorted, since its order is chance.
    """
    ends: defaultdict[_Call, deque[Note]] = defaultdict(deque)
    for note in notes:
        if note.event in _ENDS:
            ends[_call(note)].append(note)
    failures = iter(retried)
    beside: list[str] = []
    under_way: set[_Call] = set()
    for note in notes:
        if note.event in (ModelRequested, ToolStarted):
            under_way.add(_call(note))
            mine = ends[_call(note)]
            beside.append(_begun(note, mine.popleft() if mine else None, printer))
        elif note.event in _ENDS:
            if note.event is ToolFinished and _call(note) not in under_way:  # it was refused, and never began
                mine = ends[_call(note)]
                beside.append(_tool_line(note, "", mine.popleft() if mine else note, printer))
            under_way.discard(_call(note))
        elif note.event is NodeRetrying:
            beside += [f"retried after {printer.failure(failure)}" for failure in islice(failures, 1)]
        elif note.event in (Custom, ArtifactAdded, ContextCompacted):
            beside.append(_said(note, printer))
        if not under_way:
            yield from sorted(beside)
            beside = []
    yield from sorted(beside)
    yield from (f"retried after {printer.failure(failure)}" for failure in failures)


def _call(note: Note) -> _Call:
    return (True, note.values["call"]) if "call" in note.values else (False, note.values["request"])


def _begun(note: Note, end: Note | None, printer: ValuePrinter) -> str:
    if note.event is ToolStarted:
        return _tool_line(note, printer.text(note.values["arguments"]), end, printer)
    why = f" ({note.values['why']})" if note.values["why"] else ""
    line = f"call model {escaped(note.values['model'])}{why}"
    if end is None:
        return f"{line}  [unfinished]"
    tokens, cost = end.values["tokens"], end.values["cost"]
    about = "about " if end.values["estimated"] else ""
    used = [f"{about}{tokens} token{'' if tokens == 1 else 's'}"] if tokens else []
    used += [f"cost {printer.text(float(cost))}"] if cost else []
    if used:
        line += f"  {', '.join(used)}"
    return line if end.values["failure"] is None else f"{line}  [failed] {printer.failure(end.values['failure'])}"


def _tool_line(note: Note, arguments: str, end: Note | None, printer: ValuePrinter) -> str:
    status = "unfinished" if end is None else end.values["status"]
    line = f"call tool {escaped(note.values['tool'])}" + (f" {arguments}" if arguments else "")
    mark = "" if status == "ok" else f"  [{status}]"
    return f"{line}{mark}" if end is None else f"{line}{mark}  {printer.text(end.values['text'])}"


def compacted_words(values: Mapping[str, Any]) -> str:
    """Return how messages became fewer or shorter."""
    sizes = (
        f"{values[f'{what}_before']:,} → {values[f'{what}_after']:,} {what}" for what in ("messages", "tokens")
    )
    return f"{escaped(values['how'])} {escaped(values['field'])}: {', '.join(sizes)}"


def _said(note: Note, printer: ValuePrinter) -> str:
    if note.event is ContextCompacted:
        return f"context {compacted_words(note.values)}"
    name = escaped(note.values["name"])
    if note.event is Custom:
        return f"emit {name} = {printer.text(note.values['data'], f'emit.{name}')}"
    shown = printer.text(note.values["data"], f"artifact.{name}")
    return f"artifact {name} = {shown}  ({escaped(note.values['media_type'])})"
