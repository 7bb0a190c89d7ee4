"""The shape of a request: what is taken, and every fault of what is not."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowcore import ContractError
from flowcore.messages import Attachment, Message, ModelSettings, ToolCall
from flowcore.models import ModelRunner
from flowcore.testing import ScriptedModel
from flowcore_agent import (
    AdmissionError,
    AgentRequest,
    AgentSpec,
    CustomPrompt,
    FilePrompt,
    ModelTable,
    admit,
    chat_request,
)
from flowcore_agent.admission.faults import FAULT_CODES
from flowcore_agent.admission.shape import message_faults

ROLES: dict[str, Any] = {"s": "system", "u": "user", "a": "assistant", "t": "tool"}
WANTED = re.compile(r"s?(ua)*u")


def said(letters: str) -> tuple[Message, ...]:
    """Messages of these roles; a system message has no words, so that the policy has nothing to say."""
    return tuple(Message(ROLES[letter], "" if letter == "s" else "Hello.") for letter in letters)


def spec(**values: Any) -> AgentSpec:
    return AgentSpec(name="agent", model=ModelRunner(ScriptedModel([])), **values)


def faults(request: AgentRequest, **values: Any) -> list[tuple[str, str]]:
    with pytest.raises(AdmissionError) as caught:
        admit(spec(**values), request)
    return [(fault.code, fault.where) for fault in caught.value.faults]


@pytest.mark.behaviour("S3-01")
@given(st.text("suat", max_size=9))
def test_messages_are_taken_where_their_roles_are_those_of_a_conversation(letters: str) -> None:
    assert (message_faults(said(letters)) == []) == bool(WANTED.fullmatch(letters)), letters


@pytest.mark.behaviour("S3-01")
@given(st.from_regex(WANTED, fullmatch=True))
def test_a_conversation_is_admitted_whatever_its_length(letters: str) -> None:
    assert admit(spec(), AgentRequest(said(letters))).request.messages == said(letters)


@pytest.mark.behaviour("S3-02")
@pytest.mark.parametrize(
    ("letters", "wanted"),
    [
        ("ut", [("tool_message", "messages[1]")]),
        ("t", [("tool_message", "messages[0]"), ("no_user_message", "messages")]),
        ("us", [("system_place", "messages[1]")]),
        ("ssu", [("system_place", "messages[1]")]),
        ("au", [("assistant_first", "messages[0]")]),
        ("ua", [("assistant_last", "messages[1]")]),
        ("uu", [("same_role_twice", "messages[1]")]),
        ("uaau", [("same_role_twice", "messages[2]")]),
        ("", [("no_user_message", "messages")]),
        ("s", [("no_user_message", "messages")]),
    ],
)
def test_each_fault_has_its_code_and_its_place(letters: str, wanted: list[tuple[str, str]]) -> None:
    assert faults(AgentRequest(said(letters))) == wanted


@pytest.mark.behaviour("S3-02", "S3-03")
def test_three_faults_are_three_entries_of_one_error_that_a_server_answers_with_400() -> None:
    with pytest.raises(AdmissionError) as caught:
        admit(spec(), AgentRequest(said("utsa")))
    error = caught.value
    assert (error.status, error.code, error.agent) == (400, "admission", "agent")
    assert [fault.code for fault in error.faults] == ["tool_message", "system_place", "assistant_last"]
    assert str(error).splitlines()[0] == "agent 'agent' does not take the request, which has 3 faults:"
    assert len(str(error).splitlines()) == 4
    assert all(fault.message and fault.remedy and fault.code in FAULT_CODES for fault in error.faults)


@pytest.mark.behaviour("S3-02")
@pytest.mark.parametrize("values", [{"model": ModelTable({})}, {"prompt": FilePrompt(Path("/none"))}])
def test_what_only_the_application_can_mend_is_answered_with_500(values: dict[str, Any]) -> None:
    given = {"name": "agent", "model": ModelRunner(ScriptedModel([])), **values}
    with pytest.raises(AdmissionError) as caught:
        admit(AgentSpec(**given), AgentRequest(said("u")))
    assert caught.value.status == 500
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.faults, again.status, str(again)) == (caught.value.faults, 500, str(caught.value))


@pytest.mark.behaviour("S3-03")
def test_faults_of_messages_policy_model_core_and_prompt_are_listed_together() -> None:
    messages = (Message("system", "Be rude."), Message("tool", "4", tool_call_id="x"))
    request: Any = AgentRequest(
        messages,
        core="0.1",
        prompt_patches={"tone": {"text": "Hi"}},  # type: ignore[arg-type]
    )
    with pytest.raises(AdmissionError) as caught:
        admit(AgentSpec(name="agent", model=ModelTable({}), prompt=CustomPrompt("To {who} at {place}")), request)
    assert [(fault.code, fault.where) for fault in caught.value.faults] == [
        ("no_model", "model"),
        ("unknown_core", "core"),
        ("tool_message", "messages[1]"),
        ("no_user_message", "messages"),
        ("system_message", "messages[0]"),
        ("patch_refused", "prompt_patches['tone']"),
        ("missing_variable", "variables['who']"),
        ("missing_variable", "variables['place']"),
    ]


# In the order in which admission looks.
WRONG = ("no_model", "unknown_core", "tool_message", "system_message", "patch_refused", "missing_variable")


@pytest.mark.behaviour("S3-03")
@given(st.sets(st.sampled_from(WRONG)))
def test_whatever_is_wrong_together_is_what_is_listed(wrong: set[str]) -> None:
    system = (Message("system", "Be rude."),) if "system_message" in wrong else ()
    tool = (Message("tool", "4"),) if "tool_message" in wrong else ()
    request = AgentRequest(
        (*system, Message("user", "Hi"), *tool),
        core="0.1" if "unknown_core" in wrong else None,
        prompt_patches={"t": {}} if "patch_refused" in wrong else {},
        variables={} if "missing_variable" in wrong else {"who": "Ann"},
    )
    runner = ModelRunner(ScriptedModel([]))
    models = ModelTable({} if "no_model" in wrong else {"m": runner})
    agent = AgentSpec(name="agent", model=models, prompt=CustomPrompt("To {who}"))
    if not wrong:
        assert admit(agent, request).issues == ()
        return
    with pytest.raises(AdmissionError) as caught:
        admit(agent, request)
    assert [fault.code for fault in caught.value.faults] == [code for code in WRONG if code in wrong]


def test_calls_without_their_results_are_refused() -> None:
    asked = (
        Message("user", "Hi"),
        Message("assistant", "", (ToolCall("1", "add", "{}"),)),
        Message("user", "And?"),
    )
    assert faults(AgentRequest(asked)) == [("assistant_calls", "messages[1].tool_calls")]


@pytest.mark.behaviour("S1-03")
@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"source": "cron"}, "source='cron': give one of direct, chat, schedule, event, message, delegation"),
        ({"user": None, "conversation": 7}, "user=None: give a text; conversation=7: give a text"),
        ({"model": 4}, "model=4: give the name of a model, or None"),
        ({"settings": {}}, "settings={}: give ModelSettings(...), or None"),
        ({"variables": "x"}, "variables='x': give texts by name"),
    ],
)
def test_a_field_of_another_kind_is_refused_when_the_request_is_made(values: Any, told: str) -> None:
    with pytest.raises(ContractError) as caught:
        AgentRequest(**{"messages": said("u"), **values})
    assert str(caught.value) == f"AgentRequest: {told}"


NO_USER = ("no_user_message", "messages")


@pytest.mark.behaviour("S3-01")
@pytest.mark.parametrize(
    ("messages", "wanted"),
    [
        ("Hello", [("no_messages", "messages")]),
        (None, [("no_messages", "messages")]),
        (("Hello",), [("bad_message", "messages[0]"), NO_USER]),
        ((Message("judge", "Hello"),), [("bad_message", "messages[0]"), NO_USER]),  # type: ignore[arg-type]
        ((Message("user", 4),), [("bad_message", "messages[0]")]),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_message_is_named(messages: Any, wanted: list[tuple[str, str]]) -> None:
    assert faults(AgentRequest(messages)) == wanted


@pytest.mark.behaviour("S1-03")
def test_user_source_conversation_and_model_are_what_a_caller_says() -> None:
    request = AgentRequest(said("u"), user="ann", source="schedule", conversation="c1", model="small")
    kept = admit(spec(), request).request
    assert (kept.user, kept.source, kept.conversation, kept.model) == ("ann", "schedule", "c1", "small")


BODY: dict[str, Any] = {
    "model": "small",
    "temperature": 0.2,
    "stop": "END",
    "messages": [
        {"role": "system", "content": None},
        {"role": "user", "content": [{"type": "text", "text": "What is"}, {"type": "text", "text": "this?"},
                                     {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}]},
        {"role": "assistant", "content": "A cat."},
        {"role": "user", "content": "Sure?"},
    ],
}  # fmt: skip


@pytest.mark.behaviour("S4-10")
def test_a_body_of_chat_completions_and_messages_of_our_own_are_admitted_alike() -> None:
    messages = (
        Message("system", ""),
        Message("user", "What is\nthis?", attachments=(Attachment("image/png", b"hi"),)),
        Message("assistant", "A cat."),
        Message("user", "Sure?"),
    )
    settings = ModelSettings(temperature=0.2, stop=("END",))
    own = AgentRequest(messages, user="ann", source="chat", conversation="c1", model="small", settings=settings)
    given = chat_request(BODY, user="ann", conversation="c1")
    assert given == own
    assert admit(spec(), given) == admit(spec(), own)


@pytest.mark.behaviour("S3-02", "S3-03", "S4-10")
def test_what_is_no_message_in_a_body_is_listed_with_everything_else() -> None:
    call = {"id": "1", "function": {"name": "add", "arguments": "{}"}}
    body = {
        "messages": [
            7,
            {"role": "judge", "content": "No."},
            {"role": "user"},
            {"role": "user", "content": None},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": "3", "tool_call_id": "1"},
        ]
    }
    assert faults(chat_request(body)) == [
        ("bad_message", "messages[0]"),
        ("bad_message", "messages[1]"),
        ("bad_message", "messages[2]"),
        ("bad_message", "messages[3]"),
        ("same_role_twice", "messages[3]"),
        ("assistant_calls", "messages[4].tool_calls"),
        ("tool_message", "messages[5]"),
        ("assistant_last", "messages[4]"),
    ]
    assert faults(chat_request({})) == [("no_user_message", "messages")]
    assert faults(chat_request({"messages": "Hello", "stop": 5})) == [("no_messages", "messages")]
