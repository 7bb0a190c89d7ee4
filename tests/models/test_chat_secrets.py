"""The key is never shown: in no text, log, event, trace or error, not even when the server says it."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.chats import HELLO, answering, watched
from tests.servers.faulty import Behaviour, Talk, event, faulty, head, piece
from tests.servers.katan import Katan

from flowcore import Budget, Complete, Flow, Step, current_scope, node
from flowcore.errors import ModelError
from flowcore.models.chat import ChatModel
from flowcore.models.secrets import Secrets

KEY = 'sk-"quoted"/4711\\%41-zebra'
HEADERS = {"X-Api-Key": "another-zebra-42", "X-Title": "an app"}
SHOWN = (KEY, json.dumps(KEY)[1:-1], quote(KEY, safe=""), "4711", "zebra")


def told(error: BaseException | None, *, variables: bool = False) -> Iterator[str]:
    """Yields all that an error and what led to it may show, with the variables of its frames too."""
    while error is not None:
        yield from (str(error), repr(error), repr(error.args), repr(vars(error)))
        yield "".join(traceback.TracebackException.from_exception(error, capture_locals=variables).format())
        error = error.__cause__ or error.__context__


def echo(talk: Talk) -> None:
    """Says back what was sent, as a server under development does."""
    body = json.dumps({"error": {"message": talk.request.decode(), "code": KEY}}).encode()
    talk.send(head(401, "application/json", f"Content-Length: {len(body)}"), body)


def echo_plain(talk: Talk) -> None:
    talk.send(head(500, "text/plain", f"Content-Length: {len(talk.request)}"), talk.request)


def echo_page(talk: Talk) -> None:
    page = b"<html><title>%s</title></html>" % talk.request
    talk.send(head(200, "text/html", f"Content-Length: {len(page)}"), page)


def echo_status(talk: Talk) -> None:
    talk.send(KEY.encode() + b"\r\n\r\n")


def echo_location(talk: Talk) -> None:
    talk.send(head(302, KEY, f"Location: http://127.0.0.1/{KEY}", "Content-Length: 0"))


def echo_encoding(talk: Talk) -> None:
    talk.send(head(200, "text/plain", f"Content-Encoding: {KEY}", "Content-Length: 0"))


def echo_event(talk: Talk) -> None:
    talk.stream(piece("hi"), event(talk.request.decode()[:300].replace("\r\n", " ")), end=True)


def echo_failure(talk: Talk) -> None:
    talk.stream(event({"error": {"message": talk.request.decode()}}), end=True)


def echo_overflow(talk: Talk) -> None:
    answering({"error": {"message": f"prompt is too long {KEY}"}}, 400)(talk)


ECHOES = [
    echo, echo_plain, echo_page, echo_status, echo_location, echo_encoding, echo_event, echo_failure, echo_overflow
]  # fmt: skip


@pytest.mark.behaviour("MODEL-5")
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("behave", ECHOES)
async def test_a_server_that_says_the_key_gives_it_to_no_error_and_no_log(
    behave: Behaviour, streaming: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "flowcore")
    caplog.set_level(logging.INFO)
    with faulty(behave) as server:
        async with watched(server.base_url, api_key=KEY, headers=HEADERS) as (model, _):
            with pytest.raises(ModelError) as caught:
                _ = [chunk async for chunk in model.stream(HELLO)] if streaming else await model.complete(HELLO)

    assert KEY.encode() in server.requests[0]
    assert b"another-zebra-42" in server.requests[0]
    shown = "\n".join([*told(caught.value), caplog.text, repr(model), repr(vars(model))])
    assert [secret for secret in SHOWN if secret in shown] == []


@dataclass
class Nothing:
    """A state of nothing."""


@node
async def ask(step: Step[Nothing, ChatModel]) -> Complete[str]:
    async with current_scope().request(step.deps.name):
        return Complete((await step.deps.complete(HELLO)).text)


FLOW = Flow[Nothing, ChatModel, str]("asking", ask)


@pytest.mark.behaviour("MODEL-5")
async def test_a_real_server_that_says_the_key_gives_it_to_no_event_and_no_trace(
    katan: Katan, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    server = katan("--validate-keys", "--api-keys", "openai=sk-one-that-is-not-known")
    events: list[str] = []
    async with ChatModel("m", base_url=server.base_url, api_key=KEY) as model:
        result = await FLOW.run(
            Nothing(),
            deps=model,
            budget=Budget(rounds=1),
            observers=[lambda event: events.append(repr(event))],
            check=False,
        )

    assert result.failure is not None
    assert "answered 401: invalid API key for openai: got '***'" in result.failure.message
    assert KEY in server.log()
    shown = "\n".join(
        [
            *events,
            repr(result),
            result.trace.to_text(),
            caplog.text,
            *told(result.failure.exception, variables=True),
        ]
    )
    assert [secret for secret in SHOWN if secret in shown] == []


@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="*"), min_size=8, max_size=40),
    st.text(max_size=20),
    st.text(max_size=20),
)
def test_a_secret_is_taken_out_of_any_text(secret: str, before: str, after: str) -> None:
    secrets = Secrets([secret])
    for form in (secret, quote(secret, safe=""), json.dumps(secret)[1:-1], repr(secret + "'" + '"')[1:-4]):
        assert secrets.scrub(before + form + after).count("***") >= 1
        assert secret not in secrets.scrub(before + form + after)
        assert form not in secrets.scrub(before + form + after)
    assert secret not in repr(secrets)


def test_what_is_no_secret_is_shown() -> None:
    secrets = Secrets.of("", {"X-Title": "title", "X-Session-Token": "abc", "Authorization": "Bearer abcdef"})
    assert secrets.scrub("title abc Bearer abcdef") == "title abc ***"
