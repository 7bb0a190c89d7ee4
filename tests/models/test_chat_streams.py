"""A streamed answer is the whole answer, wherever its bytes are split; one that breaks off keeps what came."""

from __future__ import annotations

import json
import threading
from contextlib import aclosing
from itertools import pairwise
from typing import Any

import anyio
import anyio.to_thread
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.models.chats import HELLO, answering, assembled, busy, completion, watched
from tests.servers.faulty import Talk, chunk, event, faulty, head, piece

from flowcore.errors import ModelRequestError, ModelTimeout
from flowcore.messages import ModelReply, TokenUsage, ToolCall
from flowcore.models.chat import ChatModel
from flowcore.models.chat_reply import PieceReader, reply_of
from flowcore.wire import SseReader, read_reply, write_event

DONE = event("[DONE]")
USAGE = {"prompt_tokens": 5, "completion_tokens": 3}
TEXTS = st.text(st.sampled_from('aé€😀\n" '), max_size=12)
CALLS = st.fixed_dictionaries(
    {"id": st.sampled_from(["c1", "c2"]), "name": st.sampled_from(["f", "g"]), "arguments": TEXTS}
)


def cut(text: str, places: list[int]) -> list[str]:
    marks = [0, *sorted(place for place in places if place < len(text)), len(text)]
    return [text[start:stop] for start, stop in pairwise(marks)]


def whole_of(said: dict[str, Any]) -> bytes:
    calls = [
        {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
        for call in said["calls"]
    ]
    message = {"content": said["text"], "reasoning_content": said["thought"], "tool_calls": calls or None}
    return json.dumps(completion(message, said["finish"], usage=USAGE)).encode()


def stream_of(said: dict[str, Any], places: list[int]) -> bytes:
    """Returns the same answer as a stream, each part of it cut at these places."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None}]
    deltas += [{"reasoning_content": part} for part in cut(said["thought"], places)]
    deltas += [{"content": part} for part in cut(said["text"], places)]
    for index, call in enumerate(said["calls"]):
        first, *rest = cut(call["arguments"], places)
        opened = {"index": index, "id": call["id"], "function": {"name": call["name"], "arguments": first}}
        deltas.append({"tool_calls": [opened]})
        deltas += [{"tool_calls": [{"index": index, "function": {"arguments": part}}]} for part in rest]
    shown: list[dict[str, Any]] = [{"id": "c1", "model": "m", "choices": [{"delta": delta}]} for delta in deltas]
    shown.append({"id": "c1", "model": "m", "choices": [{"delta": {}, "finish_reason": said["finish"]}]})
    shown.append({"id": "c1", "model": "m", "choices": [], "usage": USAGE})
    return b"".join(write_event(json.dumps(one)) for one in shown) + write_event("[DONE]")


def read(*parts: bytes) -> ModelReply[Any]:
    reader, pieces = SseReader(), PieceReader()
    events = [one for part in parts for one in reader.feed(part)]
    chunks = [chunk for one in events if one.data != "[DONE]" for chunk in pieces.read(read_reply(one.data))]
    reply = assembled(chunks)
    assert pieces.finish_reason
    return ModelReply(
        reply.text, reply.usage, finish_reason=pieces.finish_reason, tool_calls=reply.tool_calls,
        reasoning=reply.reasoning, model=reply.model, id=reply.id,
    )  # fmt: skip


@pytest.mark.behaviour("MODEL-1")
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.fixed_dictionaries(
        {
            "text": TEXTS,
            "thought": TEXTS,
            "calls": st.lists(CALLS, max_size=3),
            "finish": st.sampled_from(["stop", "length"]),
        }
    ),
    st.lists(st.integers(1, 12), max_size=4),
    st.lists(st.integers(0, 2_000), max_size=20),
)
def test_an_answer_in_pieces_cut_anywhere_is_the_whole_answer(
    said: dict[str, Any], places: list[int], byte_places: list[int]
) -> None:
    whole = reply_of(read_reply(whole_of(said)))
    data = stream_of(said, places)
    marks = [0, *sorted(place for place in byte_places if place < len(data)), len(data)]

    assert read(data) == whole
    assert read(*(data[start:stop] for start, stop in pairwise(marks))) == whole
    assert read(*(data[place : place + 1] for place in range(len(data)))) == whole


def call(index: int | None, id: str | None, name: str | None, arguments: str) -> bytes:
    delta = {"index": index, "id": id, "function": {"name": name, "arguments": arguments}}
    return piece(**{"choices": [{"delta": {"tool_calls": [delta]}}]})


TWO = [("a", "f", "12"), ("b", "g", "3")]


@pytest.mark.parametrize(
    ("events", "calls"),
    [
        ([call(0, "a", "f", "1"), call(0, None, None, "2"), call(1, "b", "g", "3")], TWO),
        ([call(1, "b", "g", "1"), call(0, "a", "f", "2")], [("b", "g", "1"), ("a", "f", "2")]),
        ([call(0, "a", "f", "1"), call(1, "a", "f", "2")], [("a", "f", "1"), ("a", "f", "2")]),
        ([call(0, "a", "f", "1"), call(0, "b", "g", "2")], [("a", "f", "1"), ("b", "g", "2")]),
        ([call(0, "a", "f", "1"), call(0, "a", "f", "2")], [("a", "f", "12")]),
        ([call(None, "a", "f", "1"), call(None, None, None, "2"), call(None, "b", "g", "3")], TWO),
        ([call(None, None, "f", "1"), call(None, None, "g", "2")], [("", "f", "1"), ("", "g", "2")]),
        ([call(0, None, "f", "1"), call(0, "a", None, "2")], [("a", "f", "12")]),
    ],
)  # fmt: skip
async def test_pieces_of_calls_find_their_call(events: list[bytes], calls: list[tuple[str, str, str]]) -> None:
    with faulty(lambda talk: talk.stream(*events, piece(finish="tool_calls"), DONE, end=True)) as server:
        async with ChatModel("m", base_url=server.base_url) as model:
            reply = assembled([chunk async for chunk in model.stream(HELLO)])
    assert reply.tool_calls == tuple(ToolCall(*call) for call in calls)
    assert reply.finish_reason == "tool_calls"


@pytest.mark.parametrize(
    ("events", "finish"),
    [
        ([piece("hi", "stop")], "stop"),
        ([piece("hi", "eos")], "stop"),
        ([piece("hi", "max_tokens")], "length"),
        ([piece("hi"), piece(finish="content_filter"), DONE], "content_filter"),
        ([piece("hi"), DONE], "stop"),
        ([piece("hi", "odd"), DONE], "odd"),
        ([piece("hi"), call(0, "a", "f", ""), piece(finish="stop"), DONE], "tool_calls"),
        ([piece("hi"), call(0, "a", "f", ""), DONE], "tool_calls"),
    ],
)
async def test_why_an_answer_ended_is_told_in_few_words(events: list[bytes], finish: str) -> None:
    with faulty(lambda talk: talk.stream(*events, end=True)) as server:
        async with ChatModel("m", base_url=server.base_url) as model:
            chunks = [chunk async for chunk in model.stream(HELLO)]
    assert [chunk.finish_reason for chunk in chunks if chunk.finish_reason] == [finish]
    assert assembled(chunks).text == "hi"


async def test_a_refusal_is_text_with_its_own_ending() -> None:
    parts = [piece(choices=[{"delta": {"refusal": part}}]) for part in ("No", ".")]
    with faulty(lambda talk: talk.stream(*parts, piece(finish="stop"), DONE, end=True)) as server:
        async with ChatModel("m", base_url=server.base_url) as model:
            streamed = assembled([chunk async for chunk in model.stream(HELLO)])
    with faulty(answering(completion({"content": None, "refusal": "No."}))) as server:
        async with ChatModel("m", base_url=server.base_url) as model:
            whole = await model.complete(HELLO)
    assert (streamed.text, streamed.finish_reason) == (whole.text, whole.finish_reason) == ("No.", "refusal")


@pytest.mark.behaviour("MODEL-6")
async def test_usage_is_replaced_and_not_added_up() -> None:
    told = [
        piece(part, usage={"prompt_tokens": 5, "completion_tokens": so_far})
        for so_far, part in enumerate("abc", 1)
    ]
    last = event({"choices": [], "usage": {**USAGE, "prompt_tokens_details": {"cached_tokens": 4}}})
    with faulty(lambda talk: talk.stream(*told, piece(finish="stop"), last, DONE, end=True)) as server:
        async with ChatModel("m", base_url=server.base_url) as model:
            chunks = [chunk async for chunk in model.stream(HELLO)]
    assert [chunk.usage.output for chunk in chunks if chunk.usage] == [1, 2, 3, 3, 3]
    assert chunks[-1].usage == TokenUsage(5, 3, cached=4)


@pytest.mark.behaviour("MODEL-6")
@pytest.mark.parametrize("streaming", [False, True])
async def test_usage_that_is_not_told_is_estimated_and_says_so(streaming: bool) -> None:
    with faulty(
        (lambda talk: talk.stream(piece("x" * 40, "stop"), DONE, end=True))
        if streaming
        else answering(completion({"content": "x" * 40}))
    ) as server:
        async with ChatModel("m", base_url=server.base_url) as model:
            if streaming:
                usage = [chunk async for chunk in model.stream(HELLO)][-1].usage
            else:
                usage = (await model.complete(HELLO)).usage
            sent = len(model.payload(HELLO))
    assert usage == TokenUsage(-(-sent // 4), 10, estimated=True)


async def broken(
    *events: bytes, end: bool, timeout: float = 20.0
) -> tuple[list[str], ModelRequestError | ModelTimeout]:
    """Returns the texts that came before the failure, and the failure."""
    texts: list[str] = []

    def behave(talk: Talk) -> None:
        talk.stream(*events, end=end)
        if timeout < 20:
            talk.wait_until_left()
        talk.cut()

    with faulty(behave) as server:
        async with watched(server.base_url, timeout=timeout) as (model, client):

            async def listen() -> None:
                async for one in model.stream(HELLO):
                    texts.append(one.text)  # noqa: PERF401 - what came before the failure is kept

            with pytest.raises((ModelRequestError, ModelTimeout)) as caught:
                await listen()
            assert busy(client) == []
    return texts, caught.value


@pytest.mark.parametrize(
    ("events", "end", "said"),
    [
        ([], False, "peer closed connection without sending complete message body"),
        ([], True, "it ended before it was whole"),
        ([event("{broken")], True, "one of its events is no piece of a chat completion: {broken"),
        ([event("[]")], True, "one of its events is no piece of a chat completion: []"),
        ([b"data: " + b"x" * (17 * 2**20)], False, "an event of the stream is larger than 16,777,216 bytes"),
    ],
)
async def test_a_stream_that_breaks_off_is_an_error_that_keeps_what_came(
    events: list[bytes], end: bool, said: str
) -> None:
    texts, error = await broken(piece("so "), piece("far"), *events, end=end)
    assert isinstance(error, ModelRequestError)
    assert f"/v1/chat/completions was cut: {said}" in str(error)
    assert (texts, error.text) == (["so ", "far"], "so far")
    assert (error.status, error.retryable) == (None, True)


@pytest.mark.behaviour("MODEL-3", "MODEL-4")
async def test_a_stream_that_falls_silent_is_late_and_keeps_what_came() -> None:
    texts, error = await broken(piece("so far"), end=False, timeout=1.0)
    assert isinstance(error, ModelTimeout)
    assert str(error).endswith("no further piece of the answer within 1 s")
    assert (texts, error.text, error.seconds) == (["so far"], "so far", 1.0)


@pytest.mark.parametrize(
    ("fault", "status", "retryable", "said"),
    [
        (event({"error": {"message": "Overloaded", "code": 529}}), 529, True, "Overloaded"),
        (event({"error": {"message": "No such thing", "code": 400}}), 400, False, "No such thing"),
        (event({"error": "it fell"}), None, True, "it fell"),
        (b"event: error\n" + event("it fell"), None, True, "it fell"),
    ],
)
async def test_a_failure_said_amid_a_stream_is_raised(
    fault: bytes, status: int | None, retryable: bool, said: str
) -> None:
    texts, error = await broken(piece("so far"), fault, end=True)
    assert isinstance(error, ModelRequestError)
    assert str(error).endswith(f"/v1/chat/completions failed amid its answer: {said}")
    assert (texts, error.text, error.status, error.retryable) == (["so far"], "so far", status, retryable)


@pytest.mark.parametrize("end", [False, True])
async def test_after_why_it_ended_an_answer_is_whole_whatever_breaks(end: bool) -> None:
    def behave(talk: Talk) -> None:
        talk.stream(piece("hi", "stop"), end=end)
        talk.cut()

    with faulty(behave) as server:
        async with ChatModel("m", base_url=server.base_url) as model:
            reply = assembled([chunk async for chunk in model.stream(HELLO)])
    assert (reply.text, reply.finish_reason) == ("hi", "stop")


async def test_a_server_that_holds_on_after_the_end_holds_nobody_up() -> None:
    def behave(talk: Talk) -> None:
        talk.stream(piece("hi", "stop"), DONE)
        talk.wait_until_left()

    with faulty(behave) as server:
        async with watched(server.base_url) as (model, client):
            with anyio.fail_after(10):
                reply = assembled([chunk async for chunk in model.stream(HELLO)])
            assert busy(client) == []
    assert reply.text == "hi"


def endless(talk: Talk) -> None:
    talk.stream(piece("first"))
    while True:
        talk.send(*[chunk(piece("more"))] * 100)


@pytest.mark.behaviour("MODEL-3", "MODEL-4")
async def test_a_stream_without_an_end_is_bounded_by_max_bytes() -> None:
    texts: list[str] = []
    with faulty(endless) as server:
        async with watched(server.base_url, max_bytes=2**18) as (model, client):

            async def listen() -> None:
                async for one in model.stream(HELLO):
                    texts.append(one.text)  # noqa: PERF401 - what came before the failure is kept

            with pytest.raises(ModelRequestError, match=r"is larger than 262,144 bytes; max_bytes") as caught:
                await listen()
            assert busy(client) == []
    assert 1_000 < len(texts) < 4_000
    assert caught.value.text == "".join(texts)
    assert not caught.value.retryable


@pytest.mark.behaviour("A53")
async def test_leaving_a_stream_early_ends_the_request() -> None:
    with faulty(endless) as server:
        async with watched(server.base_url) as (model, client):
            async with aclosing(model.stream(HELLO)) as chunks:
                async for one in chunks:
                    assert one.text == "first"
                    break
            assert busy(client) == []
            await anyio.to_thread.run_sync(lambda: server.wait_for(requests=1, open=0))
            assert client._transport._pool.connections == []  # type: ignore[attr-defined]


async def test_a_scope_that_ends_ends_the_stream() -> None:
    came = threading.Event()

    def behave(talk: Talk) -> None:
        talk.stream(piece("first"))
        came.set()
        talk.wait_until_left()

    with faulty(behave) as server:
        async with watched(server.base_url) as (model, client):
            async with anyio.create_task_group() as group:

                async def listen() -> None:
                    async for _ in model.stream(HELLO):
                        pass

                group.start_soon(listen)
                await anyio.to_thread.run_sync(came.wait)
                group.cancel_scope.cancel()
            assert busy(client) == []
            await anyio.to_thread.run_sync(lambda: server.wait_for(open=0))


async def test_an_answer_in_one_piece_is_streamed_in_few() -> None:
    message = {
        "content": "hi",
        "reasoning": "hm",
        "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {}}}],
    }
    with faulty(answering(completion(message, "tool_calls", usage=USAGE))) as server:
        async with ChatModel("m", base_url=server.base_url) as model:
            whole = await model.complete(HELLO)
            assert assembled([chunk async for chunk in model.stream(HELLO)]) == whole
    assert (whole.text, whole.reasoning, whole.tool_calls) == ("hi", "hm", (ToolCall("a", "f", "{}"),))
    assert (whole.usage, whole.finish_reason) == (TokenUsage(5, 3), "tool_calls")


async def test_keeping_alive_with_comments_is_no_answer() -> None:
    def behave(talk: Talk) -> None:
        talk.send(head(200, "text/event-stream; charset=utf-8", "Connection: close"))
        talk.send(b": busy\n\n" * 3, piece("hi", "stop"), DONE)
        talk.cut()

    with faulty(behave) as server:
        async with ChatModel("m", base_url=server.base_url) as model:
            texts = [chunk.text async for chunk in model.stream(HELLO)]
    assert texts == ["hi", ""]


@pytest.mark.parametrize("end", [b"data:  [DONE] \n\n", b"data:\n\ndata: [DONE]\n\n", b"data:\n\ndata: \n\n"])
async def test_events_of_nothing_and_space_around_the_end_do_no_harm(end: bytes) -> None:
    with faulty(lambda talk: talk.stream(piece("hi"), b"data:\n\n", piece("", "stop"), end, end=True)) as server:
        async with watched(server.base_url) as (model, _):
            assert assembled([chunk async for chunk in model.stream(HELLO)]).text == "hi"


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("told", [{"prompt_tokens": -5, "completion_tokens": 9}, {"completion_tokens": -1}])
async def test_usage_that_cannot_be_is_estimated(told: dict[str, int], streaming: bool) -> None:
    whole = answering(completion({"content": "hi"}, usage=told))
    with faulty(
        (lambda talk: talk.stream(piece("hi", "stop", usage=told), end=True)) if streaming else whole
    ) as server:
        async with watched(server.base_url) as (model, _):
            reply = assembled([chunk async for chunk in model.stream(HELLO)])
    assert reply.usage.estimated
    assert reply.usage.input > 0
    assert reply.usage.output > 0
