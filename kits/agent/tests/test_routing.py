"""Routing: how a request is classed, and which tools it is shown."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import SimpleNamespace as Kit
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowcore import Budget, ContractError
from flowcore.errors import ModelRequestError
from flowcore.messages import Message, ToolCall
from flowcore.models import ModelRunner
from flowcore.testing import ScriptedModel
from flowcore.tools import Tool, ToolCatalog, tool
from flowcore_agent import (
    AgentLimits,
    AgentSpec,
    Class,
    Issue,
    ModelClassifier,
    OwnTools,
    RuleClassifier,
    agent_flow,
)
from flowcore_agent.routing.relevance import relevant_tools


@tool
async def look(at: int = 0) -> str:
    """Look."""
    return f"seen {at}"


def made(name: str, description: str = "", *parameters: str) -> Tool:
    schema = {"type": "object", "properties": {each: {"type": "string"} for each in parameters}}

    async def call(context: Any, arguments: Any) -> str:
        return name

    return Tool(name=name, description=description, parameters=schema, call=call)


SHOP = [
    made("find_order", "Find an order of a customer.", "customer"),
    made("cancel_order", "Cancel an order that was not sent yet.", "order"),
    made("get_weather", "Tell the weather in a city.", "city"),
    made("translate", "Translate a text into another language.", "text"),
    made("convertCurrency", "Convert an amount.", "amount"),
]


def says(route: Any, depth: Any = "none") -> Any:
    async def classify(messages: Sequence[Message], tools: Sequence[str]) -> Class:
        return Class(route, depth)

    return classify


def shown(desk: Any, number: int = 0) -> list[str]:
    return [schema.name for schema in desk.requests[number].tools]


@pytest.mark.behaviour("S1-06")
@pytest.mark.parametrize(
    ("found", "path", "tools"),
    [
        (Class("direct"), "prepare > route > trim > think > deliver", []),
        (Class("task", "none"), "prepare > route > trim > think > deliver", ["look"]),
        (Class("task", "short"), "prepare > route > plan > trim > think > deliver", ["look"]),
        (Class("task", "full"), "prepare > route > plan > trim > think > deliver", ["look"]),
    ],
)
async def test_the_class_says_how_a_request_is_worked_on(
    kit: Kit, found: Class, path: str, tools: list[str]
) -> None:
    plan = ['{"steps": ["Look"]}'] if found.depth != "none" else []
    desk = kit.Desk([*plan, "Done."], [look], spec={"classify": says(found.route, found.depth), "plan": True})
    result = await desk.ask()
    assert result.path == path
    assert (result.state.route, result.state.depth) == (found.route, found.depth)
    assert shown(desk, -1) == tools
    why = "" if found.route == "direct" else f': depth = "{found.depth}"'
    label = path.split(" > ")[2] if found.depth != "none" else found.route
    assert f"({label}{why})" in result.trace.to_text()


async def test_what_the_classifier_sees_are_the_messages_and_the_tools_of_the_request(kit: Kit) -> None:
    seen: list[Any] = []

    async def classify(messages: Sequence[Message], tools: Sequence[str]) -> Class:
        seen.append(([message.content for message in messages], list(tools)))
        return Class()

    spec = {"classify": classify, "allowed": ["look"], "own_tools": OwnTools(todo=True, sub_agent=True)}
    desk = kit.Desk(["Done."], [look, made("other")], spec=spec)
    await desk.ask("Go.", Message("user", "Hello."), Message("assistant", "Hi."))
    assert seen == [(["Hello.", "Hi.", "Go."], ["look"])]
    assert shown(desk) == ["todo", "delegate", "look"]


async def test_a_direct_answer_may_call_no_tool(kit: Kit) -> None:
    desk = kit.Desk([kit.calls("look"), "Hello."], [look], spec={"classify": says("direct")})
    result = await desk.ask()
    assert kit.results(result.value) == ["Denied: look may not be used here."]
    assert result.value.text == "Hello."


async def test_a_classifier_that_fails_is_an_issue_and_the_request_a_task(kit: Kit) -> None:
    async def classify(messages: Sequence[Message], tools: Sequence[str]) -> Class:
        raise OSError("gone")

    desk = kit.Desk(["Done."], [look], spec={"classify": classify, "plan": True, "verify": True})
    result = await desk.ask()
    assert result.path == "prepare > route > trim > think > verify > deliver"
    assert (result.state.route, result.state.depth, result.value.text) == ("task", "none", "Done.")
    assert result.value.issues == (Issue("route", "OSError", "gone"),)


async def test_a_classifier_that_returns_no_class_is_a_broken_contract(kit: Kit) -> None:
    async def classify(messages: Sequence[Message], tools: Sequence[str]) -> Any:
        return "task"

    result = await kit.Desk([], spec={"classify": classify}).ask()
    assert isinstance(result.failure.exception, ContractError)
    assert "classify returned a str: return a Class" in str(result.failure)


async def test_a_classifier_may_be_a_plain_function_and_must_be_one_at_all(kit: Kit) -> None:
    def classify(messages: Sequence[Message], tools: Sequence[str]) -> Class:
        return Class("direct")

    result = await kit.Desk(["Hello."], spec={"classify": classify}).ask()
    assert (result.state.route, result.value.issues) == ("direct", ())
    with pytest.raises(ContractError, match="classify is a str: give RuleClassifier"):
        kit.Desk([], spec={"classify": "rule"})
    result = await kit.Desk([], spec={"classify": RuleClassifier}).ask()
    assert "classify returned a RuleClassifier: return a Class" in str(result.failure)


@pytest.mark.behaviour("S1-06")
async def test_a_model_classes_in_one_request_that_the_run_pays_for(kit: Kit) -> None:
    small = ScriptedModel(['{"route": "direct", "depth": "none"}'], name="small")
    classifier = ModelClassifier(ModelRunner(small, prices=lambda name, usage: 1.0))
    desk = kit.Desk(["Hello."], [look], spec={"classify": classifier})
    result = await desk.ask("Hi!")
    assert (result.state.route, result.usage.requests, result.usage.cost) == ("direct", 2, 1.0)
    (request,) = small.requests
    assert request.output is not None
    assert "Tools there are: look" in request.messages[0].content
    assert [(message.role, message.content) for message in request.messages[1:]] == [("user", "Hi!")]


async def test_a_model_that_cannot_be_reached_classes_nothing_and_the_run_goes_on(kit: Kit) -> None:
    broken = ModelRunner(ScriptedModel([ModelRequestError("refused", status=400)]), retry=None)
    desk = kit.Desk(["Done."], [look], spec={"classify": ModelClassifier(broken)})
    result = await desk.ask()
    assert [(issue.stage, issue.name) for issue in result.value.issues] == [("route", "ModelRequestError")]
    assert (result.value.text, shown(desk)) == ("Done.", ["look"])


async def test_a_budget_that_runs_out_in_the_classifier_ends_the_run(kit: Kit) -> None:
    classifier = ModelClassifier(ModelRunner(ScriptedModel([]), prices=lambda name, usage: 0.0))
    desk = kit.Desk([], [look], spec={"classify": classifier})
    flow = agent_flow(desk.agent)
    result = await flow.run(desk.state(), budget=Budget(requests=0), check=False)
    assert (result.status, result.exhausted) == ("failed", "requests")
    assert result.path == "prepare > route! > salvage!"


@pytest.mark.parametrize(
    ("text", "tools", "found"),
    [
        ("Thank you very much!", ["look"], Class("direct")),
        ("Hi", ["look"], Class("direct")),
        ("", ["look"], Class("task")),
        ("OK, good.", ["look"], Class("task")),
        ("What is in the box?", [], Class("direct")),
        ("What is in the box?", ["look"], Class("task")),
        ("Hello, what is in the box?", ["look"], Class("task")),
        ("word " * 39, ["look"], Class("task")),
        ("word " * 40, ["look"], Class("task", "short")),
        ("Look at\n- the box", ["look"], Class("task", "short")),
        ("Do\n1. this\n2) that\n* the other", ["look"], Class("task", "full")),
        ("word " * 120, ["look"], Class("task", "full")),
    ],
)
async def test_the_rule_classes_by_length_and_form(text: str, tools: list[str], found: Class) -> None:
    talk = [Message("user", "Before."), Message("assistant", "Yes."), Message("user", text)]
    assert await RuleClassifier()(talk, tools) == found


@pytest.mark.behaviour("S1-06")
async def test_a_turn_is_shown_no_more_tools_than_the_bound_and_those_that_fit(kit: Kit) -> None:
    spec = {"limits": AgentLimits(catalog=3), "own_tools": OwnTools(todo=True)}
    desk = kit.Desk([kit.calls("translate", "cancel_order"), "Done."], SHOP, spec=spec)
    result = await desk.ask("Please cancel my orders, and find what they cost.")
    assert shown(desk) == shown(desk, 1) == ["todo", "find_order", "cancel_order"]
    assert result.state.tools == ("find_order", "cancel_order")
    assert kit.results(result.value) == ["Denied: translate may not be used here.", "cancel_order"]


async def test_below_the_bound_nothing_is_chosen(kit: Kit) -> None:
    desk = kit.Desk(["Done."], SHOP, spec={"limits": AgentLimits(catalog=5)})
    result = await desk.ask()
    assert result.state.tools is None
    assert len(shown(desk)) == 5


async def test_where_the_loops_own_tools_fill_the_bound_no_other_is_shown(kit: Kit) -> None:
    spec = {"limits": AgentLimits(catalog=1), "own_tools": OwnTools(todo=True)}
    desk = kit.Desk([kit.calls("translate"), "Done."], SHOP, spec=spec)
    result = await desk.ask()
    assert shown(desk) == ["todo"]
    assert kit.results(result.value) == ["Denied: translate may not be used here."]
    with pytest.raises(ContractError, match=r"catalog=1\) is too few for the loop's own tools: todo, complete"):
        agent_flow(
            AgentSpec(
                name="a",
                model=ModelRunner(ScriptedModel([])),
                limits=AgentLimits(catalog=1),
                own_tools=OwnTools(todo=True, completion=True),
            )
        )


async def test_what_the_spec_does_not_allow_is_not_chosen(kit: Kit) -> None:
    def allowed(tool: Tool) -> bool:
        return tool.name != "cancel_order"

    spec = {"limits": AgentLimits(catalog=1), "allowed": allowed}
    desk = kit.Desk(["Done."], SHOP, spec=spec)
    await desk.ask("Cancel my order.")
    assert shown(desk) == ["find_order"]


def names(*tools: Tool) -> dict[str, Tool]:
    return {each.name: each for each in tools}


@pytest.mark.parametrize(
    ("request_", "best"),
    [
        ("What's the WEATHER like?", "get_weather"),
        ("In which city do I live?", "get_weather"),
        ("Translating this: le chat", "translate"),
        ("how much is that in another currency", "convertCurrency"),
        ("customers", "find_order"),
        ("the a an of", "cancel_order"),
        ("nothing fits: xyzzy", "find_order"),
    ],
)
def test_words_in_common_choose_and_the_first_of_equals(request_: str, best: str) -> None:
    if request_.startswith("the"):
        best = relevant_tools(names(*SHOP), 1, request_)[0]  # words that all have say next to nothing, but decide
    assert relevant_tools(names(*SHOP), 1, request_) == (best,)


def test_a_script_without_spaces_is_read_character_by_character() -> None:
    tools = names(made("a", "何か"), made("b", "天気を調べる"))
    assert relevant_tools(tools, 1, "今日の天気は?") == ("b",)


def test_what_was_called_before_stays() -> None:
    before = [Message("assistant", "", (ToolCall("t", "translate", "{}"),))]
    assert relevant_tools(names(*SHOP), 2, "the weather", before) == ("get_weather", "translate")


tool_sets = st.lists(
    st.tuples(st.from_regex(r"[a-z_]{1,12}", fullmatch=True), st.text(max_size=60)),
    unique_by=lambda pair: pair[0],
    max_size=12,
)


@given(tool_sets, st.integers(0, 14), st.text(max_size=80))
def test_the_choice_is_bounded_in_order_and_always_the_same(
    found: list[tuple[str, str]], most: int, asked: str
) -> None:
    tools = {name: made(name, description) for name, description in found}
    chosen = relevant_tools(tools, most, asked)
    assert len(chosen) == min(most, len(tools))
    assert list(chosen) == [name for name in tools if name in chosen]
    assert relevant_tools(tools, most, asked) == chosen


def test_a_thousand_tools_are_chosen_from_in_no_time() -> None:
    tools = names(*(made(f"tool_{n}", f"Does number {n} to the {n % 7}th customer.") for n in range(1000)))
    began = time.process_time()
    assert "tool_412" in relevant_tools(tools, 64, "do thing number 412 please")
    assert time.process_time() - began < 2


async def test_the_tools_of_two_requests_are_chosen_apart(kit: Kit) -> None:
    desk = kit.Desk(["A.", "B."], SHOP, spec={"limits": AgentLimits(catalog=1)})
    await desk.ask("The weather?")
    await desk.ask("Translate this.")
    assert [shown(desk, 0), shown(desk, 1)] == [["get_weather"], ["translate"]]


def test_a_catalogue_stays_as_it_is() -> None:
    catalog = ToolCatalog(SHOP)
    relevant_tools(catalog.tools, 2, "weather")
    assert list(catalog.tools) == [each.name for each in SHOP]
