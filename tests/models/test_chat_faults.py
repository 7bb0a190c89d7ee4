"""Every way in which a server fails to answer is one clear error, and leaves no connection open."""

from __future__ import annotations

import gzip
import ssl
from collections.abc import Callable
from typing import Any

import pytest
from tests.models.chats import HELLO, answering, busy, completion, watched
from tests.servers.faulty import Behaviour, Talk, chunk, faulty, head
from tests.servers.process import free_port

from flowcore.errors import ContextOverflow, ModelError, ModelRequestError, ModelTimeout
from flowcore.models.chat import ChatModel

PAGE = b"<!DOCTYPE html><html><head><title>Sign in\n here</title></head><body>x</body></html>"
WAYS = "does base_url end in /v1, as most servers want it?"
pytestmark = pytest.mark.behaviour("MODEL-3", "MODEL-4")
EACH_WAY = pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])


def saying(kind: str, body: bytes, status: int = 200, *headers: str) -> Behaviour:
    return lambda talk: talk.send(head(status, kind, f"Content-Length: {len(body)}", *headers), body)


async def failure(model: ChatModel, streaming: bool) -> ModelError:
    """Returns the error with which a request fails; nothing of the transport hangs on it."""
    with pytest.raises(ModelError) as caught:
        await (anext(model.stream(HELLO)) if streaming else model.complete(HELLO))
    error = caught.value
    assert (error.__cause__, error.__context__) == (None, None)
    assert "\n" not in str(error)
    return error


async def failed(behave: Behaviour, streaming: bool, **options: Any) -> ModelError:
    with faulty(behave) as server:
        async with watched(server.base_url, **options) as (model, client):
            error = await failure(model, streaming)
            assert busy(client) == []
    return error


def refusal(error: ModelError) -> tuple[int | None, bool, float | None]:
    assert isinstance(error, ModelRequestError)
    return error.status, error.retryable, error.retry_after


@EACH_WAY
@pytest.mark.parametrize(
    ("status", "said", "retryable", "told"),
    [
        (400, "Bad.", False, "answered 400: Bad."),
        (401, "Bad.", False, "answered 401: Bad. (check api_key)"),
        (403, "Bad.", False, "answered 403: Bad. (the key may not use this model, or not from here)"),
        (404, "The model `m` does not exist", False, "(the server does not know the model 'm'; check its name)"),
        (
            404,
            "Not Found",
            False,
            "(the server has no chat completions there; check base_url: does it end in /v1?)",
        ),
        (405, "No.", False, "(the server has no chat completions there; check base_url: does it end in /v1?)"),
        (408, "Late.", True, "answered 408: Late."),
        (422, "Bad.", False, "answered 422: Bad."),
        (429, "Slow.", True, "answered 429: Slow. (too many requests, or the quota is used up)"),
        (500, "Oh.", True, "answered 500: Oh."),
        (501, "Oh.", False, "answered 501: Oh."),
        (503, "Oh.", True, "answered 503: Oh."),
        (505, "Oh.", False, "answered 505: Oh."),
        (599, "Oh.", True, "answered 599: Oh."),
    ],
)
@pytest.mark.behaviour("S0-42", "S0-43")
async def test_a_status_says_whether_to_ask_again(
    streaming: bool, status: int, said: str, retryable: bool, told: str
) -> None:
    error = await failed(answering({"error": {"message": said}}, status), streaming)
    assert str(error).endswith(told)
    assert refusal(error) == (status, retryable, None)


@pytest.mark.behaviour("S0-42")
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        (["Retry-After: 7"], 7.0),
        (["Retry-After: Wed, 21 Oct 2015 07:28:10 GMT", "Date: Wed, 21 Oct 2015 07:28:00 GMT"], 10.0),
        ([], None),
    ],
)
async def test_when_to_ask_again_is_read(headers: list[str], seconds: float | None) -> None:
    for status in (429, 503):
        error = await failed(answering({"error": {"message": "Slow."}}, status, *headers), False)
        assert refusal(error) == (status, True, seconds)
    assert refusal(await failed(answering({}, 400, *headers), False)) == (400, False, None)


@EACH_WAY
@pytest.mark.behaviour("S0-43")
@pytest.mark.parametrize("status", [200, 400, 413, 500])
async def test_an_overflow_is_told_from_other_refusals(streaming: bool, status: int) -> None:
    said = "This model's maximum context length is 256 tokens, however you requested 530 tokens"
    error = await failed(answering({"error": {"message": said, "code": "x"}}, status), streaming)
    assert isinstance(error, ContextOverflow)
    assert (error.limit, error.needed) == (256, 530)
    assert str(error) == f"the request is more than m reads: {said}"


async def test_a_limit_of_tokens_a_minute_is_no_overflow() -> None:
    said = {"error": {"message": "Rate limit: reduce the length of the messages"}}
    assert refusal(await failed(answering(said, 429), False)) == (429, True, None)


@EACH_WAY
@pytest.mark.parametrize(
    ("kind", "body", "told"),
    [
        ("text/html", PAGE, f"text/html instead of a chat completion; {WAYS} It begins: a page, 'Sign in here'"),
        ("text/plain", b"hello\nyou", f"text/plain instead of a chat completion; {WAYS} It begins: hello you"),
        ("application/json", b"{broken", "application/json instead of a chat completion. It begins: {broken"),
        ("application/json", b"", "answered with application/json instead of a chat completion. It is empty"),
        ("application/json", b"[]", "answered with application/json instead of a chat completion. It begins: []"),
        ("application/json", b'{"choices":[]}', 'instead of a chat completion. It begins: {"choices":[]}'),
    ],
)  # fmt: skip
async def test_something_else_than_a_completion_says_what_came(
    streaming: bool, kind: str, body: bytes, told: str
) -> None:
    error = await failed(saying(kind, body), streaming)
    assert str(error).endswith(told)
    assert refusal(error) == (200, False, None)


@EACH_WAY
async def test_a_page_in_the_place_of_an_error_is_told_by_its_title(streaming: bool) -> None:
    error = await failed(saying("text/html", PAGE, 502), streaming)
    assert str(error).endswith("/v1/chat/completions answered 502: a page, 'Sign in here'")
    assert refusal(error) == (502, True, None)
    assert len(str(await failed(saying("text/plain", b"x" * 10**6, 500), streaming))) < 700


@EACH_WAY
async def test_a_redirect_is_not_followed(streaming: bool) -> None:
    with faulty(answering(completion({"content": "never"}))) as other:
        location = f"Location: http://127.0.0.1:{other.port}/v2?secret=1"
        error = await failed(saying("text/plain", b"", 307, location), streaming)
        assert str(error).endswith(
            f"answered 307 and points to http://127.0.0.1:{other.port}/v2; redirects are not followed: "
            "set base_url to it"
        )
        assert other.requests == []
    assert refusal(error) == (307, False, None)


def cut_length(talk: Talk) -> None:
    talk.send(head(200, "application/json", "Content-Length: 1000"), b'{"id"')
    talk.cut()


def nothing(talk: Talk) -> None:
    talk.cut()


def garbage(talk: Talk) -> None:
    talk.send(b"banana\r\n\r\n")


@EACH_WAY
@pytest.mark.parametrize(
    ("behave", "told"),
    [
        (
            cut_length,
            "peer closed connection without sending complete message body (received 5 bytes, expected 1000)",
        ),
        (nothing, "Server disconnected without sending a response."),
        (garbage, "illegal status line: bytearray(b'banana')"),
    ],
)
async def test_a_broken_answer_is_told(streaming: bool, behave: Behaviour, told: str) -> None:
    error = await failed(behave, streaming)
    assert str(error).endswith(f"/v1/chat/completions was cut: {told}")
    assert refusal(error) == (None, True, None)


def silent(talk: Talk) -> None:
    talk.wait_until_left()


def half(talk: Talk) -> None:
    talk.send(head(200, "application/json", "Content-Length: 1000"), b'{"id"')
    talk.wait_until_left()


@EACH_WAY
@pytest.mark.parametrize(
    ("behave", "told"), [(silent, "no answer within 1 s"), (half, "no further piece of the answer within 1 s")]
)
async def test_silence_is_late(streaming: bool, behave: Behaviour, told: str) -> None:
    error = await failed(behave, streaming, timeout=1.0)
    assert isinstance(error, ModelTimeout)
    assert str(error).endswith(f"/v1/chat/completions: {told}")
    assert error.seconds == 1.0


def endless(talk: Talk) -> None:
    talk.send(head(200, "application/json", "Transfer-Encoding: chunked"))
    while True:
        talk.send(chunk(b" " * 10_000))


@EACH_WAY
async def test_an_answer_without_an_end_is_bounded(streaming: bool) -> None:
    error = await failed(endless, streaming, max_bytes=10**6)
    assert str(error).endswith("is larger than 1,000,000 bytes; max_bytes of the model sets the limit")
    assert refusal(error) == (200, False, None)


@EACH_WAY
async def test_an_answer_that_is_encoded_is_refused(streaming: bool) -> None:
    body = gzip.compress(b" " * 10**7)
    error = await failed(saying("application/json", body, 200, "Content-Encoding: gzip"), streaming)
    assert str(error).endswith("/v1/chat/completions encoded its answer (gzip), which was not asked for")
    refused = await failed(saying("application/json", body, 500, "Content-Encoding: gzip"), streaming)
    assert str(refused).endswith("/v1/chat/completions answered 500")


def endless_refusal(talk: Talk) -> None:
    talk.send(head(500, "text/plain", "Transfer-Encoding: chunked"))
    while True:
        talk.send(chunk(b"x" * 10_000))


@EACH_WAY
async def test_a_refusal_without_an_end_is_read_in_part(streaming: bool) -> None:
    assert refusal(await failed(endless_refusal, streaming)) == (500, True, None)


@EACH_WAY
@pytest.mark.parametrize(
    ("base_url", "told", "retryable"),
    [
        (lambda: f"http://127.0.0.1:{free_port()}/v1", "nothing listens there: is the server started", True),
        (lambda: "http://no-such-host.invalid/v1", "the name of the host is not known; check base_url", True),
    ],
    ids=["refused", "unknown"],
)
@pytest.mark.behaviour("S0-42")
async def test_a_server_that_is_not_there_is_told(
    streaming: bool, base_url: Callable[[], str], told: str, retryable: bool
) -> None:
    async with watched(base_url()) as (model, client):
        error = await failure(model, streaming)
        assert client._transport._pool.connections == []  # type: ignore[attr-defined]
    assert f"/v1/chat/completions cannot be reached: {told}" in str(error)
    assert refusal(error) == (None, retryable, None)


def plain(talk: Talk) -> None:
    talk.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    talk.cut()


@EACH_WAY
async def test_a_plain_server_behind_https_is_told(streaming: bool) -> None:
    with faulty(plain) as server:
        async with watched(server.base_url.replace("http:", "https:")) as (model, client):
            error = await failure(model, streaming)
            assert client._transport._pool.connections == []  # type: ignore[attr-defined]
    assert "cannot be reached: no secure connection, " in str(error)
    assert str(error).endswith("; is it a server for http://?")
    assert refusal(error) == (None, False, None)


async def test_a_certificate_that_is_not_trusted_is_told(tls: ssl.SSLContext) -> None:
    with faulty(silent, tls) as server:
        async with watched(server.base_url.replace("http:", "https:")) as (model, _):
            error = await failure(model, False)
    assert "cannot be reached: its certificate is not trusted: self-signed certificate" in str(error)
    assert refusal(error) == (None, False, None)


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """A context with a certificate that nobody signed."""
    import subprocess  # noqa: PLC0415 - for this one call

    folder = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-days", "2", "-subj", "/CN=127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


@pytest.mark.parametrize(
    ("base_url", "told"),
    [
        ("", "base_url is ''; it begins with http:// or https:// and a host"),
        ("localhost:8000/v1", "base_url is 'localhost:8000/v1'; it begins with http:// or https:// and a host"),
        ("ftp://host/v1", "base_url is 'ftp://host/v1'; it begins with http:// or https:// and a host"),
        ("http:///v1", "base_url is 'http:///v1'; it begins with http:// or https:// and a host"),
        ("http://a b/v1", "base_url is 'http://a b/v1'; it begins with http:// or https:// and a host"),
        ("http://host:port/v1", "base_url is no URL; it looks like http://127.0.0.1:8000/v1"),
        ("http://[::1/v1", "base_url is no URL; it looks like http://127.0.0.1:8000/v1"),
        ("http://ann:secret@host/v1", "base_url has a user name or a password in it; give the secret as api_key "
         "or in headers"),
        ("http://host/v1?key=secret", "base_url ends at its path; leave out what follows the ? or #"),
        ("http://host/v1/chat/completions/", "base_url is 'http://host/v1/chat/completions/'; leave out "
         "/chat/completions, which is added to it"),
    ],
)  # fmt: skip
def test_a_base_url_that_cannot_be_used_is_refused_at_once(base_url: str, told: str) -> None:
    with pytest.raises(ValueError, match=r"^base_url ") as caught:
        ChatModel("m", base_url=base_url)
    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"model": ""}, "model is empty; name a model that the server has"),
        ({"timeout": 0}, "timeout is 0; give seconds above zero, or None to wait without end"),
        ({"timeout": float("nan")}, "timeout is nan; give seconds above zero, or None to wait without end"),
        ({"headers": {"a b": "c"}}, "headers: 'a b' is no name of a header"),
        ({"headers": {"a": "secret\n"}}, "headers: the value of a has a line end or a letter that no header can "
         "carry"),
        ({"api_key": ""}, "api_key is empty; read it with .strip(), or leave it out for a server without keys"),
        ({"api_key": "secret\n"}, "api_key has a space, a line end or a letter that no header can carry; read it "
         "with .strip(), or leave it out for a server without keys"),
    ],
)  # fmt: skip
def test_other_arguments_that_cannot_be_used_are_refused_at_once(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        ChatModel(**{"model": "m", **options})
    assert str(caught.value) == told


async def test_a_host_that_is_no_name_is_told() -> None:
    async with ChatModel("m", base_url=f"http://{'x' * 70}.example/v1") as model:
        error = await failure(model, False)
    assert "cannot be reached: " in str(error)
