"""The spec: what cannot be meant is said when it is made, everything at once."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace as Kit
from typing import Any

import pytest

from flowcore import ContractError
from flowcore.messages import Message
from flowcore_agent import Agent, AgentReply, AgentRequest, AgentSpec, admit, agent_flow


def faults_of(kit: Kit, **fields: Any) -> list[str]:
    with pytest.raises(ContractError) as caught:
        kit.Desk([], spec=fields)
    return str(caught.value).removeprefix("AgentSpec 'agent': ").split("; ")


def test_everything_of_another_kind_is_listed_with_what_to_give(kit: Kit) -> None:
    wrong: dict[str, Any] = {
        "catalog": [],
        "own_tools": "todo",
        "memory": object(),
        "skills": "skills",
        "files": "texts",
        "authenticate": "ann",
        "classify": "direct",
        "policy": "deny",
        "hooks": print,
        "observers": [print, "metrics"],
    }
    assert faults_of(kit, **wrong) == [
        "own_tools is a str: give OwnTools(...)",
        "catalog is a list: give ToolCatalog([...])",
        "memory is a object without core, generation, recall, save: give these async methods",
        "skills is a str without cards, read: give these async methods",
        "files is a str without read: give these async methods",
        "authenticate is a str: give an async function of the request",
        "classify is a str: give RuleClassifier(), or a function",
        "policy is a str: give a function of the proposal",
        "hooks is a builtin_function_or_method: give a list of functions of a proposal",
        "observers has 'metrics': give async functions of a request and its reply",
    ]


def test_an_agent_runs_from_synchronous_code_and_its_observers_are_waited_for(kit: Kit) -> None:
    told: list[str] = []

    async def who(request: AgentRequest) -> str:
        return "ann"

    async def note(request: AgentRequest, reply: AgentReply) -> None:
        told.append(f"{request.user}: {reply.text}")

    desk = kit.Desk(["One.", "Two."], spec={"observers": [note]})
    asked = AgentRequest((Message("user", "Go."),))
    assert Agent(desk.agent).run_sync(asked, run_id="r").text == "One."
    assert Agent(replace(desk.agent, authenticate=who)).run_sync(asked).text == "Two."
    assert told == [": One.", "ann: Two."]


async def test_it_does_not_so_inside_an_event_loop(kit: Kit) -> None:
    with pytest.raises(ContractError, match="inside a running event loop"):
        Agent(kit.Desk([]).agent).run_sync(AgentRequest((Message("user", "Go."),)))


async def test_what_is_no_request_is_said_by_name(kit: Kit) -> None:
    spec: AgentSpec = kit.Desk([]).agent
    wrong: Any = "Go."
    with pytest.raises(ContractError, match="agent 'agent' was given a str: give an AgentRequest"):
        admit(spec, wrong)
    with pytest.raises(ContractError, match="give an AgentRequest"):
        await Agent(spec).run(wrong)


@pytest.mark.parametrize(("name", "make"), [("Agent", Agent), ("agent_flow", agent_flow)])
def test_what_is_no_spec_is_said_by_name(name: str, make: Any) -> None:
    with pytest.raises(ContractError, match=rf"^{name}\('helper'\): give an AgentSpec"):
        make("helper")
