"""The page that is served: who may see it, what a browser is told of it, and where it can be."""

from __future__ import annotations

import socket
import sys

import anyio
import pytest
from starlette.requests import Request

from flowcore.errors import WatchError
from flowcore.live import Door, watch
from flowcore.live.feed import Feed
from flowcore.live.source import RecordedSource
from flowcore.live.web import Viewers
from flowcore.recording import recording_of

from .following import Gates, Walk, everything, many, walk


@pytest.mark.behaviour("LIVE-4")
@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("127.0.0.1:8000", 200),
        ("localhost:1", 200),
        ("LOCALHOST", 200),
        ("[::1]:8000", 200),
        ("evil.example", 403),
        ("evil.example:8000", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost.evil.example", 403),
        ("[evil]:1", 403),
        ("", 403),
        ("[::1]evil.example", 403),
        ("127.0.0.1:80:80", 403),
    ],
)
async def test_only_names_of_this_machine_are_let_in(host: str, status: int) -> None:
    async with walk.start(Walk(), deps=Gates()) as run, watch(run) as page, many() as client:
        for method, path in [("GET", ""), ("HEAD", ""), ("HEAD", "events")]:
            answer = await client.request(method, page.url + path, headers={"host": host})
            assert answer.status_code == status


@pytest.mark.behaviour("LIVE-4")
async def test_who_does_not_know_the_token_finds_nothing() -> None:
    async with walk.start(Walk(), deps=Gates()) as run, watch(run) as page, many() as client:
        root, token = page.url.removesuffix("/").rsplit("/", 1)
        assert len(token) >= 43
        wrong = [
            "/",
            "/events",
            f"/{token[:-1]}/",
            f"/{token}x/",
            f"/x/{token}/",
            "/é/",
            f"//{token}/",
            f"/{token}/x",
        ]
        for path in wrong:
            assert (await client.get(root + path)).status_code == 404, path
    async with walk.start(Walk(), deps=Gates()) as run, watch(run) as other:
        assert not other.url.endswith(f"{token}/")


@pytest.mark.behaviour("LIVE-4")
async def test_a_page_can_be_read_and_nothing_else() -> None:
    async with walk.start(Walk(), deps=Gates()) as run, watch(run) as page, many() as client:
        for path in ("", "events"):
            for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
                assert (await client.request(method, page.url + path)).status_code == 405
        head = await client.head(page.url)
        whole = await client.get(page.url)
        assert (head.content, head.headers["content-length"]) == (b"", str(len(whole.content)))


@pytest.mark.behaviour("LIVE-4")
async def test_every_answer_says_that_it_is_for_this_browser_alone() -> None:
    async with walk.start(Walk(), deps=Gates()) as run, watch(run) as page, many() as client:
        addresses = [page.url, f"{page.url}events", f"{page.url}x", page.url.rsplit("/", 2)[0]]
        answers = [await client.head(url, headers={"origin": "http://evil.example"}) for url in addresses]
        answers.append(await client.get(page.url, headers={"host": "evil.example"}))
    for answer in answers:
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert "server" not in answer.headers


async def test_the_page_is_live_while_the_run_goes_on_and_whole_after_it() -> None:
    gates = Gates()
    async with walk.start(Walk(), deps=gates) as run, watch(run, name="q7", title="Are we there?") as page:
        async with many() as client:
            live = await client.get(page.url)
            gates.open("step 1", "step 2", "step 3")
            await everything(client, page.url)
            whole = await client.get(page.url)
    assert '"live":"events"' in live.text
    assert "Are we there?" in live.text
    assert "step_on#3" not in live.text
    assert '"live":null' in whole.text
    assert "step_on#3" in whole.text


async def test_a_recording_is_served_as_it_is() -> None:
    gates = Gates()
    gates.open("step 1", "step 2", "step 3")
    async with walk.start(Walk(), deps=gates) as run:
        await run.wait()
    async with watch(recording_of(run.trace)) as page, many() as client:
        assert "step_on#3" in (await client.get(page.url)).text
        assert (await client.get(f"{page.url}events")).status_code == 204


# ---- Viewers -----------------------------------------------------------------------------------------------


def request() -> Request:
    return Request({"type": "http", "method": "GET", "path": "/events", "headers": []})


async def never() -> dict[str, str]:
    await anyio.sleep_forever()
    raise AssertionError("it waits for ever")


class Silent(RecordedSource):
    """A source of which the first message is known, and which is not over."""

    def __init__(self) -> None:
        self.feed = Feed()
        self.feed.add("visit", "[]")


@pytest.mark.behaviour("LIVE-3")
async def test_a_viewer_that_takes_nothing_for_too_long_is_cut_off() -> None:
    viewers = Viewers(Silent(), patience=0.01)

    async def send(message: object) -> None:
        if isinstance(message, dict) and message["type"] == "http.response.body":
            await anyio.sleep_forever()

    response = await viewers.serve(request())
    await response(request().scope, never, send)
    assert len(viewers) == 0


async def test_while_nothing_happens_a_sign_of_life_is_sent() -> None:
    viewers, sent, enough = Viewers(Silent(), heartbeat=0.01), list[bytes](), anyio.Event()

    async def send(message: dict[str, bytes]) -> None:
        sent.append(message.get("body", b""))
        if len(sent) == 4:
            enough.set()

    async def receive() -> dict[str, str]:
        await enough.wait()
        return {"type": "http.disconnect"}

    response = await viewers.serve(request())
    await response(request().scope, receive, send)
    assert sent[1:4] == [b"id: 1\nevent: visit\ndata: []\n\n", b": here\n\n", b": here\n\n"]
    assert len(viewers) == 0


# ---- Doors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_port_in_use_is_told_with_the_remedy(host: str) -> None:
    with Door(host) as door, pytest.raises(WatchError) as raised:
        Door(host, door.port)
    assert str(raised.value) == f"port {door.port} of {host} is in use; name another port, or 0 for a free one"


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid", "a" * 300, "\0"])
def test_a_host_of_another_machine_is_told_with_the_remedy(host: str) -> None:
    with pytest.raises(WatchError, match=r"is no address of this machine \(.*\); name one that is, such as 127"):
        Door(host)


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_that_there_is_not_is_refused(port: int) -> None:
    with pytest.raises(WatchError, match=f"port {port}: there is none of that number"):
        Door(port=port)


def test_the_address_is_one_that_a_browser_here_reaches() -> None:
    with Door("0.0.0.0") as door:
        assert door.url == f"http://127.0.0.1:{door.port}"
        with socket.create_connection(("127.0.0.1", door.port)):
            pass


async def test_without_the_extra_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    for name in [name for name in sys.modules if name.startswith("flowcore.live.server")]:
        monkeypatch.delitem(sys.modules, name)
    async with walk.start(Walk(), deps=Gates()) as run:
        with pytest.raises(WatchError) as raised:
            async with watch(run):
                pass
    assert str(raised.value) == 'a live page needs uvicorn; install it with pip install "flowcore[server]"'


async def test_a_page_is_reached_at_another_address_too() -> None:
    try:
        Door("::1").__exit__(None, None, None)
    except WatchError:
        pytest.skip("this machine has no IPv6")
    async with walk.start(Walk(), deps=Gates()) as run, watch(run, host="::1") as page, many() as client:
        assert page.url.startswith("http://[::1]:")
        assert (await client.head(page.url)).status_code == 200
