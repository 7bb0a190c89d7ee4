"""Resolving: the model, the core version, the settings, and the limits and deployment that they come from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
import pytest

from flowcore import Budget, ContractError
from flowcore.messages import Message, ModelSettings
from flowcore.models import ModelRunner
from flowcore.testing import ScriptedModel
from flowcore.tools import ToolCatalog
from flowcore_agent import (
    AdmissionError,
    Agent,
    AgentLimits,
    AgentRequest,
    AgentSpec,
    AgentState,
    Deployment,
    Issue,
    ModelEntry,
    ModelTable,
    Parameters,
    admit,
    available_cores,
    resolve_core,
)
from flowcore_agent.deployment import MODEL_VARIABLE

HELLO = (Message("user", "Hello."),)
CORE_GONE = "core 'legacy-x' is not supported any more: choose one of default, 1.0"


def runner(name: str, **options: Any) -> ModelRunner:
    return ModelRunner(ScriptedModel([], name=name), **options)


def table(**more: ModelEntry) -> ModelTable:
    entries: Mapping[str, ModelRunner | ModelEntry] = {
        "small": runner("small"),
        "large": ModelEntry(runner=runner("large"), users=("ann",)),
        "coder": ModelEntry(runner=runner("coder"), agents=("coding",)),
        "old": ModelEntry(runner=runner("old"), is_enabled=False),
        **more,
    }
    return ModelTable(entries)


def admitted(spec: Mapping[str, Any] | None = None, **request: Any) -> AgentState:
    given = {"name": "agent", "model": table(), **(spec or {})}
    return admit(AgentSpec(**given), AgentRequest(HELLO, **request))


def refused(spec: Mapping[str, Any] | None = None, **request: Any) -> list[tuple[str, str]]:
    with pytest.raises(AdmissionError) as caught:
        admitted(spec, **request)
    return [(fault.code, fault.message) for fault in caught.value.faults]


def not_enabled(name: str, used: str) -> Issue:
    return Issue("resolve", name, f"{name!r} cannot be used by this user with this agent: {used!r} is used")


@pytest.mark.behaviour("S1-08")
@pytest.mark.parametrize(
    ("agent", "user", "wish", "default", "used", "passed"),
    [
        ("agent", "bob", None, "", "small", []),
        ("agent", "ann", "large", "", "large", []),
        ("agent", "ann", None, "large", "large", []),
        ("agent", "bob", "large", "", "small", ["large"]),
        ("agent", "bob", None, "large", "small", ["large"]),
        ("agent", "bob", "old", "", "small", ["old"]),
        ("agent", "bob", "nowhere", "", "small", ["nowhere"]),
        ("agent", "ann", "coder", "", "small", ["coder"]),
        ("coding", "ann", "coder", "", "coder", []),
        ("agent", "ann", "old", "large", "large", ["old"]),
    ],
)
def test_an_override_wins_where_user_and_agent_may_use_it_and_else_the_default(
    agent: str, user: str, wish: str | None, default: str, used: str, passed: list[str]
) -> None:
    state = admitted({"name": agent, "default_model": default}, user=user, model=wish)
    assert state.model == used
    assert list(state.issues) == [not_enabled(name, used) for name in passed]


@pytest.mark.behaviour("S1-08")
def test_another_users_model_is_told_from_one_that_is_not_there_by_nothing() -> None:
    hidden = admitted(user="bob", model="large").issues[0].message
    missing = admitted(user="bob", model="nowhere").issues[0].message
    assert hidden.replace("large", "nowhere") == missing
    assert table().enabled("bob", "agent") == ("small",)
    assert table().enabled("ann", "coding") == ("small", "large", "coder")


class Unavailable:
    """Models of which one is enabled and cannot be had."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def enabled(self, user: str, agent: str, /) -> Sequence[str]:
        return self.names

    def runner(self, name: str, /) -> ModelRunner:
        if name == "gone":
            raise LookupError(name)
        return runner(name)

    def core(self, name: str, /) -> str:
        return "default"


@pytest.mark.behaviour("S1-08")
def test_an_override_that_is_enabled_and_cannot_be_had_gives_way_to_the_default() -> None:
    assert admitted({"model": Unavailable("small", "gone")}, model="gone").model == "small"
    wanted = [("no_model", "none can be used by 'bob', and 'gone' neither")]
    assert refused({"model": Unavailable("gone")}, user="bob") == wanted
    assert refused({"model": ModelTable({})}, user="bob") == [("no_model", "none can be used by 'bob'")]


def test_an_agent_of_one_model_uses_that_and_says_so() -> None:
    only = {"model": runner("only")}
    assert (admitted(only).model, admitted(only, model="only").issues) == ("only", ())
    assert list(admitted(only, model="large").issues) == [not_enabled("large", "only")]


def test_a_spec_of_wrong_kinds_lists_each_with_its_remedy() -> None:
    given: Any = {"name": "a", "model": ScriptedModel([]), "prompt": "Be kind.", "system_messages": "take"}
    with pytest.raises(ContractError) as caught:
        AgentSpec(**given)
    assert str(caught.value) == (
        "AgentSpec 'a': model is a ScriptedModel: give ModelRunner(...), or ModelTable({...}) for several;"
        " prompt is a str: give CustomPrompt('...'), FilePrompt(...) or PredefinedPrompt(...);"
        " system_messages='take': give 'refuse' or 'override'"
    )


def test_the_table_takes_runners_and_entries_and_knows_no_others() -> None:
    with pytest.raises(ContractError, match=r"ModelTable\('x'\): give a ModelRunner or a ModelEntry, no 4"):
        ModelTable({"x": 4})  # type: ignore[dict-item]
    with pytest.raises(LookupError, match="there is no model 'x': there are small, large, coder, old"):
        table().runner("x")


@pytest.mark.behaviour("S0-05")
@pytest.mark.parametrize(
    ("explicit", "default", "name"),
    [
        ("1.0", "default", "1.0"),
        ("1.0", "legacy-x", "1.0"),
        ("default", "1.0", "1.0"),
        (None, "1.0", "1.0"),
        ("", "1.0", "1.0"),
        ("default", "legacy-x", "legacy-x"),
        (None, "default", "1.0"),
    ],
)
def test_an_explicit_core_beats_the_platforms_and_default_follows_it(
    explicit: str | None, default: str, name: str
) -> None:
    assert resolve_core(explicit, default).name == name


@pytest.mark.behaviour("S0-06")
def test_the_platforms_default_and_one_core_are_on_offer() -> None:
    assert available_cores() == ("default", "1.0")


@pytest.mark.behaviour("S0-07")
def test_a_core_that_is_not_known_any_more_is_shown_as_it_is_and_flagged() -> None:
    shown = resolve_core("legacy-x")
    assert (shown.name, shown.is_supported) == ("legacy-x", False)
    assert resolve_core("1.0").is_supported


@pytest.mark.behaviour("S0-05", "S0-07")
@pytest.mark.parametrize(
    ("asked", "of_model", "platform", "issues"),
    [
        ("1.0", "legacy-x", "default", []),
        ("default", "legacy-x", "1.0", []),
        (None, "1.0", "legacy-x", []),
        (None, "legacy-x", "1.0", [CORE_GONE]),
        (None, "default", "legacy-x", [CORE_GONE]),
        (None, "legacy-x", "legacy-x", [CORE_GONE, CORE_GONE]),
    ],
)
def test_a_request_loads_with_a_stored_core_that_is_gone_and_runs_with_the_next_choice(
    asked: str | None, of_model: str, platform: str, issues: list[str]
) -> None:
    models = ModelTable({"m": ModelEntry(runner=runner("m"), core=of_model)})
    state = admitted({"model": models, "core": platform}, core=asked)
    assert (state.core, [issue.message for issue in state.issues]) == ("1.0", issues)


@pytest.mark.behaviour("S0-07")
def test_a_request_that_asks_for_an_unknown_core_is_refused() -> None:
    assert refused(core="0.9") == [("unknown_core", "'0.9' is none of default, 1.0")]


@pytest.mark.behaviour("S4-09")
def test_settings_are_merged_provider_then_agent_then_request() -> None:
    provider = ModelSettings(temperature=0.1, top_p=0.1, seed=1, extra={"a": 1, "b": 1})
    agent = ModelSettings(temperature=0.2, top_p=0.2, extra={"b": 2, "c": 2})
    asked = ModelSettings(temperature=0.3, extra={"c": 3})
    model = runner("m", settings=provider)
    state = admitted({"model": model, "settings": agent}, settings=asked)
    assert state.settings == ModelSettings(temperature=0.3, top_p=0.2, extra={"b": 2, "c": 3})
    assert state.settings.over(provider).seed == 1


class Server:
    """A server of chat completions that notes what it is sent."""

    def __init__(self, **message: Any) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.message = {"role": "assistant", "content": "Done.", **message}

    def runner(self, **options: Any) -> ModelRunner:
        client = httpx.AsyncClient(transport=httpx.MockTransport(self._answer))
        return ModelRunner("m", base_url="http://m", client=client, prices=lambda name, usage: 0.0, **options)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(json.loads(request.content))
        return httpx.Response(200, json={"choices": [{"message": self.message, "finish_reason": "stop"}]})


async def body_of(parameters: Parameters, **options: Any) -> tuple[dict[str, Any], tuple[Issue, ...]]:
    """What a server is sent for a manifest with these parameters, and the issues of the reply."""
    server = Server()
    deployment = Deployment(model="m", parameters=parameters)
    spec = AgentSpec(name="agent", model=server.runner(**options), settings=deployment.settings)
    reply = await Agent(spec).run(AgentRequest(HELLO))
    (body,) = server.bodies
    return {key: value for key, value in body.items() if key not in ("messages", "model")}, reply.issues


@pytest.mark.behaviour("S3-25")
def test_a_manifest_names_model_and_parameters_and_nothing_else() -> None:
    read = Deployment.read({"model": "small", "parameters": {"temperature": 0.5, "stop": ["END"]}}, {})
    assert (read.model, read.settings) == ("small", ModelSettings(temperature=0.5, stop=("END",)))
    with pytest.raises(ContractError) as caught:
        Deployment.read({"model": "small", "mode": 1, "parameters": {"heat": 2, "max_tokens": 0}}, {})
    assert str(caught.value) == (
        "deployment: parameters.max_tokens: Input should be greater than 0; parameters.heat: Extra inputs are not"
        " permitted; mode: Extra inputs are not permitted"
    )


@pytest.mark.behaviour("S3-27")
def test_a_manifest_without_a_model_takes_that_of_the_environment() -> None:
    env = {MODEL_VARIABLE: "standard"}
    assert Deployment.read({}, env).model == "standard"
    assert Deployment.read({"model": "small"}, env).model == "small"
    schema = Deployment.schema_of(env)
    assert (schema["properties"]["model"]["default"], schema.get("required", [])) == ("standard", [])
    assert Deployment.schema_of({})["required"] == ["model"]
    with pytest.raises(ContractError, match=f"name a model, or set {MODEL_VARIABLE}"):
        Deployment.read({}, {})


@pytest.mark.behaviour("S3-27")
def test_the_environment_of_the_process_is_the_one_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MODEL_VARIABLE, "standard")
    monkeypatch.setenv("FLOWCORE_AGENT_TURNS", "3")
    assert Deployment.read().model == "standard"
    assert AgentLimits.from_env().most_turns == 3


@pytest.mark.behaviour("S3-28")
async def test_sampling_max_tokens_and_stop_pass_through() -> None:
    said = Parameters(temperature=0.5, top_p=0.9, max_tokens=99, stop=("A", "B"), seed=7, reasoning_effort="low")
    assert await body_of(said) == (
        {
            "temperature": 0.5,
            "top_p": 0.9,
            "max_tokens": 99,
            "stop": ["A", "B"],
            "seed": 7,
            "reasoning_effort": "low",
        },
        (),
    )


@pytest.mark.behaviour("S3-29")
async def test_reasoning_effort_is_left_out_with_one_issue_for_a_model_that_lacks_it() -> None:
    body, issues = await body_of(Parameters(reasoning_effort="high", seed=7), features={"tools"})
    assert body == {"seed": 7}
    assert issues == (Issue("model", "reasoning_effort", "it was left out: model 'm' does not have it"),)


@pytest.mark.behaviour("S3-30")
async def test_a_custom_configuration_is_forwarded() -> None:
    body, _ = await body_of(Parameters(configuration={"mode": "fast", "depth": {"n": 2}}))
    assert body == {"custom_fields": {"configuration": {"mode": "fast", "depth": {"n": 2}}}}


@pytest.mark.behaviour("S3-31")
async def test_tools_of_the_models_side_are_sent_and_not_run_here() -> None:
    static = {"type": "static_function", "static_function": {"name": "web_search"}}
    ran: list[str] = []

    def note(text: str) -> str:
        """Note a text."""
        ran.append(text)
        return text

    server = Server(content="Searched.")
    spec = AgentSpec(
        name="agent",
        model=server.runner(),
        settings=Deployment(model="m", parameters=Parameters(tools=(static,))).settings,
        catalog=ToolCatalog([note]),
    )
    events: list[str] = []
    reply = await Agent(spec).run(AgentRequest(HELLO), observers=[lambda event: events.append(event.kind)])
    (body,) = server.bodies
    assert [tool.get("static_function", tool.get("function"))["name"] for tool in body["tools"]] == [
        "note",
        "web_search",
    ]
    assert (reply.text, ran, [kind for kind in events if kind.startswith("tool.")]) == ("Searched.", [], [])


@pytest.mark.behaviour("S3-20")
@pytest.mark.parametrize("turns", [0, -1])
async def test_no_turn_or_less_is_refused_before_the_model_is_asked(turns: int) -> None:
    model = ScriptedModel(["Done."])
    with pytest.raises(ContractError, match=f"turns={turns}: give a whole number above zero"):
        await Agent(
            AgentSpec(name="agent", model=ModelRunner(model), limits=AgentLimits(turns=turns, on_limit="error"))
        ).run(AgentRequest(HELLO), budget=Budget())
    with pytest.raises(ContractError, match=f"turns={turns}: give a whole number above zero"):
        AgentLimits.from_env({"FLOWCORE_AGENT_TURNS": str(turns)})
    assert model.requests == []


@pytest.mark.behaviour("S3-20")
def test_no_loop_is_without_a_limit() -> None:
    assert AgentLimits(turns=None).most_turns == 12
    assert AgentLimits(turns=None, on_limit="error").most_turns == 15


@pytest.mark.behaviour("S3-21")
def test_limits_come_from_the_manifest_then_from_the_environment_then_from_the_defaults() -> None:
    env = {"FLOWCORE_AGENT_TURNS": "20", "FLOWCORE_AGENT_SAME_CALL": "none", "FLOWCORE_AGENT_TOOL_TIMEOUT": "2.5"}
    limits = AgentLimits.from_env(env)
    assert (limits.turns, limits.same_call, limits.tool_timeout) == (20, None, 2.5)
    assert AgentLimits.from_env(env, turns=4).turns == 4
    assert AgentLimits.from_env({}) == AgentLimits()
    assert AgentLimits.from_env({"FLOWCORE_AGENT_TURNS": "x"}, turns=4).turns == 4


def test_every_variable_that_cannot_be_meant_is_listed() -> None:
    env = {"FLOWCORE_AGENT_TURNS": "many", "FLOWCORE_AGENT_ON_LIMIT": "stop"}
    with pytest.raises(ContractError) as caught:
        AgentLimits.from_env(env)
    assert str(caught.value).startswith("AgentLimits: FLOWCORE_AGENT_TURNS='many': ")
    assert "; FLOWCORE_AGENT_ON_LIMIT='stop': " in str(caught.value)
