"""The agent: admits a request, and runs its flow for it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any, TypedDict, Unpack

import anyio

from flowcore import Budget, Clock, Flow, Run, Trigger
from flowcore.events import Event
from flowcore.store import RunStore
from flowcore_agent.admit import admit, admit_caller
from flowcore_agent.after import after_run
from flowcore_agent.flow import agent_flow
from flowcore_agent.reply import AgentReply
from flowcore_agent.request import AgentRequest
from flowcore_agent.spec import AgentSpec, check_spec
from flowcore_agent.state import AgentState
from flowcore_agent.stream import STREAMS, Streamed, StreamPiece

__all__ = ["Agent", "AgentGraph", "RunOptions", "dispatch"]

AgentGraph = Callable[[AgentSpec], Flow[AgentState, Any, AgentReply]]
"""Makes the flow of an agent that is no plain loop."""

_TITLE = 120


class RunOptions(TypedDict, total=False):
    """What may be said of a run; `Flow.run` tells what each means."""

    deps: Any
    budget: Budget | None
    run_id: str | None
    observers: Sequence[Callable[[Event], Awaitable[None] | None]]
    deadline: datetime | None
    store: RunStore | None
    title: str
    clock: Clock | None
    grace: float


class _Settled(RunOptions, total=False):
    trigger: Trigger


def dispatch(spec: AgentSpec, graphs: Mapping[str, AgentGraph] | None = None) -> Flow[AgentState, Any, AgentReply]:
    """Return the flow of an agent: the graph given for its name, for any other the loop of `agent_flow`."""
    make: AgentGraph = (graphs or {}).get(spec.name, agent_flow)
    return make(spec)


class Agent:
    """An agent: takes requests and runs its flow for them.

    Args:
        spec: All that is said of it.
        graphs: Graphs of an app's own, by the name of the agent that they are for: see `dispatch`.

    Raises `ContractError` for what is no spec.
    """

    def __init__(self, spec: AgentSpec, *, graphs: Mapping[str, AgentGraph] | None = None) -> None:
        check_spec("Agent", spec)
        self.spec = spec
        """All that is said of the agent."""
        self._graphs = graphs
        self._streaming: Flow[AgentState, Any, AgentReply] | None = None
        self.flow = dispatch(spec, graphs)
        """What is run for each request: to be drawn, and to resume stored runs with."""

    def __repr__(self) -> str:
        return f"<agent {self.spec.name}: {', '.join(self.flow.nodes)}>"

    async def admit(self, request: AgentRequest) -> AgentState:
        """Return the state that a run of this request begins with. Nothing is run, and nothing written down.

        Raises `AdmissionError`, which lists every fault of the request, and what `authenticate` and the models
        raise, as it is.
        """
        return await admit_caller(self.spec, request)

    async def run(self, request: AgentRequest, *, parent: str = "", **options: Unpack[RunOptions]) -> AgentReply:
        """Admit a request, run the flow for it and return the reply. Takes what `Flow.run` takes.

        `parent` is the id of the run that delegated this one. Raises what `admit` and `Flow.run` raise.
        """
        state = await self.admit(request)
        return await self.flow.run(state, **self._settled(state, parent, options))

    def run_sync(self, request: AgentRequest, *, parent: str = "", **options: Unpack[RunOptions]) -> AgentReply:
        """Do what `run` does, from synchronous code; it waits for the observers, too.

        Raises `ContractError` inside a running event loop.
        """
        asks = self.spec.authenticate is not None
        state = anyio.run(self.admit, request) if asks else admit(self.spec, request)
        return self.flow.run_sync(state, **self._settled(state, parent, options))

    def start(
        self, request: AgentRequest, *, parent: str = "", **options: Unpack[RunOptions]
    ) -> AbstractAsyncContextManager[Run[AgentReply]]:
        """Return a handle: `async with agent.start(request) as run:` admits the request, then starts the run.

        Leaving early cancels it. Takes what `run` takes.
        """
        return self._started(request, parent, options)

    @asynccontextmanager
    async def _started(
        self, request: AgentRequest, parent: str, options: RunOptions
    ) -> AsyncGenerator[Run[AgentReply]]:
        state = await self.admit(request)
        async with self.flow.start(state, **self._settled(state, parent, options)) as run:
            yield run

    def stream(
        self, request: AgentRequest, *, parent: str = "", **options: Unpack[RunOptions]
    ) -> AbstractAsyncContextManager[AsyncIterator[StreamPiece]]:
        """Return a stream: `async with agent.stream(request) as pieces:` admits the request, then starts the run.

        The stream ends with a piece of kind `end`, however the run ended. Leaving early cancels it. Takes what
        `run` takes.
        """
        return self._streamed(request, parent, options)

    @asynccontextmanager
    async def _streamed(
        self, request: AgentRequest, parent: str, options: RunOptions
    ) -> AsyncGenerator[AsyncIterator[StreamPiece]]:
        state = await self.admit(request)
        if self._streaming is None:
            self._streaming = dispatch(replace(self.spec, sink=STREAMS), self._graphs)
        streamed = Streamed(self.spec.sink)
        settled = self._settled(state, parent, options)
        settled["observers"] = [*settled.get("observers", ()), streamed.observe]
        try:
            async with AsyncExitStack() as stack:
                with streamed.taking():
                    streamed.run = await stack.enter_async_context(self._streaming.start(state, **settled))
                yield streamed.pieces
        finally:
            streamed.close()

    def _settled(self, state: AgentState, parent: str, options: RunOptions) -> _Settled:
        """Return the options of a run, with what started it, its title, and who is told of it afterwards."""
        asked = state.request
        trigger = Trigger(asked.source, asked.user, self.spec.name, asked.conversation, parent)
        settled: _Settled = {"title": _title(asked), **options, "trigger": trigger}
        if self.spec.observers:
            settled["observers"] = [*settled.get("observers", ()), *after_run(self.spec.observers, asked)]
        return settled


def _title(request: AgentRequest) -> str:
    words = " ".join(request.messages[-1].content.split())
    return words if len(words) <= _TITLE else words[: _TITLE - 1] + "…"
