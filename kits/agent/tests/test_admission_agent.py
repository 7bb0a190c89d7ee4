"""The agent: what comes before a run, in which order, and what a run is begun with."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from types import SimpleNamespace as Kit
from typing import Any

import pytest

from flowcore import Complete, ContractError, Flow, Step, Trigger, node
from flowcore.events import Event, RunCompleted, RunStarted
from flowcore.messages import Message, ModelSettings
from flowcore.models import ModelRunner
from flowcore.render import draw
from flowcore.state import Codec
from flowcore.store import MemoryRunStore
from flowcore.testing import ScriptedModel
from flowcore.tools import ToolCatalog
from flowcore_agent import (
    AdmissionError,
    Agent,
    AgentReply,
    AgentRequest,
    AgentSpec,
    AgentState,
    PredefinedPrompt,
    admit,
    agent_flow,
    chat_request,
    dispatch,
)

HELLO = (Message("user", "Hello.\n How are you?"),)


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


class Models:
    """One model, for everybody; it notes what it is asked."""

    def __init__(self, model: ScriptedModel, noted: list[str], error: Exception | None = None) -> None:
        self.model, self.noted, self.error = model, noted, error

    def enabled(self, user: str, agent: str, /) -> Sequence[str]:
        self.noted.append(f"models for {user!r}")
        if self.error is not None:
            raise self.error
        return ("m",)

    def runner(self, name: str, /) -> ModelRunner:
        return ModelRunner(self.model, prices=lambda name, usage: 0.0)

    def core(self, name: str, /) -> str:
        self.noted.append("core")
        return "default"


class Desk:
    """An agent whose ports note the order in which they are asked."""

    def __init__(
        self, *lines: Any, refusal: Exception | None = None, error: Exception | None = None, **spec: Any
    ) -> None:
        self.noted: list[str] = []
        self.model = ScriptedModel([self._note_model(line) for line in lines], name="m")
        self.refusal = refusal
        self.store = MemoryRunStore()
        given: Mapping[str, Any] = {
            "name": "helper",
            "model": Models(self.model, self.noted, error),
            "authenticate": self._authenticate,
            "catalog": ToolCatalog([add]),
            **spec,
        }
        self.agent = Agent(AgentSpec(**given))

    async def _authenticate(self, request: AgentRequest, /) -> str:
        self.noted.append(f"key {request.key!r}")
        if self.refusal is not None:
            raise self.refusal
        return {"k1": "ann"}.get(request.key, request.user)

    def _note_model(self, line: Any) -> Any:
        def said(request: Any) -> Any:
            self.noted.append("model")
            return line

        return said

    async def runs(self) -> list[Any]:
        return await self.store.runs()


def ask(**values: Any) -> AgentRequest:
    return AgentRequest(**{"messages": HELLO, "key": "k1", **values})


@pytest.mark.behaviour("S0-01", "S3-09")
async def test_the_phases_of_a_request_stand_in_their_order(kit: Kit) -> None:
    desk = Desk(kit.calls(kit.call("add", '{"a": 1, "b": 2}')), "Three.")
    async with desk.agent.start(ask()) as run:
        result = await run.wait()
    assert result.state is not None
    assert result.state.admitted == (
        "authenticate",
        "model",
        "core",
        "settings",
        "messages",
        "system_message",
        "patches",
        "templates",
        "prompt",
    )
    walked = result.path.split(" > ")
    assert [name for name in walked if name in ("prepare", "think", "act", "deliver")] == [
        "prepare",
        "think",
        "act",
        "think",
        "deliver",
    ]
    assert desk.noted == ["key 'k1'", "models for 'ann'", "core", "model", "model"]


@pytest.mark.behaviour("S0-04", "S0-11")
async def test_a_caller_who_is_refused_is_refused_before_anything_else_is_asked() -> None:
    desk = Desk("Hello.", refusal=PermissionError("no such key"))
    with pytest.raises(PermissionError, match="no such key"):
        await desk.agent.run(ask(messages=(Message("tool", "bad"),), key="k9"), store=desk.store)
    assert desk.noted == ["key 'k9'"]
    assert await desk.runs() == []


@pytest.mark.behaviour("S0-04")
async def test_who_asks_is_who_the_authentication_says_and_the_key_is_kept_nowhere() -> None:
    desk = Desk("Hello.")
    state = await desk.agent.admit(ask(user="bob"))
    assert (state.request.user, state.request.key) == ("ann", "")
    assert "k1" not in repr(ask())
    await desk.agent.run(ask(user="bob"), store=desk.store)
    (row,) = await desk.runs()
    assert row.trigger.user == "ann"
    assert "k1" not in repr(await desk.store.load(row.run_id))


async def test_an_authentication_that_names_nobody_breaks_its_contract() -> None:
    desk = Desk("Hello.")

    async def nobody(request: AgentRequest, /) -> Any:
        return None

    agent = Agent(dataclasses.replace(desk.agent.spec, authenticate=nobody))
    with pytest.raises(ContractError, match="authenticate returned a NoneType: return the name of the user"):
        await agent.run(ask())


def test_a_request_cannot_go_round_the_authentication() -> None:
    desk = Desk()
    with pytest.raises(ContractError, match=r"use `await Agent\(spec\).admit\(request\)`"):
        admit(desk.agent.spec, ask())
    assert desk.noted == []


@pytest.mark.behaviour("S0-11", "S1-02", "S4-01")
async def test_a_resolver_that_raises_ends_the_request_before_there_is_a_run() -> None:
    desk = Desk("Hello.", error=ConnectionError("the table of models is away"))
    heard: list[Event] = []
    with pytest.raises(ConnectionError, match="the table of models is away"):
        await desk.agent.run(ask(), store=desk.store, observers=[heard.append])
    with pytest.raises(ConnectionError, match="the table of models is away"):
        async with desk.agent.start(ask(), store=desk.store, observers=[heard.append]):
            raise AssertionError("there is no run")
    assert (await desk.runs(), heard, desk.model.requests) == ([], [], [])


@pytest.mark.behaviour("S1-02", "S3-03", "S4-01")
async def test_a_request_with_faults_leaves_no_record() -> None:
    desk = Desk("Hello.")
    with pytest.raises(AdmissionError) as caught:
        await desk.agent.run(ask(messages=(Message("tool", "x"),), core="0.1"), store=desk.store)
    assert [fault.code for fault in caught.value.faults] == ["unknown_core", "tool_message", "no_user_message"]
    assert (await desk.runs(), desk.model.requests) == ([], [])


@pytest.mark.behaviour("S1-01")
async def test_each_source_leaves_one_record_that_says_where_it_came_from() -> None:
    sources: list[Any] = ["chat", "schedule", "event", "message", "delegation"]
    desk = Desk(*["Hello."] * 5)
    parents = {"delegation": "run-of-chat"}
    for source in sources:
        run_id = f"run-of-{source}"
        request = ask(source=source, conversation=f"about {source}")
        await desk.agent.run(request, store=desk.store, run_id=run_id, parent=parents.get(source, ""))
    rows = {row.trigger.kind: row for row in await desk.runs()}
    assert len(await desk.runs()) == len(rows) == 5
    for source in sources:
        row = rows[source]
        assert row.trigger == Trigger(source, "ann", "helper", f"about {source}", parents.get(source, ""))
        assert (row.flow, row.status, row.title) == ("helper", "completed", "Hello. How are you?")


@pytest.mark.behaviour("S1-01")
async def test_a_title_is_the_callers_or_the_last_message_in_short() -> None:
    desk = Desk("Hello.", "Hello.")
    await desk.agent.run(ask(messages=(Message("user", "word " * 99),)), store=desk.store)
    await desk.agent.run(ask(), store=desk.store, title="Mine")
    assert sorted((len(row.title), row.title[-4:]) for row in await desk.runs()) == [(4, "Mine"), (120, "ord…")]


@pytest.mark.behaviour("S4-02", "S4-04")
async def test_the_first_event_names_run_and_agent_and_no_event_has_a_turn_id() -> None:
    desk = Desk("Hello.")
    heard: list[Event] = []
    async with desk.agent.start(ask(conversation="c1"), run_id="r1", store=desk.store) as run:
        heard = [event async for event in run.events()]
    first, last = heard[0], heard[-1]
    assert isinstance(first, RunStarted)
    assert (first.run_id, first.flow) == ("r1", "helper")
    assert isinstance(last, RunCompleted)
    assert {event.run_id for event in heard} == {"r1"}
    names = {entry.name for event in heard for entry in dataclasses.fields(event)}
    assert not names & {"turn", "turn_id"}
    assert (await desk.store.run("r1")).trigger.conversation == "c1"


@pytest.mark.behaviour("S4-05", "S4-07")
async def test_a_run_that_is_cancelled_as_soon_as_it_is_made_has_done_nothing(kit: Kit) -> None:
    ran: list[int] = []

    def note(number: int) -> int:
        """Note a number."""
        ran.append(number)
        return number

    desk = Desk(kit.calls(kit.call("note", '{"number": 1}')), "Done.", catalog=ToolCatalog([note]))
    async with desk.agent.start(ask(), store=desk.store) as run:
        await run.cancel("user")
        result = await run.wait()
    assert (result.status, result.reason) == ("cancelled", "user")
    assert (ran, desk.model.requests) == ([], [])
    (row,) = await desk.runs()
    assert row.status == "cancelled"


def orchestrator(spec: AgentSpec) -> Flow[AgentState, Any, AgentReply]:
    """A graph of an app's own."""

    @node
    async def conduct(step: Step[AgentState]) -> Complete[AgentReply]:
        return Complete(AgentReply(f"{spec.name} for {step.state.request.user}", "answer"))

    return Flow(spec.name, conduct)


@pytest.mark.behaviour("S4-08")
async def test_an_agent_that_has_a_graph_runs_it_and_any_other_the_plain_loop() -> None:
    graphs = {"orchestrator": orchestrator}
    desk = Desk("Hello.")
    spec = desk.agent.spec
    conductor = dataclasses.replace(spec, name="orchestrator")
    assert dispatch(conductor, graphs).nodes == ("conduct",)
    assert dispatch(spec, graphs).to_json() == agent_flow(spec).to_json()
    assert draw(dispatch(spec, graphs)) == draw(agent_flow(spec))
    assert (await Agent(conductor, graphs=graphs).run(ask())).text == "orchestrator for ann"
    assert (await Agent(spec, graphs=graphs).run(ask())).text == "Hello."
    assert repr(Agent(conductor, graphs=graphs)) == "<agent orchestrator: conduct>"


@pytest.mark.behaviour("S4-10")
async def test_the_chat_entry_and_the_embedded_one_run_the_same_with_their_history() -> None:
    turns = [("user", "One?"), ("assistant", "One."), ("user", "Two?")]
    body = {"messages": [{"role": role, "content": text} for role, text in turns]}
    desk = Desk("Two.", "Two.")
    own: Any = tuple(Message(role, text) for role, text in turns)  # type: ignore[arg-type]
    replies = [
        await desk.agent.run(chat_request(body, key="k1")),
        await desk.agent.run(AgentRequest(own, key="k1")),
    ]
    assert replies[0] == replies[1]
    assert desk.model.requests[0] == desk.model.requests[1]
    assert [(message.role, message.content) for message in desk.model.requests[0].messages[-3:]] == turns


@pytest.mark.behaviour("S4-09")
async def test_agent_input_and_request_each_have_their_say_in_what_the_model_is_sent() -> None:
    desk = Desk(
        "Hello.", prompt=PredefinedPrompt("p"), templates={"p": {"text": "Speak {how}."}}, patchable=("p",)
    )
    await desk.agent.run(ask(variables={"how": "softly"}, prompt_patches={"p": {"text": "Now: speak {how}."}}))
    (request,) = desk.model.requests
    assert request.messages[0].role == "system"
    assert "Now: speak softly." in request.messages[0].content
    assert [tool.name for tool in request.tools] == ["add"]
    assert request.messages[-1] == HELLO[0]


@pytest.mark.behaviour("S3-11")
async def test_issues_of_admission_stand_in_the_reply() -> None:
    desk = Desk("Hello.", prompt=PredefinedPrompt("nice"), core="legacy-x")
    reply = await desk.agent.run(ask(model="other"))
    assert (reply.text, reply.model) == ("Hello.", "m")
    assert [(issue.stage, issue.name) for issue in reply.issues] == [
        ("resolve", "other"),
        ("resolve", "legacy-x"),
        ("templates", "nice"),
    ]


async def test_what_admission_found_is_written_down_and_read_again() -> None:
    desk = Desk(
        prompt=PredefinedPrompt("p"),
        templates={"p": {"text": "Be {how}."}},
        patchable=("p",),
        settings=ModelSettings(stop=("END",), extra={"custom_fields": {"configuration": {"deep": [1, None]}}}),
    )
    changes: Any = {"variables": MappingProxyType({"how": "kind"}), "prompt_patches": {"p": MappingProxyType({})}}
    state = await desk.agent.admit(ask(messages=[*HELLO], skills=["s"], context_files=["f"], **changes))
    assert (state.prompt, state.request.skills, state.request.messages) == ("Be kind.", ("s",), HELLO)
    codec = Codec(AgentState)
    read = codec.decode(codec.encode(state, "state"), "state")
    assert read == state
