"""Doubles for the tests of the Agent Kit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from flowcore import Clock, Complete, Flow, Log, RunResult, Step, node
from flowcore.messages import Message, ModelReply, ModelRequest, ToolCall
from flowcore.models import ModelRunner
from flowcore.testing import ScriptedModel
from flowcore.tools import ToolCatalog
from flowcore_agent import AgentReply, AgentRequest, AgentSpec, AgentState, admit, agent_flow
from flowcore_agent.loop.rows import loop_rows
from flowcore_agent.own_tools import OwnTool, own_tools
from flowcore_agent.parts import Parts


def call(name: str, arguments: str = "{}", id: str = "") -> ToolCall:
    """A call; without an id it has the tool's name for one."""
    return ToolCall(id or name, name, arguments)


def calls(*wanted: ToolCall | str, text: str = "", reasoning: str = "") -> ModelReply:
    """A reply that names tools; a name stands for a call without arguments."""
    made = tuple(call(each) if isinstance(each, str) else each for each in wanted)
    return ModelReply(text, tool_calls=made, reasoning=reasoning)


def loop_flow(spec: AgentSpec, own: Sequence[OwnTool] = ()) -> Flow[AgentState, object, AgentReply]:
    """The loop alone, with a node after it that says how it ended."""

    @node
    async def end(step: Step[AgentState]) -> Complete[AgentReply]:
        state = step.state
        return Complete(
            AgentReply(
                state.text,
                state.reason,
                state.is_partial,
                turn=tuple(state.turns),
                attachments=state.attachments,
                issues=state.issues,
            )
        )

    parts = Parts.of(spec, (*own_tools(spec), *own))
    loop = loop_rows(parts, end)
    return Flow(spec.name, *loop.rows, end, finish=loop.finish, reserve=loop.reserve)


@dataclass
class Desk:
    """An agent with a scripted model: what it is made of, and what its model was asked."""

    lines: Sequence[Any]
    tools: Sequence[Any] = ()
    clock: Clock | None = None
    runner: dict[str, Any] = field(default_factory=dict)
    spec: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.model = ScriptedModel(self.lines, name="scripted", clock=self.clock)
        options = {"prices": lambda name, usage: 0.0, "clock": self.clock, **self.runner}
        self.agent = AgentSpec(
            **{
                "name": "agent",
                "model": ModelRunner(self.model, **options),
                "catalog": ToolCatalog(self.tools),
                **self.spec,
            }
        )
        self.flow = loop_flow(self.agent)

    @property
    def requests(self) -> list[ModelRequest]:
        """What the model was asked."""
        return self.model.requests

    def state(self, question: str = "Go.", *before: Message, **values: Any) -> AgentState:
        """A state that stands before the loop."""
        asked = (*before, Message("user", question))
        return AgentState(AgentRequest(asked), system="Be brief.", prepared=Log(asked), **values)

    async def ask(self, question: str = "Go.", *before: Message, **fields: Any) -> RunResult[AgentReply]:
        """The whole result of a request of ann's, admitted and prepared."""
        request = AgentRequest((*before, Message("user", question)), **{"user": "ann", **fields})
        return await agent_flow(self.agent).run(admit(self.agent, request), check=False, clock=self.clock)

    async def run(self, question: str = "Go.", **options: Any) -> RunResult[AgentReply]:
        """The whole result of a run."""
        return await self.flow.run(self.state(question), check=False, **options)


def told(request: ModelRequest) -> list[tuple[str, str]]:
    """The messages of a request, as roles and texts."""
    return [(message.role, message.content) for message in request.messages]


def results(reply: AgentReply) -> list[str]:
    """The results of tools in a turn."""
    return [message.content for message in reply.turn if message.role == "tool"]


@pytest.fixture(scope="session")
def kit() -> SimpleNamespace:
    """Everything above, for the tests."""
    tools: Sequence[Any] = (call, calls, loop_flow, Desk, told, results)
    return SimpleNamespace(**{tool.__name__: tool for tool in tools})
