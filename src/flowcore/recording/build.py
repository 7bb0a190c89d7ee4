"""Recording a run: from its trace, as it stands at that moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, cast

from ..errors import Failure
from ..events import ArtifactAdded, ContextCompacted, Custom, ModelFinished, ModelRequested, NodeRetrying
from ..frame import Frame
from ..graph import signature_of_data
from ..scope import Usage
from ..trace import Trace
from ..trace_events import OpenVisit
from ..trace_notes import compacted_words
from ..value_text import ValuePrinter
from ..visit import Note, VisitRecord, path_of
from .changes import changes
from .declared import Limits, read_flow
from .recording import Fault, ModelCall, Recording, Said, Spent, VisitData
from .tool_calls import asked, tool_calls

__all__ = ["Recorded", "recording_of"]

_LONGEST = 4_000
"""Characters that are kept of a text in a value; of a longer one its length and a mark are told."""
_MOST = 200
"""Items that are kept of a list, a dict, a set or a log in a value; of more their number is told."""
_PRINTER = ValuePrinter(masked=False, longest=_LONGEST, most=_MOST)


def recording_of(
    trace: Trace, *, name: str = "", title: str = "", under_way: Iterable[OpenVisit] = ()
) -> Recording:
    """Return a run as plain data. Of a run that goes on, what has happened so far.

    Args:
        trace: The trace of the run.
        name: What the run is known by, such as the id of a question.
        title: What it was about, such as the question.
        under_way: The visits that have begun and not ended.
    """
    recorded = Recorded(trace)
    visits = [*recorded.ended(), *recorded.running(under_way)]
    visits.sort(key=lambda visit: visit.seq)
    return recorded.whole(name, title, visits)


class Recorded:
    """A trace, recorded bit by bit: each visit is looked at once, however often one asks."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._printer = ValuePrinter(masked=False, longest=_LONGEST, most=_MOST)
        self._values: dict[int, dict[str, Any]] = {}
        self._read = 0
        self._read_notes = 0
        self._told: dict[str, list[Note]] = {}

    def ended(self, most: int | None = None) -> list[VisitData]:
        """Return the visits that have ended since the last time, in their order of ending; `most` at once."""
        end = None if most is None else self._read + most
        fresh = self._trace.records[self._read : end]
        self._read += len(fresh)
        self._hear()
        return [self._visit(record) for record in fresh]

    def running(self, under_way: Iterable[OpenVisit]) -> list[VisitData]:
        """Return the visits that have begun and not ended."""
        self._hear()
        return [self._open_visit(*visit) for visit in under_way]

    def whole(self, name: str, title: str, visits: Iterable[VisitData]) -> Recording:
        """Return the recording of these visits with everything that is known of the run."""
        trace, ending, printer = self._trace, self._trace.ending, self._printer
        declared = trace.declared()
        known: dict[str, Any] = {"status": "running", "spent": Spent()}
        if ending is not None:
            known = {
                "status": ending.status,
                "value": printer.text(ending.value) if ending.status == "completed" else "",
                "failure": _fault(ending.failure),
                "exhausted": ending.exhausted,
                "reason": ending.reason,
                "stragglers": ending.stragglers,
                "spent": _spent(ending.usage),
            }
        return Recording(
            name=name,
            title=title,
            flow=read_flow(declared),
            signature=signature_of_data(declared),
            run_id=trace.run_id,
            began=trace.began,
            budget=_limits(trace),
            state={field: printer.text(value) for field, value in trace.root.start.items()},
            visits=tuple(visits),
            **known,
        )

    def _hear(self) -> None:
        notes = self._trace.notes
        for note in notes[self._read_notes :]:
            self._told.setdefault(path_of(note.where), []).append(note)
        self._read_notes = len(notes)

    def _visit(self, record: VisitRecord) -> VisitData:
        frame, printer, patch = record.frame, self._printer, record.patch
        values = self._values.setdefault(id(frame), dict(frame.start))
        changed = changes(values, patch, printer) if patch else ()
        values.update(patch)
        path = frame.path_of(record.node, record.number)
        why = record.told.why
        finish = frame.finish
        return VisitData(
            path=path,
            node=record.node,
            number=record.number,
            seq=record.first_seq,
            round=record.round,
            charged=record.charged,
            walk_round=record.walk_round,
            attempts=record.told.attempts,
            kind=record.kind,
            label=record.way.label,
            target=record.way.target,
            edge=record.way.edge,
            why=None if why is None else {key: printer.text(value) for key, value in why.items()},
            changes=changed,
            failure=_fault(record.failure),
            retried=self._retried(path),
            **self._heard(path),
            **_walk(frame),
            finish=finish[2] if finish is not None and finish[:2] == (record.node, record.number) else "",
            started=record.started,
            ended=record.ended,
            spent=_spent(Usage.of(record.counters)),
        )

    def _open_visit(
        self, seq: int, at: float, round: int, charged: bool, frame: Frame, node: str, number: int
    ) -> VisitData:
        path = frame.path_of(node, number)
        return VisitData(
            path=path,
            node=node,
            number=number,
            seq=seq,
            round=round,
            charged=charged,
            walk_round=frame.rounds,
            attempts=1 + len(self._retried(path)),
            kind="running",
            retried=self._retried(path),
            **self._heard(path),
            **_walk(frame),
            started=at,
            ended=None,
            spent=Spent(),
        )

    def _retried(self, path: str) -> tuple[tuple[float, Fault], ...]:
        notes = [note for note in self._told.get(path, ()) if note.event is NodeRetrying]
        return tuple((note.at, cast(Fault, _fault(note.values["failure"]))) for note in notes)

    def _heard(self, path: str) -> Mapping[str, Any]:
        """Return what a visit told by itself, and its requests."""
        said: list[Said] = []
        calls: dict[int, ModelCall] = {}
        for note in self._told.get(path, ()):
            values = note.values
            if note.event is Custom:
                text = self._printer.text(values["data"])
                said.append(Said(kind="custom", name=values["name"], text=text, at=note.at))
            elif note.event is ArtifactAdded:
                text = f"{values['media_type']} {self._printer.text(values['data'])}"
                said.append(Said(kind="artifact", name=values["name"], text=text, at=note.at))
            elif note.event is ContextCompacted:
                said.append(Said(kind="context", name=note.event.kind, text=compacted_words(values), at=note.at))
            elif note.event is ModelRequested:
                calls[values["request"]] = ModelCall(model=values["model"], why=values["why"], started=note.at)
            elif note.event is ModelFinished:
                used = {name: values[name] for name in ("tokens", "cost", "estimated")}
                failure = _fault(values["failure"])
                begun = calls[values["request"]]
                calls[values["request"]] = begun.model_copy(update={"ended": note.at, **used, "failure": failure})
        notes = self._told.get(path, ())
        return {
            "asked": asked(notes),
            "tools": tool_calls(notes),
            "said": tuple(said),
            "calls": tuple(calls.values()),
        }


def _walk(frame: Frame) -> Mapping[str, Any]:
    index = "" if frame.index is None else f"[{frame.index}]"
    return {"branch": frame.label or index, "dropped": frame.dropped}


def _fault(failure: Failure | None) -> Fault | None:
    if failure is None:
        return None
    names = ("path", "type", "code", "attempts")
    message = _PRINTER.shortened(failure.message)
    return Fault(message=message, **{name: getattr(failure, name) for name in names})


def _spent(usage: Usage) -> Spent:
    return Spent(**asdict(usage))


def _limits(trace: Trace) -> Limits:
    return {name: limit for name, limit in asdict(trace.budget).items() if limit is not None}
