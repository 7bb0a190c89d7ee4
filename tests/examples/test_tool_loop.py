"""The loop of a model and its tools: composed of three parts, bounded in every way, rebuilt from its messages."""

from __future__ import annotations

import ast
import runpy
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pytest

from flowcore import Budget, Complete, Continue, Flow, Log, Step, node
from flowcore.events import Event
from flowcore.messages import Message, ModelReply, ModelRequest, TokenUsage, ToolCall
from flowcore.models import ModelRunner
from flowcore.testing import FakeClock, ScriptedLine, ScriptedModel
from flowcore.tools import ToolCatalog, ToolExecutor

EXAMPLE = Path(__file__).parents[2] / "examples" / "tool_loop.py"
QUESTION = Message("user", "Where is Dune?")


@pytest.fixture
def example() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLE))


def asks(*calls: tuple[str, str], text: str = "", reasoning: str = "") -> ModelReply:
    made = tuple(ToolCall(f"c{number}", name, arguments) for number, (name, arguments) in enumerate(calls))
    return ModelReply(text, tool_calls=made, reasoning=reasoning)


DUNE = ("find_book", '{"title": "Dune"}')


class Scripted:
    """A desk of the example whose model is scripted, and a run of the example with it."""

    def __init__(self, example: dict[str, Any], *lines: Any, **options: Any) -> None:
        self.clock = FakeClock()
        self.model = ScriptedModel(lines, clock=self.clock)
        catalog = ToolCatalog([example["find_book"], example["copies_lent"]])
        self.desk = example["Desk"](catalog, ModelRunner(self.model), ToolExecutor(catalog, **options))
        self.example = example
        self.events: list[Event] = []

    async def run(self, *messages: Message, **budget: Any) -> Any:
        chat = self.example["Chat"](Log(messages or (QUESTION,)))
        loop: Flow[Any, Any, Any] = self.example["loop"]
        async with loop.start(chat, deps=self.desk, budget=Budget(**budget), clock=self.clock) as run:
            for _ in range(budget.get("seconds", 0)):
                await self.clock.advance(1)
            self.events = [event async for event in run.events()]
            result = await run.wait()
        assert all(map(is_answered, self.model.requests))
        return result

    def sent(self, number: int) -> list[tuple[str, str]]:
        """Returns the messages of a request."""
        return [(message.role, message.content) for message in self.model.requests[number].messages]


def is_answered(request: ModelRequest) -> bool:
    """Returns whether each reply with calls is followed by a result for each of them: APIs refuse any other."""
    wanted: list[str] = []
    for message in request.messages:
        if message.role == "tool":
            if not wanted or message.tool_call_id != wanted.pop(0):
                return False
        elif wanted:
            return False
        wanted += [call.id for call in message.tool_calls]
    return not wanted


@pytest.mark.behaviour("S2-33")
def test_the_example_composes_three_parts_and_nothing_is_built_in(example: dict[str, Any]) -> None:
    imports = [item for item in ast.parse(EXAMPLE.read_text("utf-8")).body if isinstance(item, ast.ImportFrom)]
    rooms = ("flowcore.models", "flowcore.tools")
    parts = {
        alias.name for item in imports if item.module in rooms for alias in item.names if alias.name[0].isupper()
    }
    assert parts == {"ToolCatalog", "ModelRunner", "ToolExecutor"}
    ran = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, timeout=50, check=True)
    assert ran.stdout.splitlines()[:-1] == [
        "user: Where are Dune and Solaris, and is Dune lent?",
        'assistant:  find_book({"title": "Dune"}) copies_lent({"title": "Dune"})',
        "tool: A12",
        "tool: 2",
        'assistant:  find_book({"title": "Solaris"})',
        "tool: It failed: KeyError: 'solaris'",
        "assistant: Dune stands on shelf A12; two copies are lent. We have no Solaris.",
    ]


@pytest.mark.behaviour("S0-16")
async def test_a_text_without_calls_ends_the_loop(example: dict[str, Any]) -> None:
    desk = Scripted(example, "On shelf A12.")
    result = await desk.run()
    assert (result.value, result.trace.path) == ("On shelf A12.", "model")
    assert [schema.name for schema in desk.model.requests[0].tools] == ["find_book", "copies_lent"]


@pytest.mark.behaviour("S0-17", "S0-21")
async def test_both_calls_of_a_reply_run_and_the_next_request_has_their_results(example: dict[str, Any]) -> None:
    desk = Scripted(example, asks(DUNE, ("copies_lent", '{"title": "Emma"}'), text="Let me see."), "On A12.")
    result = await desk.run()
    assert (result.value, result.trace.path) == ("On A12.", "model > tools > model")
    assert desk.sent(1) == [
        ("user", "Where is Dune?"), ("assistant", "Let me see."), ("tool", "A12"), ("tool", "0"),
    ]  # fmt: skip
    assert [message.tool_call_id for message in desk.model.requests[1].messages] == ["", "", "c0", "c1"]
    assert [call.id for call in desk.model.requests[1].messages[1].tool_calls] == ["c0", "c1"]


@dataclass
class Thoughts:
    text: str = ""


@pytest.mark.behaviour("S0-18")
async def test_thoughts_may_come_with_calls_and_both_are_there() -> None:
    reply = asks(DUNE, reasoning="It is a novel.")

    async def told(step: Step[Thoughts]) -> Complete[tuple[str, str]]:
        got = await ModelRunner(ScriptedModel([reply])).invoke("Where is Dune?")
        return Complete((got.reasoning, got.tool_calls[0].name))

    assert await Flow("thoughts", node(told)).run(Thoughts()) == ("It is a novel.", "find_book")


@pytest.mark.behaviour("S0-22")
async def test_a_loop_goes_on_from_its_messages_alone(example: dict[str, Any]) -> None:
    lines = [asks(DUNE), asks(DUNE), asks(DUNE), "On A12."]
    whole = Scripted(example, *lines)
    result = await whole.run()
    for turns in range(1, 4):
        rest = Scripted(example, *lines[turns:])
        again = await rest.run(*result.state.messages[: 1 + 2 * turns])
        assert rest.model.requests == whole.model.requests[turns:]
        assert list(again.state.messages) == list(result.state.messages)
    assert result.state.messages[-2].content.startswith(
        "Skipped: find_book was called with the same arguments 3 times."
    )


@pytest.mark.behaviour("A11", "S1-15")
async def test_a_model_that_always_asks_ends_at_the_limit_and_the_finish_path_still_answers(
    example: dict[str, Any],
) -> None:
    endless = [asks(("find_book", f'{{"title": "x{n}"}}')) for n in range(4)]
    desk = Scripted(example, *endless, "I could not find it.", guard=None)
    result = await desk.run(requests=5)
    assert len(desk.model.requests) == 5
    assert result.usage.requests == 5
    assert (result.status, result.value, result.exhausted) == ("completed", "I could not find it.", "requests")
    assert result.trace.path == "model > tools > model > tools > model > tools > model > tools > model! > conclude"
    (spent,) = [event for event in desk.events if event.kind == "budget.exhausted"]
    assert (spent.dimension, spent.limit) == ("requests", 5)  # type: ignore[attr-defined]
    statuses = [event.status for event in desk.events if event.kind == "tool.finished"]  # type: ignore[attr-defined]
    assert statuses == ["failed"] * 4
    assert desk.model.requests[-1].tools == ()


@pytest.mark.behaviour("A23")
async def test_when_the_calls_run_out_there_is_one_more_request_without_tools(example: dict[str, Any]) -> None:
    desk = Scripted(example, asks(DUNE), asks(DUNE, ("copies_lent", '{"title": "Dune"}')), "On A12, I think.")
    result = await desk.run(tool_calls=2)
    assert (result.status, result.value, result.exhausted) == ("completed", "On A12, I think.", "tool_calls")
    assert [len(request.tools) for request in desk.model.requests] == [2, 2, 0]
    assert result.usage.tool_calls == 1
    assert desk.sent(2)[-3:] == [
        ("tool", "Not run."), ("tool", "Not run."), ("user", "Answer now, without tools."),
    ]  # fmt: skip


@pytest.mark.behaviour("A23")
async def test_with_nothing_held_back_it_is_a_typed_failure(example: dict[str, Any]) -> None:
    model, tools, conclude = (example[name] for name in ("model", "tools", "conclude"))
    bare = Flow("bare", model.to(calls=tools), tools.to(again=model, enough=conclude), conclude)
    desk = Scripted({**example, "loop": bare}, asks(DUNE))
    result = await desk.run(tool_calls=0)
    assert (result.status, result.exhausted, result.trace.path) == ("failed", "tool_calls", "model > tools!")
    assert (result.failure.code, str(result.failure)) == (
        "budget_exhausted",
        "BudgetExhausted: the tool_calls ran out: 0 of 0 used",
    )
    with pytest.raises(ValueError, match="the reserve of 1 requests is more than the budget of 0"):
        await Scripted(example).run(requests=0)


@pytest.mark.behaviour("S1-15")
@pytest.mark.parametrize(
    ("limit", "requests"),
    [
        ({"rounds": 3}, 4),
        ({"requests": 3}, 3),
        ({"tool_calls": 3}, 5),
        ({"tokens": 35}, 4),
        ({"cost": 0.5}, 3),
        ({"seconds": 35}, 4),
    ],
    ids=lambda limit: next(iter(limit)) if isinstance(limit, dict) else "",
)
async def test_a_model_that_always_asks_is_stopped_by_every_limit(
    example: dict[str, Any], limit: dict[str, Any], requests: int
) -> None:
    reply = replace(asks(("copies_lent", DUNE[1])), usage=TokenUsage(10, 5), cost=0.25)
    line = ScriptedLine(reply, wait=10) if "seconds" in limit else reply
    desk = Scripted(example, *[line] * 9, guard=None)
    result = await desk.run(**limit)
    assert (result.exhausted, len(desk.model.requests)) == (next(iter(limit)), requests)


@pytest.mark.behaviour("S1-15")
async def test_a_model_that_goes_round_in_circles_is_asked_without_tools(example: dict[str, Any]) -> None:
    desk = Scripted(example, *[asks(("find_book", f'{{"title": "x{n}"}}')) for n in range(7)], "It is not here.")
    result = await desk.run()
    assert (result.value, result.exhausted) == ("It is not here.", None)
    assert result.trace.path.endswith("tools > conclude")
    assert len(desk.model.requests) == 8
    assert desk.sent(7)[-2:] == [
        ("tool", "Skipped: find_book was called in 7 replies in a row. Answer now with what you have."),
        ("user", "Answer now, without tools."),
    ]


@pytest.mark.behaviour("A121")
async def test_broken_arguments_are_an_error_for_their_call_and_do_not_poison_the_next_request(
    example: dict[str, Any],
) -> None:
    desk = Scripted(
        example, asks(DUNE, ("copies_lent", '{"title": ')), asks(("copies_lent", '{"title": "Dune"}')), "2"
    )
    result = await desk.run()
    assert (result.value, result.usage.requests, result.usage.tool_calls) == ("2", 3, 2)
    _, said, fine, wrong = desk.model.requests[1].messages
    assert [call.arguments for call in said.tool_calls] == [DUNE[1], '{"malformed_arguments": "{\\"title\\":"}']
    assert (fine.tool_call_id, fine.content, wrong.tool_call_id) == ("c0", "A12", "c1")
    assert wrong.content == (
        "Not run, since the arguments do not fit: the arguments break off: send them again, whole. "
        "Call copies_lent again with all arguments put right."
    )


@pytest.mark.behaviour("S2-38")
@pytest.mark.parametrize(
    ("route", "path"), [("run", "ask > run"), ("ask", "ask > ask > end"), ("end", "ask > end")]
)
async def test_what_follows_a_proposal_is_the_applications_decision(
    example: dict[str, Any], route: str, path: str
) -> None:
    ran: list[str] = []
    desk = Scripted(example, asks(DUNE), "On A12.")
    Chat = example["Chat"]

    async def ask(step: Any) -> Any:
        reply = await desk.desk.runner.invoke("Where is Dune?")
        return Continue(route if reply.tool_calls else "end")

    async def run(step: Any) -> Any:
        ran.append("run")
        return Complete("ran")

    async def end(step: Any) -> Any:
        return Complete("ended")

    ask.__annotations__.update({"step": Step[Chat], "return": Continue[Literal["run", "ask", "end"]]})
    for each in (run, end):
        each.__annotations__.update({"step": Step[Chat], "return": Complete[str]})
    first, second, third = node(starts_round=True)(ask), node(run), node(end)
    flow: Flow[Any, Any, Any] = Flow("router", first.to(run=second, ask=first, end=third), second, third)
    result = await flow.run(Chat(), check=False)
    assert (result.trace.path, len(ran)) == (path, int(route == "run"))
