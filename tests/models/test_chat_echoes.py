"""A server that says the key back in whatever place, whole or in pieces: it is told nowhere."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict
from tests.models.chats import HELLO, assembled, completion, watched
from tests.models.test_chat_secrets import told
from tests.servers.faulty import Behaviour, Talk, event, faulty, piece

from flowcore import Complete, Flow, ModelRunner, Step, node
from flowcore.errors import ModelRequestError
from flowcore.messages import Chunk
from flowcore.models import ChatModel
from flowcore.models.secrets import Secrets

KEY = "sk-4711zebra?ABCDEFGH;IJKLMNOP"
HIDDEN = KEY[:9], KEY[9:19], KEY[-9:]


def sends(body: bytes, *, status: str = "200 OK", kind: str = "application/json", more: str = "") -> Behaviour:
    def behave(talk: Talk) -> None:
        start = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
        talk.send(start.encode(), body)

    return behave


def says(content: str) -> Behaviour:
    return sends(json.dumps(completion({"content": content})).encode())


def streams(*events: bytes) -> Behaviour:
    return lambda talk: talk.stream(*events, end=True)


def in_pieces(talk: Talk) -> None:
    talk.stream(*[piece(letter) for letter in f"it is {KEY}"], piece("!", "stop"), end=True)


def in_calls(talk: Talk) -> None:
    parts = [{"index": 0, "id": KEY, "function": {"name": KEY, "arguments": '{"a": "' + KEY[:7]}}]
    rest = [{"index": 0, "function": {"arguments": KEY[7:] + '"}'}}]
    deltas = [{"choices": [{"index": 0, "delta": {"tool_calls": part}}]} for part in (parts, rest)]
    talk.stream(*map(event, deltas), piece("", KEY, id=KEY, model=KEY), end=True)


PLACES = {
    "status": sends(json.dumps(completion({"content": "hi"})).encode(), status=f"200 {KEY}"),
    "status of a refusal": sends(b"{}", status=f"500 {KEY}"),
    "cut by what is read": sends(b" " * (32_000 - 12) + KEY.encode(), status="500 X"),
    "cut by the end": sends(b"it is " + KEY[:12].encode(), status="500 X"),
    "cut by a question mark": sends(b"", status="302 X", more=f"Location: http://x/{KEY}\r\n"),
    "cut by a semicolon": sends(b"no", kind=KEY),
    "cut by the length of an event": streams(event("x" * 490 + KEY)),
    "answer": says(f"it is {KEY}"),
    "names in an answer": says(json.dumps({KEY: 1, "a": KEY})),
    "broken stream": streams(piece(f"it is {KEY}"), piece(KEY[:12])),
    "pieces": in_pieces,
    "calls": in_calls,
}


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    a: int


@dataclass
class Asked:
    """What a node asks, and what it kept."""

    streaming: bool
    said: str = ""


@node
async def ask(step: Step[Asked, ModelRunner]) -> Complete[str]:
    async def sink(chunk: Chunk) -> None:
        step.state.said += repr(chunk)

    if step.state.streaming:
        step.state.said += repr(await step.deps.invoke("hello", sink=sink))
    else:
        step.state.said += repr(await step.deps.invoke("hello", output=Strict))
    return Complete(step.state.said)


FLOW = Flow[Asked, ModelRunner, str]("asking", ask)


@pytest.mark.behaviour("MODEL-5")
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("place", PLACES)
async def test_a_key_that_is_said_back_is_told_nowhere(
    place: str, streaming: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    events: list[str] = []
    with faulty(PLACES[place]) as server:
        async with watched(server.base_url, api_key=KEY) as (model, _):
            runner = ModelRunner(model, retry=None, repairs=0)
            result = await FLOW.run(
                Asked(streaming),
                deps=runner,
                observers=[lambda event: events.append(repr(event))],
                check=False,
            )
    shown = [*events, repr(result), repr(result.state), result.trace.to_text(), caplog.text]
    shown += told(result.failure.exception) if result.failure is not None else []
    assert [part for part in HIDDEN for text in shown if part in text] == []


@pytest.mark.behaviour("MODEL-5")
async def test_only_the_key_is_taken_out_of_an_answer() -> None:
    with faulty(in_pieces) as server:
        async with watched(server.base_url, api_key=KEY) as (model, _):
            assert assembled([chunk async for chunk in model.stream(HELLO)]).text == "it is ***!"
    with faulty(says("not-needed, as 4096 is")) as server:
        async with watched(server.base_url, api_key="not-needed", headers={"X-Max-Tokens": "4096"}) as (model, _):
            assert (await model.complete(HELLO)).text == "not-needed, as 4096 is"


@pytest.mark.behaviour("MODEL-5")
async def test_the_secrets_of_a_shared_client_are_those_of_the_model() -> None:
    behave = sends(json.dumps({"error": {"message": f"not {KEY}"}}).encode(), status="401 X")
    with faulty(behave) as server:
        async with watched(server.base_url) as (_, client):
            client.headers["authorization"] = f"Bearer {KEY}"
            with pytest.raises(ModelRequestError, match=r"answered 401: not \*\*\*"):
                await ChatModel("m", base_url=server.base_url, client=client).complete(HELLO)


@given(st.text("s1k-ab", max_size=60), st.lists(st.integers(0, 60), max_size=8))
def test_a_veil_tells_what_scrubbing_the_whole_tells_wherever_it_is_split(noise: str, cuts: list[int]) -> None:
    secret = "sk-1sk-1sk-1sk-1a"
    text = noise[:20] + secret + noise[20:] + secret[:5]
    veil, places = Secrets([secret]).veil(), [0, *sorted(cuts), len(text)]
    said = "".join(veil.take(text[start:end]) for start, end in pairwise(places))
    said += veil.rest()
    assert secret not in said
    assert "***" in said


def test_text_without_secrets_passes_a_veil_whole() -> None:
    veil = Secrets([KEY]).veil()
    assert [veil.take(part) for part in ("it is", " sk", "-47", "ing")] == ["it i", "s ", "", "sk-47ing"]
    assert veil.rest() == ""
