"""A model that uses tools, in a loop of two nodes: the model, and the tools that it asks for.

The model is scripted, so it runs without network and key. Put `ModelRunner("name", base_url="...")` in its place:

    python examples/tool_loop.py
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from flowcore import Budget, Complete, Continue, Flow, Log, Reserve, Step, node
from flowcore.messages import Message, ModelReply, ToolCall
from flowcore.models import ModelRunner
from flowcore.testing import ScriptedModel
from flowcore.tools import ToolCatalog, ToolExecutor, assistant_message, tool_messages

SHELVES = {"dune": "A12", "emma": "B03"}
LENT = {"dune": 2, "emma": 0}


def find_book(title: str) -> str:
    """Find the shelf of a book.

    Args:
        title: The title, in any case.
    """
    return SHELVES[title.lower()]


async def copies_lent(title: str) -> int:
    """Count the copies of a book that are lent."""
    return LENT[title.lower()]


@dataclass
class Chat:
    """The state: what was said, and nothing else."""

    messages: Log[Message] = field(default_factory=Log[Message])


@dataclass(frozen=True)
class Desk:
    """What the nodes need from outside: three parts, put together here and nowhere in flowcore."""

    catalog: ToolCatalog
    runner: ModelRunner
    executor: ToolExecutor


@node(starts_round=True)
async def model(step: Step[Chat, Desk]) -> Continue[Literal["calls"]] | Complete[str]:
    """Ask the model; a reply without calls is the answer."""
    tools = await step.deps.catalog.for_request()
    reply = await step.deps.runner.invoke(list(step.state.messages), tools=tools)
    step.state.messages.append(assistant_message(reply))
    return Continue("calls") if reply.tool_calls else Complete(reply.text)


@node
async def tools(step: Step[Chat, Desk]) -> Continue[Literal["again", "enough"]]:
    """Run what the model asked for; each call has its result, in the order of the calls."""
    *history, asked = step.state.messages
    results = await step.deps.executor.run(asked.tool_calls, history=history)
    step.state.messages.extend(tool_messages(results))
    return Continue("enough" if any(result.must_end for result in results) else "again")


@node
async def conclude(step: Step[Chat, Desk]) -> Complete[str]:
    """Ask once more, without tools: nothing but an answer can come."""
    last = step.state.messages[-1]
    unrun = [Message("tool", "Not run.", tool_call_id=call.id) for call in last.tool_calls]  # the budget ran out
    question = Message("user", "Answer now, without tools.")
    reply = await step.deps.runner.invoke([*step.state.messages, *unrun, question])
    return Complete(reply.text)


loop = Flow(
    "tool loop",
    model.to(calls=tools),
    tools.to(again=model, enough=conclude),
    conclude,
    finish=conclude,
    reserve=Reserve(requests=1),
    description="A model that uses tools until it answers",
)

SCRIPT = (
    ModelReply("", tool_calls=(
        ToolCall("1", "find_book", '{"title": "Dune"}'),
        ToolCall("2", "copies_lent", '{"title": "Dune"}'),
    )),
    ModelReply("", tool_calls=(ToolCall("3", "find_book", '{"title": "Solaris"}'),)),
    "Dune stands on shelf A12; two copies are lent. We have no Solaris.",
)  # fmt: skip


def desk(*lines: str | ModelReply) -> Desk:
    """Return a desk whose model says these lines."""
    catalog = ToolCatalog([find_book, copies_lent])
    return Desk(catalog, ModelRunner(ScriptedModel(lines)), ToolExecutor(catalog))


def main() -> None:
    """Ask, and print what was said."""
    chat = Chat(Log([Message("user", "Where are Dune and Solaris, and is Dune lent?")]))
    result = loop.run_sync(
        chat, deps=desk(*SCRIPT), budget=Budget(rounds=8, requests=8, tool_calls=20), check=False
    )
    for message in result.state.messages:
        calls = "".join(f" {call.name}({call.arguments})" for call in message.tool_calls)
        print(f"{message.role}: {message.content}{calls}")
    print(result.usage)


if __name__ == "__main__":
    main()
