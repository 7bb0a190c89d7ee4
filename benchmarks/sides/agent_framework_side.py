"""Microsoft's Agent Framework: an agent with a client of our own that may call functions, and its defaults."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from agent_framework import (  # type: ignore[import-not-found,unused-ignore]
    Agent,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    tool,
)

from benchmarks.sides.turns import Counter, calls_of

Job = Callable[[], Awaitable[int]]
VERSIONS = ("agent-framework-core",)


def turns(size: int) -> Job:
    counter = Counter()

    class Script(FunctionInvocationLayer, BaseChatClient):  # type: ignore[misc,unused-ignore]
        """A model that calls tools for so many turns, and then answers."""

        async def _inner_get_response(self, *, messages: Any, **about: Any) -> Any:
            turn = sum(message.role == "assistant" for message in messages)
            contents = [
                Content.from_function_call(call_id=id, name=name, arguments=text)
                for id, name, text in (calls_of(turn) if turn < size else ())
            ]
            words = contents or [Content.from_text("done")]
            return ChatResponse(messages=[Message(role="assistant", contents=words)])

    tools = [tool(each, approval_mode="never_require") for each in (counter.add, counter.take)]
    agent = Agent(client=Script(), instructions="Be brief.", tools=tools)

    async def job() -> int:
        result = await agent.run("Go.")
        assert result.text == "done"
        return counter.taken()

    return job
