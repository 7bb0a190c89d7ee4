"""The Agent Kit, as its users would write it, with the trace on and its limits as they are by default."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks.sides.turns import Counter, calls_of
from flowcore.messages import Message, ModelReply, ModelRequest, TokenUsage, ToolCall
from flowcore.models import ModelRunner
from flowcore.tools import ToolCatalog
from flowcore_agent import AgentRequest, AgentSpec, CustomPrompt, admit, agent_flow

Job = Callable[[], Awaitable[int]]
VERSIONS: tuple[str, ...] = ("flowcore-agent",)


class Script:
    """A model that calls tools for so many turns, and then answers. It says what it used, as servers do."""

    name = "scripted"

    def __init__(self, turns: int) -> None:
        self._turns = turns

    async def complete(self, request: ModelRequest) -> ModelReply[Any]:
        turn = sum(message.role == "assistant" for message in request.messages)
        if turn >= self._turns:
            return ModelReply("done", TokenUsage(100, 10))
        calls = tuple(ToolCall(*call) for call in calls_of(turn))
        return ModelReply("", TokenUsage(100, 10), tool_calls=calls)


def turns(size: int) -> Job:
    counter = Counter()
    catalog = ToolCatalog([counter.add, counter.take])
    prompt = CustomPrompt("Be brief.")
    spec = AgentSpec(name="agent", model=ModelRunner(Script(size)), prompt=prompt, catalog=catalog)
    flow, request = agent_flow(spec), AgentRequest((Message("user", "Go."),))

    async def job() -> int:
        reply = await flow.run(admit(spec, request))
        assert reply.text == "done"
        return counter.taken()

    return job
