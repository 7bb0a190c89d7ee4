"""Streams: the sink is in the main path, and the answer is the same with it and without."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from flowcore import Budget, Scope
from flowcore.clock import SystemClock
from flowcore.errors import ModelRequestError, ModelTimeout, OutputInvalid
from flowcore.messages import Chunk, ModelReply, ModelRequest, TokenUsage, ToolCall
from flowcore.models import ModelRunner
from flowcore.models.patience import Patience
from flowcore.testing import FakeClock, ScriptedLine, ScriptedModel


class City(BaseModel):
    name: str
    people: int


ANSWER = '{"name": "Bonn", "people": 3}'


class Kept:
    """A sink that keeps what it is handed."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []

    async def output(self, chunk: Chunk) -> None:
        self.chunks.append(chunk)

    @property
    def text(self) -> str:
        return "".join(chunk.text for chunk in self.chunks)


@pytest.mark.behaviour("S2-51")
async def test_the_next_piece_is_not_read_before_the_sink_has_taken_the_last() -> None:
    model = ScriptedModel([ScriptedLine(pieces=tuple("abcdef"))])
    order: list[tuple[str, int]] = []

    async def slow(chunk: Chunk) -> None:
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
            assert model.given == len(order) + 1
        order.append((chunk.text, model.given))

    async with Scope():
        reply = await ModelRunner(model).invoke("hello", sink=slow)
    assert order == [*zip("abcdef", range(1, 7), strict=True), ("", 7)]
    assert reply.text == "abcdef"


@pytest.mark.behaviour("S2-52", "A29")
@pytest.mark.parametrize("output", [None, City])
async def test_with_a_sink_the_reply_is_the_same_and_counts_once(output: Any) -> None:
    said = ModelReply(ANSWER, TokenUsage(20, 9, 5, 2), cost=0.5, reasoning="a city", model="m-1", id="r1")
    pieces = (
        Chunk(reasoning="a "),
        Chunk(reasoning="city", usage=TokenUsage(20, 1)),
        *(Chunk(text=letter) for letter in ANSWER),
        Chunk(usage=TokenUsage(20, 5), model="m-1", id="r1"),
        Chunk(usage=TokenUsage(20, 9, 5, 2), finish_reason="stop"),
    )
    model = ScriptedModel([said, ScriptedLine(pieces=pieces)])
    runner = ModelRunner(model, prices=lambda name, usage: 0.5)
    sink = Kept()
    async with Scope() as plain:
        whole = await runner.invoke("hello", output=output)
    async with Scope() as streamed:
        again = await runner.invoke("hello", output=output, sink=sink)
    assert again == whole
    assert whole.value == (ANSWER if output is None else City(name="Bonn", people=3))
    assert (again.reasoning, again.text) == ("a city", ANSWER)
    assert sink.chunks == list(pieces)
    assert plain.used == streamed.used
    assert (streamed.used.requests, streamed.used.tokens, streamed.used.cost) == (1, 29, 0.5)


async def test_a_model_that_does_not_stream_hands_its_answer_on_in_whole() -> None:
    class Whole:
        async def complete(self, request: ModelRequest) -> ModelReply[Any]:
            calls = (ToolCall("1", "clock", "{}"), ToolCall("2", "clock", "{}"))
            return ModelReply("hello", TokenUsage(1, 1), reasoning="hm", tool_calls=calls)

    sink = Kept()
    async with Scope():
        reply = await ModelRunner(Whole()).invoke("hello", sink=sink)
    assert [(chunk.reasoning, chunk.text, chunk.call_id) for chunk in sink.chunks] == [
        ("hm", "", ""),
        ("", "hello", ""),
        ("", "", "1"),
        ("", "", "2"),
        ("", "", ""),
    ]
    assert reply.usage.total == 2


@pytest.mark.behaviour("S2-53")
@pytest.mark.parametrize("error", [ValueError("full"), ConnectionResetError("the reader is gone")])
async def test_what_the_sink_raises_is_raised_and_the_answer_is_closed(error: Exception) -> None:
    async def full(chunk: Chunk) -> None:
        if model.given == 2:
            raise error

    model = ScriptedModel([ScriptedLine(pieces=tuple("abcdef")), "never"])
    async with Scope() as scope:
        with pytest.raises(type(error)) as caught:
            await ModelRunner(model).invoke("hello", sink=full)
    assert caught.value is error
    assert (model.given, model.open, len(model.requests), scope.used.requests) == (2, 0, 1, 1)


@pytest.mark.behaviour("S2-54")
async def test_pieces_that_were_seen_are_no_answer_until_they_fit() -> None:
    sink = Kept()
    model = ScriptedModel(['{"name": "Bonn"}', '{"name": "Bonn", "people": "many"}'])
    async with Scope() as scope:
        with pytest.raises(OutputInvalid) as caught:
            await ModelRunner(model).invoke("hello", output=City, sink=sink)
    assert sink.text == '{"name": "Bonn"}{"name": "Bonn", "people": "many"}'
    assert caught.value.text == '{"name": "Bonn", "people": "many"}'
    assert scope.used.requests == 2


@pytest.mark.parametrize("told", [True, False])
async def test_a_stream_that_breaks_counts_what_it_used(told: bool) -> None:
    pieces = (Chunk(text="four"), Chunk(text="more", usage=TokenUsage(20, 7) if told else None))
    model = ScriptedModel([ScriptedLine(pieces=pieces, breaks=ModelRequestError("cut", status=502))])
    runner = ModelRunner(model)
    asked = runner.prepare().measure("hello").tokens
    async with Scope() as scope:
        with pytest.raises(ModelRequestError, match="cut"):
            await runner.invoke("hello", sink=Kept())
    assert (scope.used.requests, scope.used.tokens) == (1, 27 if told else asked + 2)


async def test_a_stream_without_an_end_is_no_answer() -> None:
    class Cut(ScriptedModel):
        async def stream(self, request: ModelRequest) -> Any:
            self.requests.append(request)
            yield Chunk(text="half of")

    model = Cut([])
    async with Scope():
        with pytest.raises(
            ModelRequestError, match="broke off before its end; 1 piece of the answer had been"
        ) as caught:
            await ModelRunner(model).invoke("hello", sink=Kept())
    assert caught.value.text == "half of"
    assert len(model.requests) == 1


@pytest.mark.behaviour("A53")
async def test_a_stream_that_is_cancelled_is_closed_and_counts_what_came() -> None:
    clock = FakeClock()
    line = ScriptedLine(pieces=(Chunk(text="a", usage=TokenUsage(5, 1)), "b", "c"), pause=10)
    model = ScriptedModel([line], clock=clock)
    runner = ModelRunner(model, clock=clock)
    sink = Kept()
    async with Scope() as scope, anyio.create_task_group() as group:

        async def ask() -> None:
            await runner.invoke("hello", sink=sink)

        group.start_soon(ask)
        await clock.advance(11)
        assert (sink.text, model.open) == ("ab", 1)
        group.cancel_scope.cancel()
    assert (sink.text, model.open, scope.used.requests, scope.used.tokens) == ("ab", 0, 1, 6)


async def test_only_the_model_is_waited_for_in_vain_and_not_the_sink() -> None:
    clock = FakeClock()
    lines = [ScriptedLine(pieces=("a", "b", "c"), wait=20, pause=3), ScriptedLine(pieces=("a", "b"), pause=6)]
    model = ScriptedModel([*lines, ScriptedLine(pieces=tuple("abcdefghij"), pause=4)], clock=clock)
    runner = ModelRunner(model, clock=clock, timeout=30, piece_timeout=5)
    ended: list[str] = []

    async def slow(chunk: Chunk) -> None:
        await clock.sleep(100)

    async def ask(sink: Any) -> None:
        try:
            ended.append((await runner.invoke("hello", sink=sink)).text)
        except ModelTimeout as error:
            ended.append(str(error).partition(";")[0])

    async with Scope():
        for sink in (slow, Kept(), Kept()):
            async with anyio.create_task_group() as group:
                group.start_soon(ask, sink)
                await clock.advance(1_000)
    assert ended == ["abc", "no further piece of the answer within 5 s", "no whole answer within 30 s"]
    assert model.open == 0


# ---- However it is cut -------------------------------------------------------------------------------------


@st.composite
def cut(draw: st.DrawFn) -> tuple[str, str, tuple[str, ...], list[Chunk]]:
    """A text, thoughts, arguments of calls, and pieces that are together just that."""
    text, thought = draw(st.text(max_size=20)), draw(st.text(max_size=20))
    arguments = tuple(draw(st.lists(st.text(max_size=12), max_size=3)))
    chunks = [Chunk(text=letter) for letter in text]
    others = [Chunk(reasoning=letter) for letter in thought]
    calls = [
        [Chunk(call=place, call_id=f"c{place}", call_name="f")]
        + [Chunk(call=place, arguments=letter) for letter in said]
        for place, said in enumerate(arguments)
    ]
    told = [
        Chunk(usage=TokenUsage(10, tokens)) for tokens in sorted(draw(st.lists(st.integers(0, 9), max_size=4)))
    ]
    lanes = [chunks, others, *calls, told]
    mixed: list[Chunk] = []
    while any(lanes):
        lane = draw(st.sampled_from([lane for lane in lanes if lane]))
        mixed.append(lane.pop(0))
    return text, thought, arguments, [*mixed, Chunk(usage=TokenUsage(10, 10), finish_reason="stop")]


@settings(deadline=None)
@given(cut())
def test_however_an_answer_is_cut_into_pieces_it_is_the_same(
    case: tuple[str, str, tuple[str, ...], list[Chunk]],
) -> None:
    text, thought, arguments, chunks = case

    async def play() -> None:
        sink = Kept()
        model = ScriptedModel([ScriptedLine(pieces=tuple(chunks))])
        async with Scope(Budget(requests=1)) as scope:
            reply = await ModelRunner(model).invoke("hello", sink=sink)
        assert (reply.text, reply.reasoning, reply.value) == (text, thought, text)
        assert reply.tool_calls == tuple(ToolCall(f"c{place}", "f", said) for place, said in enumerate(arguments))
        assert reply.usage == TokenUsage(10, 10)
        assert sink.chunks == chunks
        assert (scope.used.requests, scope.used.tokens) == (1, 20)

    anyio.run(play)


@pytest.mark.parametrize(("timeout", "piece_timeout"), [(None, 0.01), (0.01, None), (5, 0.01)])
async def test_a_stream_that_stands_still_is_ended_in_real_time_too(
    timeout: float | None, piece_timeout: float | None
) -> None:
    sink = Kept()
    model = ScriptedModel([ScriptedLine(pieces=("a", "b"), pause=60)])
    async with Scope() as scope:
        with pytest.raises(ModelTimeout, match=r"within 0\.01 s; 1 piece of the answer had been handed") as caught:
            await ModelRunner(model, timeout=timeout, piece_timeout=piece_timeout).invoke("hello", sink=sink)
    assert caught.value.text == "a"
    assert (sink.text, model.open, scope.used.requests) == ("a", 0, 1)


async def test_a_slow_sink_is_not_ended_in_real_time() -> None:
    async def slow(chunk: Chunk) -> None:
        await anyio.sleep(0.03)

    async with Scope():
        runner = ModelRunner(ScriptedModel(["one two three"]), timeout=0.02, piece_timeout=0.02)
        assert (await runner.invoke("hello", sink=slow)).text == "one two three"


class Counting(SystemClock):
    """The real time, which counts how often somebody slept."""

    def __init__(self) -> None:
        self.sleeps = 0

    async def sleep(self, seconds: float) -> None:
        self.sleeps += 1
        await super().sleep(seconds)


async def test_who_watches_over_a_stream_rests_while_a_sink_is_at_work() -> None:
    """However little of the time is left: here nearly none."""
    clock = Counting()
    patience = Patience(clock, 0.2, 5.0)

    async def work() -> str:
        await patience.first(lambda: anyio.sleep(0.15))
        patience._left = 1e-9
        await anyio.sleep(0.2)
        with pytest.raises(anyio.get_cancelled_exc_class()) as late:
            await patience.piece(lambda: anyio.sleep(5))
        raise late.value

    with pytest.raises(ModelTimeout, match=r"no whole answer within 0\.2 s"):
        await patience.watched(work)
    assert clock.sleeps < 9


class Stop(BaseException):
    """What ends a program, or a test."""


async def test_what_a_sink_raises_comes_out_as_it_is_whatever_it_is() -> None:
    stop = Stop()

    async def sink(chunk: Chunk) -> None:
        raise stop

    async with Scope():
        with pytest.raises(Stop) as caught:
            await ModelRunner(ScriptedModel(["a b"])).invoke("hello", sink=sink)
    assert caught.value is stop
