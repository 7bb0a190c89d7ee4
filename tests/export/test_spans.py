"""The OpenTelemetry spans of a run: nested as its visits were, at their times, with their failures."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import SpanKind, StatusCode

from flowcore.errors import ExportError
from flowcore.export import export_spans
from flowcore.recording import Recording

from .runs import BEGAN, by_hand, of_flow, of_nest

START = int(BEGAN.timestamp()) * 10**9 + 678_901_000


class Counted(IdGenerator):
    """Ids in the order in which spans are made."""

    def __init__(self) -> None:
        self._next = iter(range(1, 10**9))

    def generate_span_id(self) -> int:
        return next(self._next)

    def generate_trace_id(self) -> int:
        return next(self._next)


def spans_of(run: Recording) -> Sequence[ReadableSpan]:
    """Returns the spans in the order in which they were made."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(id_generator=Counted(), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    export_spans(run, provider)
    spans = exporter.get_finished_spans()
    provider.shutdown()
    return sorted(spans, key=lambda span: span.context.span_id)


def nesting(spans: Sequence[ReadableSpan]) -> Iterator[tuple[str, str]]:
    names = {span.context.span_id: span.name for span in spans}
    for span in spans:
        yield span.name, "" if span.parent is None else names[span.parent.span_id]


@pytest.mark.behaviour("EXP-2")
def test_a_run_is_a_span_with_its_visits_inside_and_their_requests_inside_of_these() -> None:
    spans = spans_of(by_hand())
    assert list(nesting(spans)) == [
        ("invoke_workflow desk", ""),
        ("search", "invoke_workflow desk"),
        ("fan", "invoke_workflow desk"),
        ("web", "fan"),
        ("docs", "fan"),
        ("chat small-1", "web"),
        ("chat small-1", "web"),
        ("answer", "invoke_workflow desk"),
    ]
    assert len({span.context.trace_id for span in spans}) == 1
    assert [span.kind is SpanKind.CLIENT for span in spans] == [False] * 5 + [True] * 2 + [False]


@pytest.mark.behaviour("EXP-2")
def test_times_are_those_of_the_run_to_the_nanosecond() -> None:
    times = [(span.start_time - START, span.end_time - START) for span in spans_of(by_hand())]  # type: ignore[operator]
    milli = 1_000_000
    assert times == [
        (0, 250 * milli),
        (0, 10 * milli),
        (20 * milli, 200 * milli),
        (30 * milli, 180 * milli),
        (30 * milli, 100 * milli),
        (50 * milli, 150 * milli),
        (60 * milli, 70 * milli),
        (200 * milli, 210 * milli),
    ]


@pytest.mark.behaviour("EXP-2")
def test_attributes_follow_the_conventions_where_there_are_any() -> None:
    run, search, _, _, docs, call, _, answer = (dict(span.attributes or {}) for span in spans_of(by_hand()))
    assert run == {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": "desk",
        "flowcore.run_id": "r-1",
        "flowcore.signature": by_hand().signature,
        "flowcore.status": "completed",
        "flowcore.rounds": 1,
        "flowcore.requests": 2,
        "flowcore.tool_calls": 0,
        "flowcore.tokens": 120,
        "flowcore.cost": 0.5,
        "flowcore.name": "q1",
        "flowcore.exhausted": "rounds",
    }
    assert call == {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "small-1",
        "flowcore.tokens": 120,
        "flowcore.cost": 0.5,
    }
    assert (search["flowcore.path"], search["flowcore.attempts"], search["flowcore.route"]) == (
        "search#1",
        2,
        "next -> fan",
    )
    assert (docs["flowcore.dropped"], docs["error.type"]) == (True, "LookupError")
    assert answer["flowcore.why.n"] == "3"
    assert answer["flowcore.changed"] == ("plain", "log", "facts['z']", "words[0]")
    assert answer["flowcore.exhausted"] == "rounds"


@pytest.mark.behaviour("EXP-2")
def test_a_failure_is_an_error_with_its_exception_and_the_rest_has_no_status() -> None:
    spans = spans_of(by_hand())
    failed = [span for span in spans if span.status.status_code is StatusCode.ERROR]
    assert [(span.name, span.status.description) for span in failed] == [
        ("docs", "LookupError: nothing there"),
        ("chat small-1", "TimeoutError: busy"),
    ]
    (event,) = failed[0].events
    assert (event.name, event.timestamp) == ("exception", START + 100_000_000)
    assert dict(event.attributes or {}) == {
        "exception.type": "LookupError",
        "exception.message": "nothing there",
    }
    others = [span for span in spans if span not in failed]
    assert {span.status.status_code for span in others} == {StatusCode.UNSET}


def test_what_happened_at_a_moment_is_an_event_of_its_visit() -> None:
    spans = spans_of(by_hand())
    told = [(span.name, event.name, event.timestamp - START) for span in spans for event in span.events]
    assert [row for row in told if row[1] != "exception"] == [
        ("search", "flowcore.retry", 5_000_000),
        ("web", "flowcore.custom", 160_000_000),
        ("web", "flowcore.artifact", 170_000_000),
    ]


def test_a_failed_run_is_an_error() -> None:
    run = by_hand()
    failed = run.model_copy(update={"status": "failed", "failure": run.visits[3].failure, "exhausted": None})
    root = spans_of(failed)[0]
    assert (root.status.status_code, root.status.description) == (StatusCode.ERROR, "LookupError: nothing there")
    assert "flowcore.exhausted" not in (root.attributes or {})


@pytest.mark.behaviour("EXP-2")
@pytest.mark.parametrize("chunk", range(2))
async def test_whatever_happened_a_span_lies_in_the_one_around_it_and_none_is_missing(chunk: int) -> None:
    runs = [await of_nest(seed) for seed in range(chunk * 10, chunk * 10 + 10)]
    runs += [await of_flow(seed) for seed in range(chunk * 40, chunk * 40 + 40)]
    for run in runs:
        spans = spans_of(run)
        assert len(spans) == 1 + len(run.visits) + sum(len(visit.calls) for visit in run.visits)
        known = {span.context.span_id: span for span in spans}
        for span in spans[1:]:
            assert span.parent is not None
            outer = known[span.parent.span_id]
            assert outer.start_time <= span.start_time <= span.end_time <= outer.end_time  # type: ignore[operator]
            inner_path = (span.attributes or {}).get("flowcore.path")
            if inner_path is not None and outer.parent is not None:
                around = str((outer.attributes or {})["flowcore.path"])
                assert str(inner_path).startswith((f"{around}/", f"{around}["))


async def test_equal_recordings_give_equal_spans() -> None:
    run = await of_nest(3)
    turned = run.model_copy(update={"visits": run.visits[::-1]})
    assert [span.to_json() for span in spans_of(run)] == [span.to_json() for span in spans_of(turned)]


def test_a_run_belongs_to_the_span_that_its_caller_is_in() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with provider.get_tracer("app").start_as_current_span("request") as outer:
        export_spans(by_hand(), provider)
    root = next(span for span in exporter.get_finished_spans() if span.name == "invoke_workflow desk")
    assert root.parent is not None
    assert root.parent.span_id == outer.get_span_context().span_id
    provider.shutdown()


def test_without_the_extra_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    with pytest.raises(ExportError) as raised:
        export_spans(by_hand(), TracerProvider(shutdown_on_exit=False))
    assert str(raised.value) == 'spans need opentelemetry; install it with pip install "flowcore[otel]"'
