"""A room in which calls are run: a flow of one node that runs them, and what is seen of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from flowcore import Budget, Complete, Flow, Node, RunResult, Step, node
from flowcore.events import Event
from flowcore.messages import Message, ToolCall
from flowcore.testing import FakeClock
from flowcore.tools import Tool, ToolCatalog, ToolExecutor, ToolResult


@dataclass
class State:
    text: str = ""


def call(name: str, arguments: str = "{}", id: str = "") -> ToolCall:
    """Returns a call; without an id it has the tool's name for one."""
    return ToolCall(id or name, name, arguments)


def statuses(results: Sequence[ToolResult]) -> list[str]:
    return [result.status for result in results]


@dataclass
class Room:
    """An executor of some tools, with a clock that stands still."""

    tools: Sequence[Any]
    options: dict[str, Any] = field(default_factory=dict)
    clock: FakeClock = field(default_factory=FakeClock)
    events: list[Event] = field(default_factory=list)
    results: tuple[ToolResult, ...] = ()

    @property
    def executor(self) -> ToolExecutor:
        return ToolExecutor(ToolCatalog(self.tools), **self.options)

    def node(self, calls: Sequence[ToolCall], **options: Any) -> Node[State, Any, Any, Any]:
        """Returns the node `go`, which runs the calls and completes with their results."""
        executor = self.executor

        @node
        async def go(step: Step[State, Any]) -> Complete[Any]:
            self.results = await executor.run(calls, deps=step.deps, **options)
            return Complete(self.results)

        return go

    def flow(self, calls: Sequence[ToolCall], **options: Any) -> Flow[State, Any, Any]:
        return Flow("room", self.node(calls, **options))

    def heard(self, *kinds: str) -> list[Any]:
        """Returns the events of some kinds, or of all."""
        return [event for event in self.events if not kinds or event.kind in kinds]

    async def run(self, *calls: ToolCall, budget: Budget | None = None, **options: Any) -> tuple[ToolResult, ...]:
        """Runs the calls in a run, and returns their results."""
        result = await self.ended(*calls, budget=budget, **options)
        if result.failure is not None and result.failure.exception is not None:
            raise result.failure.exception
        return self.results

    async def ended(self, *calls: ToolCall, budget: Budget | None = None, **options: Any) -> RunResult[Any]:
        """Runs the calls in a run, and returns how it ended."""
        self.results = ()
        self.events = []
        async with self.flow(calls, **options).start(State(), budget=budget, clock=self.clock) as run:
            async for event in run.events():
                self.events.append(event)
            return await run.wait()


def turn(*calls: ToolCall) -> Message:
    """Returns a reply of the model that made these calls."""
    return Message("assistant", "", calls)


def named(tools: Sequence[Tool]) -> list[str]:
    return [tool.name for tool in tools]
