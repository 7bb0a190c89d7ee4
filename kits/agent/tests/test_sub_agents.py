"""Sub-agents: what they are given, what they may use, and what the agent is told of them."""

from __future__ import annotations

from types import SimpleNamespace as Kit
from typing import Any

import pytest

from flowcore.errors import ModelRequestError
from flowcore.events import ToolDelta
from flowcore.messages import Message, ModelReply, ModelRequest, ModelSettings
from flowcore.testing import FlowRunner
from flowcore.tools import Allow, Ask, ToolContext, tool
from flowcore_agent import (
    AgentLimits,
    AgentRequest,
    CustomPrompt,
    OwnTools,
    RuleClassifier,
    SubAgentEvent,
    Todo,
    admit,
    agent_flow,
    sub_agent_flow,
)

SUB = {"own_tools": OwnTools(sub_agent=True)}
GO = AgentRequest((Message("user", "Go."),), user="ann", conversation="c7")


@tool
async def look(at: int = 0) -> str:
    """Look."""
    return f"seen {at}"


@tool(effects=True)
async def pay() -> str:
    """Pay."""
    return "paid"


def delegated(kit: Kit, *tasks: str) -> ModelReply:
    made = [kit.call("delegate", f'{{"task": "{task}"}}', f"d{n}") for n, task in enumerate(tasks)]
    reply: ModelReply = kit.calls(*made, text="I delegate.")
    return reply


def shown(desk: Any, number: int) -> list[str]:
    return [schema.name for schema in desk.requests[number].tools]


@pytest.mark.behaviour("S0-53", "S0-57")
def test_the_trace_of_an_agent_with_a_sub_agent(kit: Kit, flow_runner: FlowRunner, trace_snapshot: Any) -> None:
    lines = [delegated(kit, "Look at one."), kit.calls("look"), "One is fine.", "All is fine."]
    desk = kit.Desk(lines, [look], flow_runner.clock, spec=SUB)
    assert flow_runner(agent_flow(desk.agent), admit(desk.agent, GO)) == trace_snapshot


@pytest.mark.behaviour("S0-55", "S0-57")
async def test_a_sub_agent_has_its_task_alone_and_the_agent_gets_one_message(kit: Kit) -> None:
    lines = [delegated(kit, "Look at one."), kit.calls("look"), "One is fine.", "All is fine."]
    desk = kit.Desk(lines, [look], spec={**SUB, "prompt": CustomPrompt("You sell tea.")})
    result = await desk.ask("A secret.", Message("user", "Hello."), Message("assistant", "Hi."))
    first, second = desk.requests[1], desk.requests[2]
    assert kit.told(first)[1:] == [("user", "Look at one.")]
    assert kit.told(second)[1:] == [("user", "Look at one."), ("assistant", ""), ("tool", "seen 0")]
    assert kit.told(first)[0][1].startswith("You are a sub-agent of the assistant agent.")
    assert "tea" not in kit.told(first)[0][1]
    assert [(message.role, message.content) for message in result.value.turn] == [
        ("assistant", "I delegate."),
        ("tool", "One is fine."),
        ("assistant", "All is fine."),
    ]
    assert list(result.state.said) == ["I delegate.", "All is fine."]


@pytest.mark.behaviour("S0-55")
@pytest.mark.parametrize(
    ("limits", "turns"),
    [
        (AgentLimits(), 6),
        (AgentLimits(sub_turns=2), 2),
        (AgentLimits(turns=4), 3),
        (AgentLimits(turns=2, on_limit="error"), 1),
    ],
)
async def test_a_sub_agent_has_fewer_turns_than_the_agent(kit: Kit, limits: AgentLimits, turns: int) -> None:
    looks = [kit.calls(kit.call("look", f'{{"at": {n}}}', f"c{n}")) for n in range(turns)]
    desk = kit.Desk(
        [delegated(kit, "Look."), *looks, "Half of it.", "Fine."], [look], spec={**SUB, "limits": limits}
    )
    result = await desk.ask()
    assert kit.results(result.value) == ["It had to stop before it was done. It says:\nHalf of it."]
    assert result.value.text == "Fine."
    assert [len(shown(desk, n)) for n in range(1, turns + 2)] == [1] * turns + [0]


@pytest.mark.behaviour("S0-56")
async def test_a_sub_agent_may_use_data_tools_and_may_not_delegate(kit: Kit) -> None:
    own = OwnTools(sub_agent=True, todo=True, completion=True)
    lines = [delegated(kit, "Look."), kit.calls("delegate", "pay", "complete"), "Nothing found.", "Fine."]
    desk = kit.Desk(lines, [look, pay], spec={"own_tools": own})
    result = await desk.ask()
    assert shown(desk, 0) == ["todo", "complete", "delegate", "look", "pay"]
    assert shown(desk, 1) == shown(desk, 2) == ["todo", "look"]
    said = [content for role, content in kit.told(desk.requests[2]) if role == "tool"]
    assert said == [
        "Not run: there is no tool 'delegate'. The tools are: todo, look.",
        "Denied: pay may not be used here.",
        "Not run: there is no tool 'complete'. The tools are: todo, look.",
    ]
    assert kit.results(result.value) == ["Nothing found."]


@pytest.mark.behaviour("S0-56")
async def test_a_sub_agent_has_a_list_of_work_of_its_own(kit: Kit) -> None:
    def listed(text: str) -> Any:
        return kit.call("todo", f'{{"items": [{{"text": "{text}", "is_done": false}}]}}')

    lines = [kit.calls(listed("Mine")), delegated(kit, "Look."), kit.calls(listed("Yours")), "Found.", "Fine."]
    desk = kit.Desk(lines, [look], spec={"own_tools": OwnTools(sub_agent=True, todo=True)})
    result = await desk.ask()
    assert result.state.todo == (Todo("Mine"),)
    assert not any("Mine" in content for _, content in kit.told(desk.requests[3]))


async def test_of_memory_and_skills_a_sub_agent_may_read(kit: Kit) -> None:
    class Notes:
        async def core(self, user: str, agent: str, /) -> str:
            return ""

        async def generation(self, user: str, agent: str, /) -> int:
            return 0

        async def recall(self, user: str, agent: str, query: str, most: int, /) -> list[str]:
            return [f"{user} of {agent} likes tea"] if query == "tea" else []

        async def save(self, user: str, agent: str, text: str, /) -> None:
            raise AssertionError("nothing is saved")

    own = OwnTools(sub_agent=True, memory=True)
    asked = kit.calls(kit.call("search_memory", '{"query": "tea"}'), kit.call("save_memory", '{"text": "x"}'))
    desk = kit.Desk(
        [delegated(kit, "Tea?"), asked, "Tea.", "Fine."], [look], spec={"own_tools": own, "memory": Notes()}
    )
    await desk.ask()
    assert shown(desk, 1) == ["search_memory", "look"]
    said = [content for role, content in kit.told(desk.requests[2]) if role == "tool"]
    assert said[0] == "- ann of agent likes tea"
    assert said[1].startswith("Not run: there is no tool 'save_memory'")


async def test_the_tools_of_a_sub_agent_are_chosen_by_its_task(kit: Kit) -> None:
    @tool
    async def get_weather(city: str) -> str:
        """Tell the weather in a city."""
        return "sunny"

    limits = AgentLimits(catalog=2)
    lines = [delegated(kit, "The weather in Bonn?"), "Sunny.", "Fine."]
    desk = kit.Desk(lines, [look, get_weather], spec={**SUB, "limits": limits})
    await desk.ask("Look!")
    assert [shown(desk, n) for n in range(3)] == [
        ["delegate", "look"],
        ["look", "get_weather"],
        ["delegate", "look"],
    ]


async def test_a_sub_agent_works_as_the_agent_does_for_the_same_user(kit: Kit) -> None:
    seen: list[Any] = []

    @tool
    async def peek(context: ToolContext[str]) -> None:
        """Peek."""
        seen.append(context.deps)

    lines = [delegated(kit, "Peek."), kit.calls("peek"), "Peeked.", "Fine."]
    desk = kit.Desk(lines, [peek], spec={**SUB, "settings": ModelSettings(temperature=0.5)})
    await agent_flow(desk.agent).run(admit(desk.agent, GO), deps="the app's")
    assert seen == ["the app's"]
    assert [request.settings.temperature for request in desk.requests] == [0.5] * 4


async def test_what_a_person_would_be_asked_about_is_denied(kit: Kit) -> None:
    def policy(proposal: Any) -> Any:
        return Ask("May it?") if proposal.tool.name == "look" else Allow()

    lines = [delegated(kit, "Look."), kit.calls("look"), "I may not look.", "Fine."]
    desk = kit.Desk(lines, [look], spec={**SUB, "policy": policy})
    result = await desk.ask()
    said = [content for role, content in kit.told(desk.requests[2]) if role == "tool"]
    assert said == [
        "Denied: it needs the consent of a person, and a sub-agent can ask nobody; go on without it, and say so."
    ]
    assert kit.results(result.value) == ["I may not look."]


async def test_a_sub_agent_is_neither_classed_nor_planned_nor_streamed(kit: Kit) -> None:
    pieces: list[str] = []

    class Sink:
        async def output(self, chunk: Any, /) -> None:
            pieces.append(chunk.text)

    spec = {**SUB, "classify": RuleClassifier(short_from=1), "plan": True, "verify": True, "sink": Sink()}
    lines = ['{"steps": ["Ask"]}', delegated(kit, "Look."), "A secret.", "All is fine.", '{"is_done": true}']
    desk = kit.Desk(lines, [look], spec=spec)
    result = await desk.ask("What is it?")
    assert result.value.text == "All is fine."
    assert "".join(pieces) == "I delegate.All is fine."


async def test_what_a_sub_agent_fails_with_is_the_result_of_the_call(kit: Kit) -> None:
    lines = [delegated(kit, "Look."), ModelRequestError("refused", status=400), "Fine."]
    desk = kit.Desk(lines, [look], runner={"retry": None}, spec=SUB)
    result = await desk.ask()
    assert kit.results(result.value) == ["It came to no conclusion. It failed: ModelRequestError: refused"]
    assert (result.value.text, result.value.issues) == ("Fine.", ())
    text = result.trace.to_text()
    assert '"reason": "failed"' in text
    assert "artifact sub-agent act#1/d0 = " in text


async def test_what_it_had_said_before_it_failed_is_handed_back_as_cut_short(kit: Kit) -> None:
    lines = [
        delegated(kit, "Look."),
        kit.calls("look", text="One is fine so far."),
        ModelRequestError("refused", status=400),
        "Fine.",
    ]
    result = await kit.Desk(lines, [look], runner={"retry": None}, spec=SUB).ask()
    said = "It was cut short (failed). What it had said by then:\nOne is fine so far."
    assert kit.results(result.value) == [said]


async def test_one_that_says_nothing_came_to_no_conclusion(kit: Kit) -> None:
    result = await kit.Desk([delegated(kit, "Look."), "", "Fine."], [look], spec=SUB).ask()
    assert kit.results(result.value) == ["It came to no conclusion."]


async def test_an_empty_task_is_not_worked_on(kit: Kit) -> None:
    result = await kit.Desk([delegated(kit, " "), "Fine."], [look], spec=SUB).ask()
    assert kit.results(result.value) == ["It failed: the task is empty: say what is to be found out"]


def test_the_flow_of_a_sub_agent_can_be_drawn(kit: Kit) -> None:
    flow = sub_agent_flow(kit.Desk([], [look], spec=SUB).agent)
    assert flow.nodes == ("route", "trim", "compact", "think", "act", "wrap_up", "salvage", "conclude")


async def test_what_it_concludes_is_cut_like_any_result(kit: Kit) -> None:
    spec = {**SUB, "limits": AgentLimits(max_result=200)}
    result = await kit.Desk([delegated(kit, "Look."), "word " * 500, "Fine."], [look], spec=spec).ask()
    (said,) = kit.results(result.value)
    assert len(said) < 260
    assert "characters left out" in said


@pytest.mark.behaviour("S0-58")
async def test_its_events_are_told_with_its_task_and_its_depth(kit: Kit) -> None:
    lines = [delegated(kit, "Look."), kit.calls("look"), "Found.", "Fine."]
    desk = kit.Desk(lines, [look], spec=SUB)
    async with agent_flow(desk.agent).start(admit(desk.agent, GO)) as run:
        told = [event async for event in run.events()]
        result = await run.wait()
    deltas = [event for event in told if isinstance(event, ToolDelta)]
    inner = [event.data for event in deltas if isinstance(event.data, SubAgentEvent)]
    assert {(event.path, event.call, event.tool) for event in deltas} == {("act#1", "d0", "delegate")}
    assert {(each.task, each.depth) for each in inner} == {("act#1/d0", 1)}
    kinds = [each.event.kind for each in inner]
    assert (kinds[0], kinds[-1], kinds.count("model.requested"), kinds.count("tool.finished")) == (
        "run.started",
        "run.completed",
        2,
        1,
    )
    places = [event.kind for event in told]
    assert places.index("tool.started") < places.index("tool.delta") < places.index("tool.finished")
    assert 'emit sub_agent.finished = {"cost": 0, "depth": 1,' in result.trace.to_text()


async def test_two_sub_agents_of_one_turn_are_told_apart(kit: Kit) -> None:
    def say(request: ModelRequest) -> str:
        return f"About {request.messages[1].content}"

    desk = kit.Desk([delegated(kit, "one", "two"), say, say, "Fine."], [look], spec=SUB)
    async with agent_flow(desk.agent).start(admit(desk.agent, GO)) as run:
        data = [event.data async for event in run.events() if isinstance(event, ToolDelta)]
        result = await run.wait()
    assert {each.task for each in data if isinstance(each, SubAgentEvent)} == {"act#1/d0", "act#1/d1"}
    assert kit.results(result.value) == ["About one", "About two"]


def _one(name: str, usage: Any) -> float:
    return 1.0


@pytest.mark.behaviour("S0-59")
async def test_what_it_uses_is_part_of_what_the_agent_has_used(kit: Kit) -> None:
    lines = [delegated(kit, "Look."), kit.calls("look"), "Found.", "Fine."]
    priced = {"prices": _one}
    whole = await kit.Desk(lines, [look], runner=priced, spec=SUB).ask()
    own = await kit.Desk([kit.calls("look"), "Fine."], [look], runner=priced, spec=SUB).ask()
    assert (own.usage.requests, own.usage.tool_calls, own.usage.rounds, own.usage.cost) == (2, 1, 2, 2.0)
    assert (whole.usage.requests, whole.usage.tool_calls, whole.usage.rounds, whole.usage.cost) == (4, 2, 4, 4.0)


async def test_without_the_switch_there_is_no_such_tool(kit: Kit) -> None:
    desk = kit.Desk(["Fine."], [look])
    await desk.ask()
    assert shown(desk, 0) == ["look"]
