"""Models in flows: one budget, one cancellation, and what the run tells of its requests."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from tests.core.runs import does, ends

from flowcore import Budget, BudgetExhausted, Complete, Continue, Flow, Retry, Scope
from flowcore.errors import ModelRequestError, OutputInvalid
from flowcore.events import Event, ModelChunk, ModelFinished, ModelRequested
from flowcore.messages import Chunk, ModelReply, TokenUsage
from flowcore.models import ModelRunner
from flowcore.recording import dump_runs, load_runs, recording_of
from flowcore.testing import FakeClock, ScriptedLine, ScriptedModel

BUSY = ModelRequestError("busy", status=429, retryable=True)


@dataclass
class State:
    said: list[str] = field(default_factory=list)


def asking(id: str, runner: ModelRunner, **options: Any) -> Any:
    """Returns a node that asks a model and keeps what it says."""

    async def ask(step: Any) -> Continue:
        reply = await runner.invoke(id, **options)
        step.state.said.append(str(reply.value))
        return Continue()

    return does(ask, id, State, Continue)


def flow_of(*nodes: Any) -> Flow[Any, Any, Any]:
    """Returns a flow of nodes in a row that completes with what they kept."""
    end = ends(State, lambda step: list(step.state.said))
    rows = [row.to(following) for row, following in zip(nodes, (*nodes[1:], end), strict=True)]
    return Flow("row", *rows, end)


async def told(flow: Flow[Any, Any, Any], **options: Any) -> tuple[Any, list[Event]]:
    async with flow.start(State(), **options) as run:
        events = [event async for event in run.events()]
        return await run.wait(), events


def of_models(events: list[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, ModelRequested | ModelChunk | ModelFinished)]


# ---- One budget --------------------------------------------------------------------------------------------


@pytest.mark.behaviour("S2-43")
async def test_a_node_that_compresses_spends_the_same_quota_as_the_one_that_answers() -> None:
    model = ScriptedModel(["short", "answer", "never"])
    runner = ModelRunner(model)
    flow = flow_of(*(asking(name, runner) for name in ("compress", "answer", "more")))
    result = await flow.run(State(), budget=Budget(requests=2), check=False)
    assert (result.status, result.trace.path, result.usage.requests) == ("failed", "compress > answer > more!", 2)
    assert result.exhausted == "requests"
    assert len(model.requests) == 2


@pytest.mark.behaviour("S2-43")
@pytest.mark.parametrize("how", ["seconds", "cancel"])
async def test_time_and_cancellation_of_the_run_end_the_call_of_a_node_that_compresses(how: str) -> None:
    clock = FakeClock()
    model = ScriptedModel([ScriptedLine("late", wait=60), "never"], clock=clock)
    runner = ModelRunner(model)
    flow = flow_of(asking("compress", runner), asking("answer", runner))
    async with flow.start(State(), clock=clock, budget=Budget(seconds=30)) as run:
        await clock.advance(29)
        assert model.open == 1
        if how == "cancel":
            await run.cancel()
        else:
            await clock.advance(2)
        result = await run.wait()
    assert (result.status, result.exhausted) == (("cancelled", None) if how == "cancel" else ("failed", "seconds"))
    assert (model.open, len(model.requests), result.usage.requests) == (0, 1, 1)


@pytest.mark.behaviour("S2-71")
async def test_a_reviewer_with_a_model_spends_from_the_runner_and_budget_it_is_given() -> None:
    model = ScriptedModel(["draft", "good"])
    runner = ModelRunner(model)
    flow = flow_of(asking("generate", runner), asking("review", runner))
    async with Scope(Budget(requests=2)) as scope:
        result = await flow.run(State(), check=False)
    assert result.value == ["draft", "good"]
    assert [request.messages[0].content for request in model.requests] == ["generate", "review"]
    assert scope.remaining["requests"] == 0
    async with Scope(Budget(requests=1)):
        stopped = await flow_of(
            asking("generate", ModelRunner(ScriptedModel(["draft"]))), asking("review", runner)
        ).run(State(), check=False)
    assert stopped.failure is not None
    assert isinstance(stopped.failure.exception, BudgetExhausted)
    assert len(model.requests) == 2


@pytest.mark.behaviour("A29")
async def test_a_run_whose_answers_are_streamed_and_watched_counts_them_once() -> None:
    async def sink(chunk: Chunk) -> None: ...

    used = []
    for options, watched in (({}, False), ({"sink": sink}, False), ({"sink": sink}, True)):
        model = ScriptedModel([ModelReply("yes", TokenUsage(10, 5), cost=0.25)])
        flow = flow_of(asking("a", ModelRunner(model), **options))
        result = (await told(flow))[0] if watched else await flow.run(State(), check=False)
        used.append((result.usage.requests, result.usage.tokens, result.usage.cost))
    assert used == [(1, 15, 0.25)] * 3


# ---- One cancellation --------------------------------------------------------------------------------------


@pytest.mark.behaviour("A43")
@pytest.mark.parametrize("streams", [True, False])
async def test_after_cancel_has_returned_no_request_is_made_and_none_is_open(streams: bool) -> None:
    async def sink(chunk: Chunk) -> None: ...

    clock = FakeClock()
    line = ScriptedLine(pieces=("a", "b", "c"), pause=10)
    model = ScriptedModel([line, BUSY, *["never"] * 9], clock=clock)
    runner = ModelRunner(model, retry=Retry(attempts=9, wait=1))
    inner = Flow("inner", does(_until_refused(runner, sink if streams else None), "ask", State, Complete[Any]))
    part, end = inner.as_node("part", state=State), ends(State)
    async with Flow("outer", part.to(end), end).start(State(), clock=clock) as run:
        await clock.advance(15)
        assert model.open == 1
        await run.cancel()
        sent = len(model.requests)
        await clock.advance(1_000)
        result = await run.wait()
    assert (result.status, result.stragglers) == ("cancelled", ())
    assert (len(model.requests), model.open, result.usage.requests) == (sent, 0, sent) == (1, 0, 1)


def _until_refused(runner: ModelRunner, sink: Any) -> Any:
    async def ask(step: Any) -> Any:
        while True:
            try:
                await runner.invoke("hello", sink=sink)
            except Exception as error:
                step.state.said.append(repr(error))

    return ask


@pytest.mark.behaviour("A53")
async def test_leaving_a_run_early_closes_the_stream_of_its_model() -> None:
    taken = anyio.Event()

    async def sink(chunk: Chunk) -> None:
        taken.set()

    model = ScriptedModel([ScriptedLine(pieces=("a", "b"), pause=1_000)])
    async with flow_of(asking("a", ModelRunner(model), sink=sink)).start(State()) as run:
        async with aclosing(run.events()) as events:
            async for event in events:
                if isinstance(event, ModelChunk):
                    break
        await taken.wait()
        assert model.open == 1
    assert model.open == 0
    assert (await run.wait()).status == "cancelled"


# ---- What is told ------------------------------------------------------------------------------------------


async def test_each_request_of_an_invocation_is_told_with_its_reason() -> None:
    clock = FakeClock()
    model = ScriptedModel([BUSY, "wrong", '{"value": 7}'])
    runner = ModelRunner(model, retry=Retry(attempts=2, wait=0))
    async with flow_of(asking("a", runner, output=int)).start(State(), clock=clock) as run:
        events = of_models([event async for event in run.events()])
        result = await run.wait()
    asked = [(event.request, event.why, event.path) for event in events if isinstance(event, ModelRequested)]
    assert asked == [(1, "", "a#1"), (2, "retry", "a#1"), (3, "repair", "a#1")]
    over = [event for event in events if isinstance(event, ModelFinished)]
    assert [(event.request, event.failure and event.failure.code) for event in over] == [
        (1, "model_request"),
        (2, None),
        (3, None),
    ]
    assert [event.estimated for event in over] == [False, True, True]
    assert sum(event.tokens for event in over) == result.usage.tokens
    text = result.trace.to_text()
    assert "call model ScriptedModel  [failed] ModelRequestError: busy" in text
    assert f"call model ScriptedModel (retry)  about {over[1].tokens} tokens" in text
    assert f"call model ScriptedModel (repair)  about {over[2].tokens} tokens" in text


async def test_requests_stand_in_the_recording_and_in_a_trace_file() -> None:
    lines = [BUSY, ModelReply("yes", TokenUsage(4, 1), cost=0.5), "estimated"]
    runner = ModelRunner(ScriptedModel(lines), retry=Retry(attempts=2, wait=0))
    result = await flow_of(asking("a", runner), asking("b", runner)).run(State(), check=False)
    recording = recording_of(result.trace)
    calls = [call for visit in recording.visits for call in visit.calls]
    assert [(call.why, call.tokens > 0, call.cost, call.estimated) for call in calls] == [
        ("", False, 0.0, False),
        ("retry", True, 0.5, False),
        ("", True, 0.0, True),
    ]
    assert load_runs(dump_runs([recording])) == [recording]


@pytest.mark.behaviour("S2-53")
async def test_an_observer_that_fails_changes_nothing_and_a_sink_that_fails_is_the_failure_of_the_node() -> None:
    def failing(event: Event) -> None:
        raise RuntimeError("an observer")

    async def sink(chunk: Chunk) -> None:
        raise RuntimeError("a sink")

    result = await flow_of(asking("a", ModelRunner(ScriptedModel(["yes"])))).run(
        State(), check=False, observers=[failing]
    )
    assert (result.status, result.value) == ("completed", ["yes"])
    failed = await flow_of(asking("a", ModelRunner(ScriptedModel(["yes"])), sink=sink)).run(State(), check=False)
    assert failed.failure is not None
    assert (failed.status, str(failed.failure)) == ("failed", "RuntimeError: a sink")


@pytest.mark.behaviour("S2-54")
async def test_a_run_whose_pieces_were_seen_and_do_not_fit_has_no_value() -> None:
    seen: list[str] = []

    async def sink(chunk: Chunk) -> None:
        seen.append(chunk.text)

    runner = ModelRunner(ScriptedModel(["half a", "half a"]))
    result, events = await told(flow_of(asking("a", runner, output=int, sink=sink)))
    assert "".join(seen) == "half ahalf a"
    assert (result.status, result.value, events[-1].kind) == ("failed", None, "run.failed")
    assert result.failure is not None
    assert isinstance(result.failure.exception, OutputInvalid)


async def test_who_follows_a_run_sees_the_pieces_which_are_kept_nowhere() -> None:
    async def sink(chunk: Chunk) -> None: ...

    pieces = (Chunk(reasoning="hm"), "one ", "two", Chunk(usage=TokenUsage(1, 1), finish_reason="stop"))
    model = ScriptedModel([ScriptedLine(pieces=pieces)])
    async with flow_of(asking("a", ModelRunner(model), sink=sink)).start(State()) as run:
        live = [event async for event in run.events()]
        kept = [event async for event in run.events()]
        again = [event async for event in run.events(after=3)]
    chunks = [event for event in live if isinstance(event, ModelChunk)]
    assert [(event.request, event.reasoning, event.text, event.path) for event in chunks] == [
        (1, "hm", "", "a#1"),
        (1, "", "one ", "a#1"),
        (1, "", "two", "a#1"),
    ]
    asked = next(event.seq for event in live if isinstance(event, ModelRequested))
    assert {event.seq for event in chunks} == {asked}
    rest = [event for event in live if not isinstance(event, ModelChunk)]
    assert rest == kept
    assert [event.seq for event in rest] == list(range(1, len(rest) + 1))
    assert again == [event for event in kept if event.seq > 3]


async def test_the_late_answer_to_a_run_that_is_over_changes_nothing() -> None:
    reached = anyio.Event()
    go = anyio.Event()

    class Late:
        async def complete(self, request: Any) -> ModelReply[Any]:
            with anyio.CancelScope(shield=True):
                reached.set()
                await go.wait()
            return ModelReply("late", TokenUsage(100, 100), cost=9.0)

    async with flow_of(asking("a", ModelRunner(Late()))).start(State(), grace=0.0) as run:
        await reached.wait()
        await run.cancel()
        result = await run.wait()
        go.set()
        await anyio.wait_all_tasks_blocked()
        seen = [event async for event in run.events()]
    assert (result.status, result.usage.requests, result.usage.tokens, result.usage.cost) == ("cancelled", 1, 0, 0)
    assert [event.kind for event in seen][-1] == "run.cancelled"
    assert run.trace.ending is not None
    assert run.trace.ending.usage.tokens == 0
