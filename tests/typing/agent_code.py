"""Code of users of the Agent Kit, as the type checkers see it: what is right, and a few lines that both refuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_type

from flowcore import App, Budget, Complete, Continue, Flow, RunResult, Step, node
from flowcore.messages import Chunk, Message
from flowcore.models import ModelRunner
from flowcore.store import MemoryRunStore
from flowcore.tools import Allow, Decision, Deny, Proposal, ToolCatalog, tool
from flowcore_agent import (
    Agent,
    AgentLimits,
    AgentReply,
    AgentRequest,
    AgentSpec,
    AgentState,
    Class,
    Consolidation,
    EndReason,
    FileFolder,
    GuardEntry,
    ModelEntry,
    ModelTable,
    OwnTools,
    RuleClassifier,
    SkillCard,
    SkillFolder,
    SQLiteMemory,
    StreamPiece,
    admit,
    after_run,
    agent_flow,
)


@tool
async def price(book: str) -> str:
    """Say what a book costs."""
    return book


def copies(book: str) -> int:
    """Count the copies of a book."""
    return len(book)


# Ports of an app's own. None of them inherits from anything.


class NoCards:
    name = "no cards"
    fails_open = False

    async def check(self, text: str, messages: Sequence[Message], /) -> str:
        return "" if text else "empty"


@dataclass(frozen=True)
class Longest:
    longest: int
    name: str = "longest"
    fails_open: bool = True

    async def check(self, text: str, messages: Sequence[Message]) -> str:
        return "too long" if len(text) > self.longest else ""


class Desk:
    async def store(self, request: AgentRequest, reply: AgentReply, key: str) -> None: ...
    async def send(self, request: AgentRequest, text: str, key: str) -> int:
        return 1

    async def was_done(self, key: str) -> bool | None:
        return None


class Notes:
    async def cards(self) -> list[SkillCard]:
        return [SkillCard("refund", "How money is given back.")]

    async def read(self, name: str) -> str:
        return name


class Screen:
    async def output(self, chunk: Chunk, /) -> None: ...


async def who(request: AgentRequest) -> str:
    return request.user


async def classify(messages: Sequence[Message], tools: Sequence[str]) -> Class:
    return Class("direct") if len(messages) == 1 and not tools else Class(depth="short")


async def count(request: AgentRequest, reply: AgentReply) -> None: ...


def may(proposal: Proposal) -> Decision:
    return Allow() if proposal.tool.name == "price" else Deny("closed")


def told(proposal: Proposal) -> None: ...


runner = ModelRunner("gpt-4o-mini", base_url="http://127.0.0.1:1/v1")
memory = SQLiteMemory()
plain = AgentSpec(name="plain", model=runner)
whole = AgentSpec(
    name="whole",
    model=ModelTable({"small": runner, "large": ModelEntry(runner=runner, users=["ann"])}),
    authenticate=who,
    catalog=ToolCatalog([price, copies]),
    allowed=["price"],
    hooks=[told],
    policy=may,
    own_tools=OwnTools(todo=True, memory=True, skills=True, sub_agent=True, message=True),
    limits=AgentLimits(turns=8),
    classify=classify,
    memory=memory,
    skills=Notes(),
    guards=[NoCards(), GuardEntry(name="long", load=lambda: Longest(10))],
    output_guards=(Longest(100),),
    sink=Screen(),
    delivery=Desk(),
    observers=[count, Consolidation("whole", memory, runner)],
)
by_default = AgentSpec(
    name="by default",
    model=runner,
    classify=RuleClassifier(),
    skills=SkillFolder("."),
    files=FileFolder("."),
)

# What comes out.

asked = AgentRequest((Message("user", "What does Dune cost?"),), user="ann")
flow = agent_flow(plain)
assert_type(flow, Flow[AgentState, object, AgentReply])
assert_type(admit(plain, asked), AgentState)


async def ask() -> None:
    agent = Agent(whole)
    reply = await agent.run(asked, budget=Budget(rounds=5), store=MemoryRunStore(), run_id="r")
    assert_type(reply, AgentReply)
    assert_type(reply.reason, EndReason)
    async with agent.start(asked) as run:
        assert_type(await run.wait(), RunResult[AgentReply])
    async with agent.stream(asked) as pieces:
        async for piece in pieces:
            assert_type(piece, StreamPiece)
    observers = after_run(whole.observers, asked)
    assert_type(await agent.flow.resume("r", store=MemoryRunStore(), observers=observers), AgentReply)


assert_type(Agent(plain).run_sync(asked, budget=Budget(requests=5)), AgentReply)
app = App(
    flows=[flow],
    state=lambda text: admit(plain, AgentRequest((Message("user", text),))),
    present=lambda reply: reply.text,
)
assert_type(app, App[AgentState, object, AgentReply])

# Inside a flow of the app's own.


@dataclass
class Ticket:
    question: str
    answer: str = ""


def enter(ticket: Ticket) -> AgentState:
    return admit(plain, AgentRequest((Message("user", ticket.question),)))


def leave(ticket: Ticket, reply: AgentReply) -> Continue:
    ticket.answer = reply.text
    return Continue()


@node
async def close(step: Step[Ticket]) -> Complete[str]:
    return Complete(step.state.answer)


work = flow.as_node("agent", state=Ticket, enter=enter, leave=leave)
desk = Flow("desk", work.to(close), close)
assert_type(desk, Flow[Ticket, object, str])

# What is refused.


class Silent:
    name = "silent"

    async def check(self, text: str, messages: Sequence[Message], /) -> str:
        return text


def judge(messages: Sequence[Message], tools: Sequence[str]) -> Class:
    return Class()


reply_of = AgentReply("", "answer")


def wrong() -> None:
    AgentSpec(model=runner)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    AgentSpec(name="a", model="gpt-4o-mini")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    AgentSpec(name="a", model=runner, guards=[Silent()])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    AgentSpec(name="a", model=runner, classify=judge)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    AgentSpec(name="a", model=runner, required=["memories"])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    AgentLimits(on_limit="stop")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    Class("plan")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    flow.run_sync(asked)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
    reply_of.text = "changed"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
