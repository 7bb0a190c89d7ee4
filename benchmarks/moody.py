"""An agent for the soak: its model and tools fail, hang and talk nonsense by chance, and hold what can leak."""

from __future__ import annotations

import random
import socket
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from flowcore import Flow
from flowcore.clock import Clock
from flowcore.errors import ModelRequestError
from flowcore.messages import ModelReply, ModelRequest, TokenUsage, ToolCall
from flowcore.models import ModelRunner
from flowcore.tools import ToolCatalog
from flowcore_agent import AgentLimits, AgentReply, AgentSpec, AgentState, CustomPrompt, agent_flow

__all__ = ["FOR_EVER", "Outside", "moody_agent"]

FOR_EVER = 1e9
_CALLS = ("read", "fetch", "fail", "hang", "count", "much", "vanish")
_ARGUMENTS = ('{"n": 1}', '{"n": 2}', '{"n": 3,}', '{"n"', '{"n": "x"}', "{}")


@dataclass
class Outside:
    """What is outside of the agents and held by them: files, and connections, which are pairs of sockets."""

    clock: Clock
    chance: random.Random
    connections: int = 0
    files: int = 0
    most: int = 0

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[None]:
        """Hold a connection."""
        self.connections += 1
        self.most = max(self.most, self.connections)
        here, there = socket.socketpair()
        try:
            with here, there:
                yield
        finally:
            self.connections -= 1

    @asynccontextmanager
    async def file(self) -> AsyncGenerator[None]:
        """Hold a file."""
        self.files += 1
        try:
            with tempfile.TemporaryFile():
                yield
        finally:
            self.files -= 1

    async def nap(self, longest: float = 0.2) -> None:
        """Wait for a while."""
        await self.clock.sleep(self.chance.uniform(0, longest))


class _Model:
    """A model that fails, hangs, says nothing, calls tools or answers, by chance. It holds a connection then."""

    name = "moody"

    def __init__(self, outside: Outside) -> None:
        self._outside = outside

    async def complete(self, request: ModelRequest) -> ModelReply[Any]:
        async with self._outside.connection():
            await self._outside.nap()
            return await self._said(bool(request.tools))

    async def _said(self, has_tools: bool) -> ModelReply[Any]:
        chance = self._outside.chance
        fate = chance.random()
        if fate < 0.05:
            raise ModelRequestError("busy", status=503)
        if fate < 0.08:
            raise ModelRequestError("refused", status=400)
        if fate < 0.10:
            raise RuntimeError("broken")
        if fate < 0.13:
            await self._outside.clock.sleep(FOR_EVER)
        used = TokenUsage(100, 10)
        if fate < 0.17:
            return ModelReply("", used)
        if fate < 0.45 or not has_tools:
            return ModelReply("Done.", used)
        calls = [
            ToolCall(f"c{chance.randrange(5)}", chance.choice(_CALLS), chance.choice(_ARGUMENTS))
            for _ in range(chance.randint(1, 6))
        ]
        return ModelReply(chance.choice(("", "I look.")), used, tool_calls=tuple(calls))


def _tools(outside: Outside) -> list[Any]:
    async def read(n: int) -> str:
        """Read a file."""
        async with outside.file():
            await outside.nap()
            return f"read {n}"

    async def fetch(n: int) -> str:
        """Fetch something."""
        async with outside.connection():
            await outside.nap()
            return f"fetched {n}"

    async def fail(n: int) -> str:
        """Fail."""
        async with outside.file():
            await outside.nap()
            raise ValueError(f"no {n}")

    async def hang(n: int) -> str:
        """Hang, and hold what there is."""
        async with outside.connection(), outside.file():
            await outside.clock.sleep(FOR_EVER)
            return f"hung {n}"

    def count(n: int) -> int:
        """Count, in a thread."""
        return sum(range(n * 1_000))

    async def much(n: int) -> str:
        """Return much."""
        await outside.nap()
        return "0123456789" * 3_000 * n

    return [read, fetch, fail, hang, count, much]


def moody_agent(outside: Outside) -> tuple[AgentSpec, Flow[AgentState, object, AgentReply]]:
    """Return the agent that every run of the soak shares, and its flow."""
    model = ModelRunner(_Model(outside), prices=lambda name, usage: 0.001, clock=outside.clock)
    spec = AgentSpec(
        name="moody",
        model=model,
        prompt=CustomPrompt("Be brief."),
        catalog=ToolCatalog(_tools(outside)),
        limits=AgentLimits(turns=6, tool_timeout=1.5, turn_timeout=3.0),
    )
    return spec, agent_flow(spec)
