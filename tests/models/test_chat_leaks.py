"""No connection is left open, at whichever await a request is cancelled; a cancelled run ends its request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread
import pytest
from tests.models.chats import HELLO, busy, watched
from tests.servers.faulty import FaultyServer, Talk, chunk, faulty, head, piece
from tests.servers.katan import KEY, Katan

from flowcore import Complete, Flow, RunCancelled, Step, current_scope, node
from flowcore.models.chat import ChatModel

ASK = Callable[[ChatModel], Coroutine[Any, Any, object]]


async def whole(model: ChatModel) -> None:
    await model.complete(HELLO)


async def streamed(model: ChatModel) -> None:
    async with aclosing(model.stream(HELLO)) as chunks:
        async for _ in chunks:
            await anyio.lowlevel.checkpoint()


class Cancelling:
    """Runs work, cancels its scope when it waits for the n-th time, and counts how often it waited."""

    def __init__(self, work: Coroutine[Any, Any, object], scope: anyio.CancelScope, at: int) -> None:
        self._work = work
        self._scope = scope
        self._at = at
        self.waits = 0

    def __await__(self) -> Generator[Any, Any, object]:
        steps = self._work.__await__()
        resume: Callable[[], Any] = lambda: next(steps)  # noqa: E731 - what is called next is decided below
        while True:
            try:
                wanted = resume()
            except StopIteration as end:
                return end.value
            self.waits += 1
            if self.waits == self._at:
                self._scope.cancel()
            try:
                got = yield wanted
            except BaseException as error:
                resume = lambda error=error: steps.throw(error)  # noqa: E731
            else:
                resume = lambda got=got: steps.send(got)  # noqa: E731


async def cancelled_everywhere(base_url: str, ask: ASK, looked_at: Callable[[], Awaitable[None]]) -> int:
    """Cancels a request at its first await, another one at its second, and so on. Returns how many there were."""
    count = 0
    while True:
        count += 1
        async with watched(base_url, api_key=KEY) as (model, client):
            with anyio.CancelScope() as scope:
                await Cancelling(ask(model), scope, count)
            assert busy(client) == []
        await looked_at()
        if not scope.cancelled_caught:
            return count


@pytest.mark.behaviour("MODEL-4")
@pytest.mark.parametrize("ask", [whole, streamed])
async def test_a_request_can_be_cancelled_at_every_await(ask: ASK) -> None:
    def behave(talk: Talk) -> None:
        talk.stream(*[piece("some ")] * 3, piece("more", "stop"), piece(usage={"prompt_tokens": 1}))
        talk.send(chunk(b""))

    def answer(talk: Talk) -> None:
        body = b'{"choices":[{"message":{"content":"hi"}}]}'
        talk.send(head(200, "application/json", f"Content-Length: {len(body)}"), body[:9], body[9:])

    with faulty(answer if ask is whole else behave) as server:

        async def looked_at() -> None:
            await anyio.to_thread.run_sync(lambda: server.wait_for(open=0))

        assert await cancelled_everywhere(server.base_url, ask, looked_at) > 5


@pytest.mark.behaviour("MODEL-4")
@pytest.mark.parametrize("ask", [whole, streamed])
async def test_a_request_to_a_real_server_can_be_cancelled_at_every_await(ask: ASK, katan: Katan) -> None:
    async def looked_at() -> None:
        pass

    server = katan()
    assert await cancelled_everywhere(server.base_url, ask, looked_at) > 5
    async with ChatModel("m", base_url=server.base_url, api_key=KEY) as model:
        assert (await model.complete(HELLO)).text.endswith("User: hello")


async def test_many_at_once_cancelled_in_the_middle_leave_nothing(katan: Katan) -> None:
    async with watched(katan("--chunk-delay-ms", "50").base_url, api_key=KEY) as (model, client):
        with anyio.move_on_after(0.5):
            async with anyio.create_task_group() as group:
                for _ in range(20):
                    group.start_soon(streamed, model)
        assert busy(client) == []
        assert client._transport._pool.connections == []  # type: ignore[attr-defined]


@dataclass
class Nothing:
    """A state of nothing."""


@dataclass
class Needs:
    """What the node asks."""

    model: ChatModel
    asked: anyio.Event


@node
async def ask(step: Step[Nothing, Needs]) -> Complete[str]:
    step.deps.asked.set()
    async with current_scope().request("m"):
        return Complete((await step.deps.model.complete(HELLO)).text)


@node
async def never(step: Step[Nothing, Needs]) -> Complete[str]:
    raise AssertionError("nothing runs after the cancellation")


INNER = Flow[Nothing, Needs, str]("inner", ask)
OUTER = Flow[Nothing, Needs, str]("outer", INNER.as_node("inner", state=Nothing).to(never), never)


@pytest.mark.behaviour("A43")
async def test_a_cancelled_run_ends_the_request_of_its_sub_flow_and_sends_no_other() -> None:
    def behave(talk: Talk) -> None:
        talk.wait_until_left()

    with faulty(behave) as server:
        async with ChatModel("m", base_url=server.base_url) as model:
            await cancel_when_asked(model, server)


async def cancel_when_asked(model: ChatModel, server: FaultyServer) -> None:
    needs = Needs(model, anyio.Event())
    async with OUTER.start(Nothing(), deps=needs) as run:

        async def cancel() -> None:
            await needs.asked.wait()
            await anyio.to_thread.run_sync(lambda: server.wait_for(requests=1))
            await run.cancel("user")

        async with anyio.create_task_group() as group:
            group.start_soon(cancel)
            result = await run.wait()
        with pytest.raises(RunCancelled):
            await run.result()
    await anyio.to_thread.run_sync(lambda: server.wait_for(open=0))
    assert (result.status, result.stragglers, result.usage.requests) == ("cancelled", (), 1)
    assert len(server.requests) == 1
