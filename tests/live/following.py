"""What the tests of live pages share: flows that go on when they are told to, and what viewers see."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio
import httpx
from anyio.streams.buffered import BufferedByteReceiveStream

from flowcore import Complete, Continue, Flow, Run, Step, node, parallel
from flowcore.recording import recording_of
from flowcore.render.page import visit_json


@dataclass
class Walk:
    steps: int = 0
    text: str = ""


@dataclass
class Gates:
    """Doors that nodes wait at, each open for good once it is opened."""

    at: defaultdict[str, anyio.Event] = field(default_factory=lambda: defaultdict(anyio.Event))
    rounds: int = 3
    size: int = 0

    def open(self, *names: str) -> None:
        for name in names:
            self.at[name].set()


@node(starts_round=True)
async def step_on(step: Step[Walk, Gates]) -> Continue:
    await step.deps.at[f"step {step.visit}"].wait()
    step.state.steps += 1
    step.state.text = f"{step.visit} " * step.deps.size
    return Continue()


@node
async def look(step: Step[Walk, Gates]) -> Continue[Literal["on", "home"]]:
    return Continue("on" if step.state.steps < step.deps.rounds else "home", why={"steps": step.state.steps})


@node
async def home(step: Step[Walk, Gates]) -> Complete[int]:
    return Complete(step.state.steps)


walk = Flow("walk", step_on.to(look), look.to(on=step_on, home=home), home)


@node
async def wins(step: Step[Walk, Gates]) -> Continue:
    await step.deps.at["win"].wait()
    return Continue()


@node
async def begins(step: Step[Walk, Gates]) -> Continue:
    return Continue()


@node
async def hangs(step: Step[Walk, Gates]) -> Complete[None]:
    await anyio.sleep_forever()
    raise AssertionError("it waits for ever")


slow = Flow("slow", begins.to(hangs), hangs).as_node("slow", state=Walk)
race = Flow("race", parallel("fan", wins, slow, join="any").to(home), home)


@dataclass(frozen=True)
class Told:
    """One message of a stream."""

    id: int
    event: str
    data: Any

    @property
    def path(self) -> str:
        return str(self.data[0])

    @property
    def is_running(self) -> bool:
        return bool(self.data[5] == "running")


async def told(response: httpx.Response) -> AsyncIterator[Told]:
    """Yields the messages of a stream. Each is three lines and an empty one; all else but comments is a fault."""
    lines: list[str] = []
    async for line in response.aiter_lines():
        if line and not line.startswith(":"):
            lines.append(line)
        elif not line and lines:
            id, event, data = lines
            yield Told(int(id.removeprefix("id: ")), event.removeprefix("event: "), json.loads(data[6:]))
            lines = []


async def everything(client: httpx.AsyncClient, url: str, after: int | None = None) -> list[Told]:
    """Returns what a viewer sees, to the end of its stream."""
    headers = {} if after is None else {"last-event-id": str(after)}
    async with client.stream("GET", f"{url}events", headers=headers) as response:
        assert response.status_code == 200
        return [message async for message in told(response)]


@asynccontextmanager
async def passing_by(url: str, after: int = 0) -> AsyncIterator[AsyncIterator[Told]]:
    """A viewer that may leave at any message; HTTP/1.0, in which a stream is its connection."""
    where = httpx.URL(url)
    async with await anyio.connect_tcp(where.host, where.port or 80) as connection:
        asked = f"GET {where.path}events HTTP/1.0\r\nhost: {where.host}\r\nlast-event-id: {after}\r\n\r\n"
        await connection.send(asked.encode())
        received = BufferedByteReceiveStream(connection)
        head = await received.receive_until(b"\r\n\r\n", 10_000)
        assert head.startswith(b"HTTP/1.1 200 OK\r\n")

        async def messages() -> AsyncIterator[Told]:
            while True:
                lines = (await received.receive_until(b"\n\n", 1_000_000)).decode().split("\n")
                id, event, data = (line.partition(": ")[2] for line in lines)
                yield Told(int(id), event, json.loads(data))

        async with aclosing(messages()) as stream:
            yield stream


def shown(messages: list[Told]) -> Mapping[str, Any]:
    """Returns what a page shows at last of each visit: later messages replace earlier ones."""
    return {message.path: message.data for message in messages if message.event == "visit"}


def expected(run: Run[Any]) -> Mapping[str, Any]:
    """Returns what a page is to show of each visit of a run."""
    return {visit.path: json.loads(visit_json(visit)) for visit in recording_of(run.trace).visits}


def many() -> httpx.AsyncClient:
    """Returns a client with as many connections as it is asked for."""
    return httpx.AsyncClient(limits=httpx.Limits(max_connections=None), timeout=30)
