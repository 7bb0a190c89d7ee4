"""pydantic-ai: an agent with a function model, its defaults, and no instrumentation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic_ai import Agent, messages
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from benchmarks.sides.turns import Counter, calls_of

Job = Callable[[], Awaitable[int]]
VERSIONS = ("pydantic-ai-slim",)


def turns(size: int) -> Job:
    counter = Counter()
    used = RequestUsage(input_tokens=100, output_tokens=10)

    async def model(told: list[messages.ModelMessage], info: AgentInfo) -> messages.ModelResponse:
        turn = sum(message.kind == "response" for message in told)
        if turn >= size:
            return messages.ModelResponse([messages.TextPart("done")], usage=used)
        calls: list[Any] = [messages.ToolCallPart(name, text, id) for id, name, text in calls_of(turn)]
        return messages.ModelResponse(calls, usage=used)

    agent = Agent(FunctionModel(model), instructions="Be brief.", tools=[counter.add, counter.take])

    async def job() -> int:
        result = await agent.run("Go.")
        assert result.output == "done"
        return counter.taken()

    return job
