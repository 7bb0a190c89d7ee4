"""The runner in front of a server that nobody here wrote."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import anyio
import pytest
from tests.servers.katan import KEY, Katan

from flowcore import Budget, Complete, Flow, ModelRunner, Scope, Step, node
from flowcore.errors import ModelRequestError, OutputInvalid
from flowcore.messages import Chunk
from flowcore.recording import dump_runs, recording_of
from flowcore.testing import ScriptedModel


@dataclass
class Ticket:
    question: str


async def test_it_answers_whole_and_in_pieces_and_counts_the_same(katan: Katan) -> None:
    seen: list[str] = []

    async def sink(chunk: Chunk) -> None:
        seen.append(chunk.text)

    runner = ModelRunner("small", base_url=katan().base_url, api_key=KEY)
    async with Scope(Budget(requests=2)) as scope:
        whole = await runner.invoke("hello")
        tokens = scope.used.tokens
        streamed = await runner.invoke("hello", sink=sink)
    await runner.aclose()
    assert streamed.text == "".join(seen)
    assert whole.text.rpartition("\n")[2] == streamed.text.rpartition("\n")[2] == "User: hello"
    assert len(seen) > 2
    assert (whole.usage.total, scope.used.requests) == (tokens, 2)
    assert tokens > 0
    assert whole.warnings == ("the price of 'small' is not known, so its cost is counted as 0: give `prices=`",)


async def test_an_echo_is_no_answer_of_a_type_and_is_repaired_once(katan: Katan) -> None:
    runner = ModelRunner("small", base_url=katan().base_url, api_key=KEY)
    async with Scope() as scope:
        with pytest.raises(OutputInvalid):
            await runner.invoke("hello", output=list[int])
    await runner.aclose()
    assert scope.used.requests == 2


@pytest.mark.behaviour("MODEL-5")
async def test_the_key_is_in_nothing_that_a_run_leaves_behind(
    katan: Katan, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    right, wrong = KEY, "sk-a-wrong-key-9876543210"
    server, strict = katan(), katan("--validate-keys", "--api-keys", "openai=sk-one-that-is-not-known")
    runners = [
        ModelRunner("small", base_url=server.base_url, api_key=right),
        ModelRunner("small", base_url=strict.base_url, api_key=wrong),
    ]
    runners.append(ModelRunner("small", base_url=f"{server.base_url}/nowhere", api_key=right, retry=None))

    @node
    async def ask(step: Step[Ticket]) -> Complete[list[str]]:
        said: list[str] = []
        for runner in runners:
            try:
                said.append((await runner.invoke(step.state.question)).text)
            except ModelRequestError as error:
                said.append(f"{error!r} {error} {vars(error)}")
        return Complete(said)

    async with Flow("support", ask).start(Ticket("hello")) as run:
        events = [repr(event) async for event in run.events()]
        result = await run.wait()
    for runner in runners:
        await runner.aclose()
    left = [*events, repr(result), result.trace.to_text(), dump_runs([recording_of(result.trace)]), caplog.text]
    left += [repr(runner) for runner in runners]
    assert result.usage.requests == 3
    assert [text for text in left if right in text or wrong in text] == []


def test_a_runner_may_be_used_in_one_event_loop_after_another() -> None:
    runner = ModelRunner(ScriptedModel(["yes"] * 12), concurrency=2)

    async def ask() -> None:
        async with Scope() as scope, anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(runner.invoke, "hello")
        assert scope.used.requests == 4

    for backend in ("asyncio", "asyncio", "trio"):
        anyio.run(ask, backend=backend)
