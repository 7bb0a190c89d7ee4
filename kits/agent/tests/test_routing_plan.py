"""Plan and verification: what comes before the work on a complex request, and after its answer."""

from __future__ import annotations

from types import SimpleNamespace as Kit
from typing import Any

import pytest

from flowcore import Budget
from flowcore.errors import ContextOverflow, ModelRequestError
from flowcore.messages import Message
from flowcore.store import MemoryRunStore
from flowcore.testing import FlowRunner
from flowcore.tools import tool
from flowcore_agent import AgentLimits, AgentRequest, Class, Issue, OwnTools, admit, agent_flow

PLAN = '{"steps": ["Look at one", "Say what it is"]}'
DONE = '{"is_done": true}'
LACKS = '{"is_done": false, "missing": "It does not say\\nwhat two is."}'

GO = AgentRequest((Message("user", "Go."),))


@tool
async def look(at: int = 0) -> str:
    """Look."""
    return f"seen {at}"


def complex_one(**more: Any) -> dict[str, Any]:
    async def classify(messages: Any, tools: Any) -> Class:
        return Class("task", "full")

    return {"classify": classify, "plan": True, "verify": True, **more}


@pytest.mark.behaviour("S1-07")
async def test_a_complex_request_is_planned_and_its_answer_looked_at(kit: Kit) -> None:
    desk = kit.Desk([PLAN, kit.calls("look"), "It is one.", DONE], [look], spec=complex_one())
    result = await desk.ask("What is it?")
    assert result.path == "prepare > route > plan > trim > think > act > trim > think > verify > deliver"
    assert result.value.text == "It is one."
    assert result.state.plan == "1. Look at one\n2. Say what it is"
    assert (result.usage.requests, result.usage.rounds) == (4, 2)


@pytest.mark.behaviour("S1-07")
async def test_a_plain_request_has_neither(kit: Kit) -> None:
    async def classify(messages: Any, tools: Any) -> Class:
        return Class("task", "none")

    desk = kit.Desk(["It is one."], [look], spec=complex_one(classify=classify))
    result = await desk.ask()
    assert result.path == "prepare > route > trim > think > verify > deliver"
    assert result.usage.requests == 1
    assert "deliver  (done: checked = False)" in result.trace.to_text()


@pytest.mark.behaviour("S1-07")
def test_a_complex_request_may_have_all_of_plan_sub_agents_and_verification(
    kit: Kit, flow_runner: FlowRunner, trace_snapshot: Any
) -> None:
    wanted = kit.calls(kit.call("delegate", '{"task": "Look at two."}', "d1"))
    lines = [PLAN, wanted, kit.calls("look"), "Two is two.", "One is one.", LACKS, "One is one, two is two."]
    desk = kit.Desk(
        lines, [look], flow_runner.clock, spec=complex_one(own_tools=OwnTools(sub_agent=True), classify=None)
    )
    request = AgentRequest((Message("user", "What are one and two?"),))
    assert flow_runner(agent_flow(desk.agent), admit(desk.agent, request)) == trace_snapshot


async def test_the_plan_is_shown_to_each_turn_as_data_and_not_kept_in_the_turn(kit: Kit) -> None:
    desk = kit.Desk([PLAN, kit.calls("look"), "It is one."], [look], spec=complex_one(verify=False))
    result = await desk.ask("What is it?")
    shown = [kit.told(request)[-1] for request in desk.requests[1:]]
    plan = "A plan of the work, to be followed as far as it fits what you find:\n1. Look at one\n2. Say what it is"
    assert shown == [("user", plan)] * 2
    assert "1. Look at one" not in kit.told(desk.requests[1])[0][1]
    assert [message.role for message in result.value.turn] == ["assistant", "tool", "assistant"]


async def test_who_plans_sees_the_tools_and_the_request(kit: Kit) -> None:
    desk = kit.Desk([PLAN, "It is one."], [look], spec=complex_one(verify=False))
    await desk.ask("What is it?")
    assert desk.requests[0].tools == ()
    (_, asked), (_, told) = kit.told(desk.requests[0])[-2:]
    assert asked == "What is it?"
    assert "at most 12 steps" in told
    assert told.endswith("Tools there are:\n- look: Look")


@pytest.mark.parametrize(("depth", "most"), [("short", 4), ("full", 12)])
async def test_a_plan_has_a_bound(kit: Kit, depth: Any, most: int) -> None:
    async def classify(messages: Any, tools: Any) -> Class:
        return Class("task", depth)

    steps = ", ".join(f'"{"very " * 200}\\n long {n}"' for n in range(20))
    spec = complex_one(classify=classify, verify=False)
    result = await kit.Desk([f'{{"steps": ["", {steps}]}}', "Done."], [look], spec=spec).ask()
    lines = result.state.plan.split("\n")
    assert [line.partition(".")[0] for line in lines] == [str(n) for n in range(1, most + 1)]
    assert max(map(len, lines)) < 510


@pytest.mark.parametrize(
    ("said", "name"),
    [
        (ModelRequestError("refused", status=400), "ModelRequestError"),
        (ContextOverflow("too long"), "ContextOverflow"),
        ("I would rather not.", "OutputInvalid"),
    ],
)
async def test_a_plan_that_fails_is_an_issue_and_the_work_goes_on(kit: Kit, said: Any, name: str) -> None:
    runner = {"repairs": 0, "retry": None}
    desk = kit.Desk([said, "It is one."], [look], runner=runner, spec=complex_one(verify=False))
    result = await desk.ask()
    assert [(issue.stage, issue.name) for issue in result.value.issues] == [("plan", name)]
    assert (result.value.text, result.state.plan) == ("It is one.", "")


async def test_a_verification_that_fails_is_an_issue_and_the_answer_stands(kit: Kit) -> None:
    lines = ["It is one.", ModelRequestError("refused", status=400)]
    desk = kit.Desk(lines, [look], runner={"retry": None}, spec=complex_one(plan=False))
    result = await desk.ask()
    assert [(issue.stage, issue.name) for issue in result.value.issues] == [("verify", "ModelRequestError")]
    assert (result.value.text, result.value.reason, result.value.is_partial) == ("It is one.", "answer", False)


async def test_what_is_missing_is_worked_on_once_more_and_not_looked_at_again(kit: Kit) -> None:
    desk = kit.Desk(["It is one.", LACKS, kit.calls("look"), "One and two."], [look], spec=complex_one(plan=False))
    result = await desk.ask()
    assert result.path == (
        "prepare > route > trim > think > verify > trim > think > act > trim > think > verify > deliver"
    )
    assert (result.value.text, result.usage.requests, result.usage.rounds) == ("One and two.", 4, 3)
    told = [kit.told(request)[-1][1] for request in desk.requests[2:]]
    assert told[0] == told[1]
    assert "~~~~\nIt is one.\n~~~~" in told[0]
    assert "missing or wrong: It does not say what two is." in told[0]


async def test_only_the_answer_that_counts_is_kept_in_the_turn(kit: Kit) -> None:
    desk = kit.Desk([kit.calls("look"), "It is one.", LACKS, "One and two."], [look], spec=complex_one(plan=False))
    reply = (await desk.ask()).value
    assert [(message.role, message.content) for message in reply.turn] == [
        ("assistant", ""),
        ("tool", "seen 0"),
        ("assistant", "One and two."),
    ]


async def test_an_answer_that_was_given_by_complete_is_looked_at_too(kit: Kit) -> None:
    done = kit.calls(kit.call("complete", '{"answer": "It is one."}'))
    spec = complex_one(plan=False, own_tools=OwnTools(completion=True))
    desk = kit.Desk([done, LACKS, "One and two."], [look], spec=spec)
    result = await desk.ask()
    assert result.path == "prepare > route > trim > think > act > verify > trim > think > verify > deliver"
    assert (result.value.text, result.value.reason) == ("One and two.", "answer")
    assert "~~~~\nIt is one.\n~~~~" in kit.told(desk.requests[1])[-1][1]


async def test_the_answer_that_was_sent_back_stays_where_nothing_better_comes(kit: Kit) -> None:
    silent = await kit.Desk(["It is one.", LACKS, ""], [look], spec=complex_one(plan=False)).ask()
    assert (silent.value.text, silent.value.reason, silent.value.is_partial) == ("It is one.", "no_answer", True)
    lines = ["It is one.", LACKS, ModelRequestError("refused", status=400)]
    broken = await kit.Desk(lines, [look], runner={"retry": None}, spec=complex_one(plan=False)).ask()
    assert (broken.value.text, broken.value.reason, broken.value.is_partial) == ("It is one.", "failed", True)


@pytest.mark.parametrize(
    ("limits", "budget", "requests"),
    [
        (AgentLimits(turns=1), Budget(), 2),
        (AgentLimits(turns=1, on_limit="error"), Budget(), 2),
        (AgentLimits(), Budget(rounds=1), 2),
        (AgentLimits(), Budget(requests=2), 2),
    ],
)
async def test_without_a_turn_or_the_budget_for_it_what_is_missing_is_said(
    kit: Kit, limits: AgentLimits, budget: Budget, requests: int
) -> None:
    desk = kit.Desk(["It is one.", LACKS], [look], spec=complex_one(plan=False, limits=limits))
    flow = agent_flow(desk.agent)
    result: Any = await flow.run(admit(desk.agent, GO), budget=budget, check=False)
    said = "it is not complete, and there is no further turn: It does not say what two is."
    assert result.value.issues == (Issue("verify", "answer", said),)
    assert (result.value.text, result.value.reason, result.usage.requests) == ("It is one.", "answer", requests)


async def test_without_a_request_left_the_answer_is_not_looked_at(kit: Kit) -> None:
    desk = kit.Desk(["It is one."], [look], spec=complex_one(plan=False))
    flow = agent_flow(desk.agent)
    state = admit(desk.agent, GO)
    result: Any = await flow.run(state, budget=Budget(requests=1), check=False)
    said = "it was not looked at: the budget has no request left"
    assert result.value.issues == (Issue("verify", "answer", said),)
    assert (result.value.text, result.exhausted) == ("It is one.", None)


@pytest.mark.parametrize(
    ("lines", "limits", "reason"),
    [
        ([("look",), "Summary."], AgentLimits(turns=1), "limit"),
        ([""], AgentLimits(), "no_answer"),
    ],
)
async def test_what_was_brought_to_an_end_is_not_looked_at(
    kit: Kit, lines: list[Any], limits: AgentLimits, reason: str
) -> None:
    script = [kit.calls(*line) if isinstance(line, tuple) else line for line in lines]
    result = await kit.Desk(script, [look], spec=complex_one(plan=False, limits=limits)).ask()
    assert (result.value.reason, result.usage.requests) == (reason, len(lines))


async def test_a_budget_that_runs_out_in_the_plan_ends_the_run(kit: Kit) -> None:
    desk = kit.Desk([], [look], spec=complex_one())
    state = admit(desk.agent, GO)
    result = await agent_flow(desk.agent).run(state, budget=Budget(requests=0), check=False)
    assert (result.status, result.exhausted) == ("failed", "requests")
    assert result.path == "prepare > route > plan! > salvage!"


async def test_a_stored_run_keeps_what_routing_found(kit: Kit) -> None:
    store = MemoryRunStore()
    spec = complex_one(limits=AgentLimits(catalog=1))
    desk = kit.Desk([PLAN, "It is one.", LACKS, "One and two."], [look], spec=spec)
    state = admit(desk.agent, GO)
    reply: Any = await agent_flow(desk.agent).run(state, store=store, run_id="r")
    assert (reply.text, reply.reason) == ("One and two.", "answer")
