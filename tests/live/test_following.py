"""A run that is watched: every viewer sees all of it, once and in order, and none of them changes it."""

from __future__ import annotations

import logging
import socket
import threading
from typing import Any

import anyio
import httpx
import pytest

from flowcore import Budget
from flowcore.live import watch
from flowcore.live.source import LiveSource
from flowcore.recording import Recorded, recording_of

from .following import Gates, Told, Walk, everything, expected, many, passing_by, race, shown, told, walk


@pytest.mark.behaviour("LIVE-1")
async def test_a_viewer_sees_what_goes_on_while_it_goes_on_and_then_the_end() -> None:
    gates, seen = Gates(), list[Told]()
    async with walk.start(Walk(), deps=gates) as run, watch(run) as page, many() as client:
        async with client.stream("GET", f"{page.url}events") as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            async for message in told(response):
                seen.append(message)
                if message.event == "visit" and message.is_running:
                    gates.open(f"step {message.path.partition('#')[2]}")  # the run goes on since it was seen
        assert await run.result() == 3
        assert shown(seen) == expected(run)
    assert [message.id for message in seen] == list(range(1, len(seen) + 1))
    running = [message.path for message in seen if message.event == "visit" and message.is_running]
    assert running == ["step_on#1", "step_on#2", "step_on#3"]
    assert [message.event for message in seen if message.event == "end"] == ["end"]
    assert (seen[-1].event, seen[-1].data["status"], seen[-1].data["value"]) == ("end", "completed", "3")


@pytest.mark.behaviour("LIVE-1")
async def test_who_comes_late_sees_it_from_the_beginning() -> None:
    gates = Gates()
    gates.open("step 1", "step 2", "step 3")
    async with walk.start(Walk(), deps=gates) as run, watch(run) as page, many() as client:
        await run.wait()
        seen = await everything(client, page.url)
        assert shown(seen) == expected(run)
        assert seen[-1].event == "end"


@pytest.mark.behaviour("LIVE-2")
async def test_who_was_cut_off_anywhere_goes_on_with_the_next_message_and_misses_none() -> None:
    gates = Gates(rounds=2)
    gates.open("step 1", "step 2")
    async with walk.start(Walk(), deps=gates) as run, watch(run) as page, many() as client:
        whole = await everything(client, page.url)
        for after in range(len(whole)):
            assert await everything(client, page.url, after) == whole[after:]
        done = await client.get(f"{page.url}events", headers={"last-event-id": str(len(whole))})
        assert (done.status_code, done.content) == (204, b"")  # an EventSource comes back no more
        for odd in ("-1", "x", "1e3", "9" * 400, str(len(whole) + 1)):
            headers = {"last-event-id": odd}
            assert (await client.get(f"{page.url}events", headers=headers)).text.startswith("id: 1\n")


@pytest.mark.behaviour("LIVE-2")
async def test_who_is_cut_off_while_the_run_goes_on_gets_every_message_once() -> None:
    gates, seen = Gates(rounds=6), list[Told]()
    async with walk.start(Walk(), deps=gates) as run, watch(run) as page:
        while not seen or seen[-1].event != "end":
            async with passing_by(page.url, seen[-1].id if seen else 0) as messages:
                seen.append(await anext(messages))
                gates.open(f"step {len(seen)}")  # it leaves after each message, and comes back
        assert shown(seen) == expected(run)
    assert [message.id for message in seen] == list(range(1, len(seen) + 1))


@pytest.mark.behaviour("LIVE-3")
async def test_a_viewer_that_leaves_changes_nothing() -> None:
    gates = Gates()
    async with walk.start(Walk(), deps=gates) as run, watch(run) as page, many() as client:
        for _ in range(3):
            async with passing_by(page.url) as messages:
                assert (await anext(messages)).path == "step_on#1"
        gates.open("step 1", "step 2", "step 3")
        assert await run.result() == 3
        assert shown(await everything(client, page.url)) == expected(run)


@pytest.mark.behaviour("LIVE-3")
async def test_a_hundred_viewers_see_the_same() -> None:
    gates, streams = Gates(rounds=10), list[list[Told]]()

    async def view(client: httpx.AsyncClient, url: str) -> None:
        async with client.stream("GET", f"{url}events") as response:
            nonlocal waiting
            waiting -= 1
            if not waiting:
                gates.open(*(f"step {number}" for number in range(1, 11)))
            streams.append([message async for message in told(response)])

    waiting = 100
    async with walk.start(Walk(), deps=gates) as run, watch(run) as page, many() as client:
        async with anyio.create_task_group() as group:
            for _ in range(100):
                group.start_soon(view, client, page.url)
        assert run.trace.ending is not None
        assert shown(streams[0]) == expected(run)
    assert len(streams) == 100
    assert all(stream == streams[0] for stream in streams)


@pytest.mark.behaviour("LIVE-3")
async def test_a_viewer_that_takes_nothing_holds_up_nobody_and_may_take_it_later() -> None:
    gates = Gates(rounds=300, size=2_000)
    gates.open(*(f"step {number}" for number in range(1, 301)))
    async with (
        walk.start(Walk(), deps=gates, budget=Budget(rounds=None)) as run,
        watch(run) as page,
        many() as client,
    ):
        host, port = httpx.URL(page.url).host, httpx.URL(page.url).port
        lazy = socket.socket()
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.connect((host, port))
        request = f"GET {httpx.URL(page.url).path}events HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"
        lazy.sendall(request.encode())
        assert await run.result() == 300
        seen = await everything(client, page.url)
        assert sum(message.event == "visit" and message.path.startswith("step") for message in seen) >= 300
        taken = await anyio.to_thread.run_sync(_all_of, lazy)
    assert taken.count(b"\nevent: end\n") == 1
    assert taken.count(b"\nid: ") + taken.count(b"\r\nid: ") >= len(seen) - 1


def _all_of(lazy: socket.socket) -> bytes:
    with lazy:
        pieces = []
        while piece := lazy.recv(65536):
            pieces.append(piece)
    return b"".join(pieces)


@pytest.mark.behaviour("LIVE-3")
async def test_leaving_while_somebody_takes_nothing_ends_the_server_all_the_same() -> None:
    gates = Gates(rounds=300, size=2_000)
    gates.open(*(f"step {number}" for number in range(1, 301)))
    with socket.socket() as lazy:
        async with walk.start(Walk(), deps=gates, budget=Budget(rounds=None)) as run, watch(run) as page:
            lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            url = httpx.URL(page.url)
            lazy.connect((url.host, url.port))
            lazy.sendall(f"GET {url.path}events HTTP/1.1\r\nhost: {url.host}\r\n\r\n".encode())
            assert lazy.recv(16).startswith(b"HTTP/1.1 200")
            await run.wait()
        assert _pages() == []


@pytest.mark.behaviour("LIVE-3")
async def test_leaving_ends_the_server_and_its_thread_whether_the_run_goes_on_or_not() -> None:
    async with walk.start(Walk(), deps=Gates()) as run, many() as client:
        async with watch(run) as page:
            async with passing_by(page.url) as messages:
                assert (await anext(messages)).path == "step_on#1"
            assert len(_pages()) == 1
        assert _pages() == []
        with pytest.raises(httpx.ConnectError):
            await client.get(page.url)


@pytest.mark.behaviour("LIVE-3")
async def test_who_watches_when_the_block_is_left_is_told_what_there_is_and_let_go() -> None:
    seen = list[Told]()

    async def view(client: httpx.AsyncClient, url: str) -> None:
        async with client.stream("GET", f"{url}events") as response:
            async for message in told(response):
                seen.append(message)
                begun.set()

    begun = anyio.Event()
    async with walk.start(Walk(), deps=Gates()) as run, many() as client, anyio.create_task_group() as group:
        async with watch(run) as page:
            group.start_soon(view, client, page.url)
            await begun.wait()
    assert [(message.path, message.is_running) for message in seen] == [("step_on#1", True)]


@pytest.mark.behaviour("LIVE-1")
async def test_what_turned_out_not_to_be_needed_is_told_at_the_end() -> None:
    gates = Gates()
    async with race.start(Walk(), deps=gates) as run, watch(run) as page, many() as client:
        seen = list[Told]()
        async with client.stream("GET", f"{page.url}events") as response:
            async for message in told(response):
                seen.append(message)
                if message.event == "visit" and message.path == "fan#1/slow#1/hangs#1":
                    gates.open("win")
        assert shown(seen) == expected(run)
        assert any(visit.dropped for visit in recording_of(run.trace).visits)


@pytest.mark.behaviour("LIVE-3")
@pytest.mark.parametrize("broken", ["look", "page", "finish"])
async def test_what_fails_in_the_server_does_not_reach_the_run(
    broken: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any) -> None:
        raise LookupError("broken on purpose")

    monkeypatch.setattr(LiveSource, broken, fail)
    gates = Gates()
    gates.open("step 1", "step 2", "step 3")
    with caplog.at_level(logging.ERROR, "flowcore.live"):
        async with walk.start(Walk(), deps=gates) as run, watch(run) as page, many() as client:
            assert await run.result() == 3
            if broken != "page":
                await client.get(f"{page.url}events")  # it ends without an end
            else:
                answer = await client.get(page.url)
                assert (answer.status_code, answer.text) == (500, "The page cannot be made.\n")
                assert shown(await everything(client, page.url)) == expected(run)
    assert "the run is not affected" in caplog.text
    assert _pages() == []


async def test_a_visit_that_cannot_be_shown_is_left_out_and_the_others_are_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    visit = Recorded._visit

    def sometimes(recorded: Recorded, record: Any) -> Any:
        if (record.node, record.number) == ("look", 2):
            raise LookupError("broken on purpose")
        return visit(recorded, record)

    monkeypatch.setattr(Recorded, "_visit", sometimes)
    gates = Gates()
    gates.open("step 1", "step 2", "step 3")
    async with walk.start(Walk(), deps=gates) as run, watch(run) as page, many() as client:
        seen = await everything(client, page.url)
        assert await run.result() == 3
    assert set(shown(seen)) == {"step_on#1", "look#1", "step_on#2", "step_on#3", "look#3", "home#1"}
    assert (seen[-1].event, seen[-1].data["status"]) == ("end", "completed")
    assert "a visit of walk cannot be shown" in caplog.text


def _pages() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "flowcore page"]
