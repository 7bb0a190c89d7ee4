"""The OpenAI Agents SDK: an agent with a model of our own, its defaults, and its tracing off."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks.sides.turns import CALLS, Counter, calls_of

os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"

from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

Job = Callable[[], Awaitable[int]]
VERSIONS = ("openai-agents",)
_MORE_THAN_ENOUGH = 100


class Script(Model):
    """A model that calls tools for so many turns, and then answers."""

    def __init__(self, turns: int) -> None:
        self._turns = turns

    async def get_response(self, system_instructions: Any, input: Any, *more: Any, **about: Any) -> ModelResponse:
        items = [] if isinstance(input, str) else input
        turn = sum(item.get("type") == "function_call" for item in items) // CALLS
        output: list[Any] = [
            ResponseFunctionToolCall(type="function_call", call_id=id, name=name, arguments=text)
            for id, name, text in (calls_of(turn) if turn < self._turns else ())
        ]
        return ModelResponse(output=output or [_answer()], usage=Usage(), response_id=None)

    def stream_response(self, *about: Any, **more: Any) -> Any:
        raise NotImplementedError


def _answer() -> ResponseOutputMessage:
    words = ResponseOutputText(type="output_text", text="done", annotations=[])
    return ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[words])


def turns(size: int) -> Job:
    counter = Counter()
    tools: list[Any] = [function_tool(counter.add), function_tool(counter.take)]
    agent = Agent("agent", instructions="Be brief.", model=Script(size), tools=tools)

    async def job() -> int:
        result = await Runner.run(agent, "Go.", max_turns=_MORE_THAN_ENOUGH)
        assert result.final_output == "done"
        return counter.taken()

    return job
