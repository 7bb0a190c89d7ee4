"""Spans: a run told to OpenTelemetry after it ended, with the times and the nesting that it had."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ..errors import ExportError
from ..recording import Fault, ModelCall, Recording, VisitData
from .tracks import Span, Tracks, nanoseconds
from .words import route_words

if TYPE_CHECKING:
    from opentelemetry.trace import Span as OpenSpan
    from opentelemetry.trace import SpanKind, Tracer, TracerProvider

__all__ = ["export_spans"]

_EPOCH = datetime.fromtimestamp(0, UTC)
Attributes = Mapping[str, str | int | float | bool | tuple[str, ...]]


def export_spans(run: Recording, tracer_provider: TracerProvider) -> None:
    """Make the spans of a run: one for the run, one for each visit inside that of what it stands in, and one for
    each request of a model. Names and attributes follow the conventions for generative AI where there are any;
    the others begin with `flowcore.`. Values of the state, and what was asked and answered, are not told.

    Args:
        run: A run that has ended, or what has happened so far of one that goes on.
        tracer_provider: Where the spans go. The provider says what becomes of them: exporting, sampling, batches.

    Raises:
        ExportError: The extra `otel` is missing.
    """
    try:
        from opentelemetry.trace import SpanKind  # noqa: PLC0415 - opentelemetry is an extra
    except ModuleNotFoundError as error:
        raise ExportError('spans need opentelemetry; install it with pip install "flowcore[otel]"') from error
    began = _EPOCH if run.began is None else run.began
    spans = _Spans(tracer_provider.get_tracer("flowcore"), (began - _EPOCH) // timedelta(microseconds=1) * 1_000)
    tracks = Tracks(run)
    kind = SpanKind.INTERNAL
    root = spans.begin(f"invoke_workflow {run.flow.name}", kind, tracks.whole, None, _of_run(run))
    around: dict[str, OpenSpan] = {}
    ends: list[_Ending] = [_Ending(root, tracks.whole, run.failure if run.status == "failed" else None)]
    for placed in tracks.placed:
        visit, call = placed.visit, placed.call
        if call is not None:
            name = f"chat {call.model}".rstrip()
            made = spans.begin(name, SpanKind.CLIENT, placed.span, around[visit.path], _of_call(call))
            ends.append(_Ending(made, placed.span, call.failure))
        else:
            made = spans.begin(visit.node, kind, placed.span, around.get(visit.around, root), _of_visit(visit))
            around[visit.path] = made
            spans.tell(made, visit)
            ends.append(_Ending(made, placed.span, visit.failure))
    for ending in reversed(ends):
        spans.end(ending)


@dataclass(frozen=True, slots=True)
class _Ending:
    """A span that has begun, and how it is to end."""

    made: OpenSpan
    span: Span
    fault: Fault | None


class _Spans:
    """Spans of one tracer, at their times since the run began."""

    def __init__(self, tracer: Tracer, began: int) -> None:
        self._tracer = tracer
        self._began = began

    def begin(
        self, name: str, kind: SpanKind, span: Span, inside: OpenSpan | None, attributes: Attributes
    ) -> OpenSpan:
        """Begin a span inside another one. Without one it belongs to the trace of the caller, if there is one."""
        from opentelemetry.trace import set_span_in_context  # noqa: PLC0415 - opentelemetry is an extra

        context = None if inside is None else set_span_in_context(inside)
        return self._tracer.start_span(
            name, context, kind, attributes=dict(attributes), start_time=self._began + span.start
        )

    def tell(self, made: OpenSpan, visit: VisitData) -> None:
        """Add what a visit emitted and kept, and its failed attempts."""
        for said in visit.said:
            told = {f"flowcore.{said.kind}": said.name}
            made.add_event(f"flowcore.{said.kind}", told, self._began + nanoseconds(said.at))
        for at, fault in visit.retried:
            made.add_event("flowcore.retry", _exception(fault), self._began + nanoseconds(at))

    def end(self, ending: _Ending) -> None:
        """End a span; with a failure as an error."""
        from opentelemetry.trace import Status, StatusCode  # noqa: PLC0415 - opentelemetry is an extra

        at = self._began + ending.span.end
        if (fault := ending.fault) is not None:
            ending.made.set_attribute("error.type", fault.type)
            ending.made.set_status(Status(StatusCode.ERROR, str(fault)))
            ending.made.add_event("exception", _exception(fault), at)
        ending.made.end(at)


def _of_run(run: Recording) -> Attributes:
    return {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": run.flow.name,
        "flowcore.run_id": run.run_id,
        "flowcore.signature": run.signature,
        "flowcore.status": run.status,
        "flowcore.rounds": run.spent.rounds,
        "flowcore.requests": run.spent.requests,
        "flowcore.tool_calls": run.spent.tool_calls,
        "flowcore.tokens": run.spent.tokens,
        "flowcore.cost": run.spent.cost,
        **({"flowcore.name": run.name} if run.name else {}),
        **({"flowcore.exhausted": run.exhausted} if run.exhausted else {}),
        **({"flowcore.reason": run.reason} if run.reason else {}),
    }


def _of_visit(visit: VisitData) -> Attributes:
    return {
        "flowcore.path": visit.path,
        "flowcore.node": visit.declared,
        "flowcore.round": visit.round,
        "flowcore.attempts": visit.attempts,
        "flowcore.kind": visit.kind,
        "flowcore.route": route_words(visit),
        "flowcore.changed": tuple(change.place for change in visit.changes),
        **({"flowcore.exhausted": visit.finish} if visit.finish else {}),
        **({"flowcore.dropped": True} if visit.dropped else {}),
        **{f"flowcore.why.{key}": value for key, value in (visit.why or {}).items()},
    }


def _of_call(call: ModelCall) -> Attributes:
    return {
        "gen_ai.operation.name": "chat",
        **({"gen_ai.request.model": call.model} if call.model else {}),
        "flowcore.tokens": call.tokens,
        "flowcore.cost": call.cost,
    }


def _exception(fault: Fault) -> Attributes:
    return {"exception.type": fault.type, "exception.message": fault.message}
