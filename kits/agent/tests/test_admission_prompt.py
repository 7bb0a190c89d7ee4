"""Prompts: the policy on system messages, templates and their patches, variables and files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowcore import ContractError
from flowcore.messages import Message
from flowcore.models import ModelRunner
from flowcore.testing import ScriptedModel
from flowcore_agent import (
    AdmissionError,
    AgentRequest,
    AgentSpec,
    AgentState,
    CustomPrompt,
    FilePrompt,
    Issue,
    PredefinedPrompt,
    Prompt,
    admit,
)
from flowcore_agent.admission.prompts import fill
from flowcore_agent.admission.templates import merge_patch

HELLO = Message("user", "Hello.")
TEMPLATES: Mapping[str, Mapping[str, object]] = {
    "kind": {"text": "Be {how} to {who}.", "variables": {"how": "kind", "who": "all"}, "description": "A tone."}
}


def admitted(
    prompt: Prompt, *before: Message, spec: Mapping[str, Any] | None = None, **request: Any
) -> AgentState:
    agent = AgentSpec(name="agent", model=ModelRunner(ScriptedModel([])), prompt=prompt, **(spec or {}))
    return admit(agent, AgentRequest((*before, HELLO), **request))


def faults(*given: Any, **values: Any) -> list[tuple[str, str]]:
    with pytest.raises(AdmissionError) as caught:
        admitted(*given, **values)
    return [(fault.code, fault.where) for fault in caught.value.faults]


@pytest.mark.behaviour("S3-04")
@pytest.mark.parametrize("said", ["Be rude.", " x "])
def test_a_system_message_with_words_is_refused_unless_the_spec_takes_it(said: str) -> None:
    message = Message("system", said)
    assert AgentSpec(name="a", model=ModelRunner(ScriptedModel([]))).system_messages == "refuse"
    assert faults(CustomPrompt("Ours."), message) == [("system_message", "messages[0]")]
    state = admitted(CustomPrompt("Ours."), message, spec={"system_messages": "override"})
    assert (state.prompt, state.is_client_prompt) == (said, True)


@pytest.mark.behaviour("S3-05")
@pytest.mark.parametrize("said", ["", "  \n", None])
@pytest.mark.parametrize("policy", ["refuse", "override"])
def test_an_empty_system_message_is_taken_and_ignored(said: Any, policy: str) -> None:
    state = admitted(CustomPrompt("Ours."), Message("system", said), spec={"system_messages": policy})
    assert (state.prompt, state.is_client_prompt) == ("Ours.", False)


@pytest.mark.behaviour("S3-06")
def test_a_clients_words_take_the_place_of_the_prompt_whatever_is_wrong_with_that() -> None:
    told = Message("system", "Theirs {name}.")
    state = admitted(CustomPrompt("Ours {name}."), told, spec={"system_messages": "override"})
    assert (state.prompt, state.is_client_prompt) == ("Theirs {name}.", True)


@pytest.mark.behaviour("S3-08")
def test_the_refusal_names_the_role_and_says_that_the_application_has_a_prompt() -> None:
    with pytest.raises(AdmissionError) as caught:
        admitted(CustomPrompt("Ours."), Message("system", "Be rude."))
    (fault,) = caught.value.faults
    assert fault.code == "system_message"
    assert "role system" in fault.message
    assert "prompt of its own" in fault.message
    assert "Be rude." not in str(caught.value)


@pytest.mark.behaviour("S3-26")
def test_an_app_exports_that_it_takes_no_system_prompt_unless_it_does() -> None:
    model = ModelRunner(ScriptedModel([]))
    assert AgentSpec(name="a", model=model).system_prompt_supported is False
    assert AgentSpec(name="a", model=model, system_messages="override").system_prompt_supported is True


@pytest.mark.behaviour("S3-33")
def test_a_prompt_is_in_words_in_a_file_or_predefined(tmp_path: Path) -> None:
    path = tmp_path / "prompt.md"
    path.write_text("From {a} file, ünd so fort.", "utf-8-sig")
    spec = {"templates": TEMPLATES}
    assert admitted(CustomPrompt("You are {name}."), variables={"name": "Ann"}).prompt == "You are Ann."
    assert admitted(FilePrompt(path)).prompt == "From {a} file, ünd so fort."
    assert admitted(PredefinedPrompt("kind"), spec=spec, variables={"who": "me"}).prompt == "Be kind to me."


@pytest.mark.behaviour("S3-33")
def test_each_variable_without_a_value_is_a_fault() -> None:
    prompt = CustomPrompt("{a} and {b}, {a} again, {c}")
    assert faults(prompt, variables={"b": ""}) == [
        ("missing_variable", "variables['a']"),
        ("missing_variable", "variables['c']"),
    ]
    templates = {"t": {"text": "{a} {b}", "variables": {"b": "x"}}}
    assert faults(PredefinedPrompt("t"), spec={"templates": templates}) == [("missing_variable", "variables['a']")]


def test_a_file_that_cannot_be_read_is_a_fault_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\xfd")
    for path in (tmp_path / "none.md", tmp_path, tmp_path / "bytes"):
        assert faults(FilePrompt(path)) == [("prompt_file", str(path))]


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{a}", "A"),
        ("{{a}}", "{a}"),
        ("{ {a} }", "{ A }"),
        ('{"a": {"b": {a}}}', '{"a": {"b": A}}'),
        ('{"a": {"b": 1}}', '{"a": {"b": 1}}'),
        ("{ a } {} {1} {", "{ a } {} {1} {"),
        ("{evil}", "{a}"),
    ],
)
def test_braces_of_no_variable_stay_and_values_are_put_in_as_they_are(text: str, filled: str) -> None:
    assert fill(text, {"a": "A", "evil": "{a}"}).value == filled


@pytest.mark.behaviour("S3-10")
def test_patches_of_the_spec_and_then_of_the_request_are_merged_into_a_template() -> None:
    prompt = PredefinedPrompt("kind", {"variables": {"how": "fair"}, "description": None})
    spec = {"templates": TEMPLATES, "patchable": ("kind",)}
    assert admitted(prompt, spec=spec).prompt == "Be fair to all."
    patches = {"kind": {"text": "{who}: be {how}.", "variables": {"how": "brief"}}}
    assert admitted(prompt, spec=spec, prompt_patches=patches).prompt == "all: be brief."
    patches = {"kind": {"variables": {"who": None}}}
    wanted = [("missing_variable", "variables['who']")]
    assert faults(prompt, spec=spec, prompt_patches=patches) == wanted
    assert TEMPLATES["kind"]["variables"] == {"how": "kind", "who": "all"}


@pytest.mark.behaviour("S3-10")
@pytest.mark.parametrize(
    ("target", "patch", "merged"),
    [  # the examples of RFC 7396
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_a_merge_patch_is_that_of_the_standard(target: Any, patch: Any, merged: Any) -> None:
    assert merge_patch(target, patch) == merged


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.behaviour("S3-10")
@given(JSON, JSON)
def test_a_patch_merged_twice_is_a_patch_merged_once_and_leaves_what_it_was_given(target: Any, patch: Any) -> None:
    before = repr(target)
    once = merge_patch(target, patch)
    assert merge_patch(once, patch) == once
    assert repr(target) == before


@pytest.mark.behaviour("S3-11")
@pytest.mark.parametrize(
    ("prompt", "patches", "text", "name", "told"),
    [
        (PredefinedPrompt("nice"), {}, "", "nice", "there is no template of this name"),
        (PredefinedPrompt("broken"), {}, "", "broken", "text: Field required"),
        (
            PredefinedPrompt("kind", {"text": None}),
            {},
            "Be kind to all.",
            "kind",
            "a patch is not used: text: Field",
        ),
        (
            PredefinedPrompt("kind"),
            {"kind": {"text": 4}},
            "Be kind to all.",
            "kind",
            "a patch is not used: text: Inp",
        ),
        (
            PredefinedPrompt("kind"),
            {"kind": {"mood": "x"}},
            "Be kind to all.",
            "kind",
            "a patch is not used: mood:",
        ),
        (PredefinedPrompt("kind"), {"broken": {}}, "Be kind to all.", "broken", "the patch is not used, since"),
        (CustomPrompt("Ours."), {"kind": {}}, "Ours.", "kind", "the patch is not used, since"),
    ],
)
def test_what_a_template_cannot_give_is_an_issue_and_the_request_goes_on(
    prompt: Prompt, patches: Any, text: str, name: str, told: str
) -> None:
    templates = {**TEMPLATES, "broken": {"variables": {}}}
    spec = {"templates": templates, "patchable": tuple(templates)}
    state = admitted(prompt, spec=spec, prompt_patches=patches)
    (issue,) = state.issues
    assert (state.prompt, issue.stage, issue.name) == (text, "templates", name)
    assert issue.message.startswith(told)
    assert isinstance(issue, Issue)


def test_a_broken_template_that_a_patch_mends_is_used() -> None:
    state = admitted(PredefinedPrompt("t", {"text": "Mended."}), spec={"templates": {"t": {}}})
    assert (state.prompt, state.issues) == ("Mended.", ())


def test_a_request_patches_only_what_the_spec_lets_it() -> None:
    spec = {"templates": TEMPLATES}
    wanted = [("patch_refused", "prompt_patches['kind']")]
    assert faults(PredefinedPrompt("kind"), spec=spec, prompt_patches={"kind": {"text": "Mine."}}) == wanted
    with pytest.raises(ContractError, match="patchable names nice, and templates has kind"):
        AgentSpec(name="a", model=ModelRunner(ScriptedModel([])), templates=TEMPLATES, patchable=("nice",))


class Spy(Mapping[str, Mapping[str, object]]):
    """Templates that note whether anybody looks at one."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __getitem__(self, name: str) -> Mapping[str, object]:
        self.read.append(name)
        return TEMPLATES[name]

    def __iter__(self) -> Iterator[str]:
        return iter(TEMPLATES)

    def __len__(self) -> int:
        return len(TEMPLATES)


@pytest.mark.behaviour("S3-09")
@pytest.mark.parametrize("before", [Message("assistant", "Hi."), Message("system", "Be rude.")])
def test_a_fault_of_shape_or_policy_stops_the_templates(before: Message) -> None:
    spy = Spy()
    faults(PredefinedPrompt("kind"), before, spec={"templates": spy})
    assert spy.read == []
    admitted(PredefinedPrompt("kind"), spec={"templates": spy})
    assert spy.read == ["kind"]
