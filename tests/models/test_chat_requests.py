"""What is sent is what was asked, in the form that OpenAI's own package has types for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import CompletionCreateParams
from pydantic import TypeAdapter
from tests.models.chats import HELLO, answering, asking, assembled, completion
from tests.servers.faulty import faulty

from flowcore.errors import ContractError
from flowcore.messages import Attachment, Message, ModelRequest, ModelSettings, OutputSchema, ToolCall, ToolSchema
from flowcore.models.chat import ChatModel

MODEL = ChatModel("m", base_url="http://127.0.0.1:1/v1")
OPENAI: TypeAdapter[Any] = TypeAdapter(CompletionCreateParams)

TEXTS = st.text(max_size=20).map(lambda text: text.encode(errors="replace").decode())
NAMES = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,10}", fullmatch=True)
SCHEMAS = st.builds(
    lambda names: {"type": "object", "properties": {name: {"type": "string"} for name in names}, "default": None},
    st.lists(NAMES, max_size=3),
)
CALLS = st.builds(ToolCall, st.text("abc1", min_size=1), NAMES, TEXTS)
ATTACHMENTS = st.one_of(
    st.builds(Attachment, st.sampled_from(["image/png", "image/jpeg"]), st.binary(max_size=9)),
    st.builds(Attachment, st.just("image/png"), url=st.just("https://example.org/a.png")),
    st.builds(Attachment, st.sampled_from(["audio/wav", "audio/mpeg"]), st.binary(min_size=1, max_size=9)),
    st.builds(Attachment, st.sampled_from(["application/pdf", "text/csv"]), st.binary(min_size=1, max_size=9)),
)
MESSAGES = st.one_of(
    st.builds(Message, st.just("system"), TEXTS),
    st.builds(Message, st.just("user"), TEXTS, attachments=st.lists(ATTACHMENTS, max_size=2).map(tuple)),
    st.builds(Message, st.just("assistant"), TEXTS, st.lists(CALLS, max_size=3).map(tuple)),
    st.builds(Message, st.just("tool"), TEXTS, tool_call_id=st.text("abc1", min_size=1)),
)
SETTINGS = st.builds(
    ModelSettings,
    temperature=st.none() | st.floats(0, 2),
    top_p=st.none() | st.floats(0, 1),
    max_tokens=st.none() | st.integers(1, 9999),
    stop=st.lists(TEXTS, max_size=4).map(tuple),
    seed=st.none() | st.integers(0, 2**31),
    reasoning_effort=st.none() | st.sampled_from(["low", "medium", "high"]),
    extra=st.just({}) | st.just({"tool_choice": "required", "user": "ann", "logit_bias": {"1": 2}}),
)
REQUESTS = st.builds(
    ModelRequest,
    st.lists(MESSAGES, min_size=1, max_size=5).map(tuple),
    st.lists(st.builds(ToolSchema, NAMES, TEXTS, SCHEMAS), max_size=3).map(tuple),
    st.none() | st.builds(OutputSchema, NAMES, SCHEMAS),
    SETTINGS,
)


def sent(request: ModelRequest, *, streaming: bool = False, model: ChatModel = MODEL) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(model.payload(request, streaming=streaming))
    return body


def read_whole(value: Any) -> Any:
    """Returns the data with every iterator read, since pydantic checks what is in one only then."""
    if isinstance(value, Mapping):
        return {key: read_whole(item) for key, item in value.items()}
    return [read_whole(item) for item in value] if isinstance(value, Iterator | list) else value


@pytest.mark.behaviour("MODEL-2")
@given(REQUESTS, st.booleans())
def test_every_request_fits_the_types_of_openai(request: ModelRequest, streaming: bool) -> None:
    body = sent(request, streaming=streaming)
    assert read_whole(OPENAI.validate_python(body)) == body


@pytest.mark.parametrize("wrong", [{"messages": [{"role": "poet", "content": ""}]}, {"stop": 3}, {"seeed": 3}])
def test_what_does_not_fit_them_would_be_seen(wrong: dict[str, Any]) -> None:
    body = sent(HELLO) | wrong
    try:
        fits = read_whole(OPENAI.validate_python(body)) == body
    except ValueError:
        fits = False
    assert not fits


@pytest.mark.behaviour("S3-28")
def test_every_setting_is_sent_as_it_is_and_what_is_unset_is_not() -> None:
    request = asking(
        temperature=0.0,
        top_p=0.5,
        max_tokens=7,
        stop=("a", "b"),
        seed=0,
        reasoning_effort="low",
        extra={"n": None},
    )
    assert sent(request) == {
        "model": "m",
        "messages": [{"role": "user", "content": "hello"}],
        "temperature": 0.0,
        "top_p": 0.5,
        "max_tokens": 7,
        "stop": ["a", "b"],
        "seed": 0,
        "reasoning_effort": "low",
        "n": None,
    }
    assert sent(HELLO, streaming=True) == {
        "model": "m",
        "messages": [{"role": "user", "content": "hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_messages_tools_and_schema_are_sent_as_they_are() -> None:
    call = ToolCall("c1", "find", '{"broken')
    schema = {"type": "object", "properties": {}, "default": None}
    request = ModelRequest(
        (
            Message("system", "Be brief."),
            Message("assistant", "", (call, call)),
            Message("tool", "found", tool_call_id="c1"),
            Message("assistant", ""),
        ),
        (ToolSchema("find", "", MappingProxyType(schema)), ToolSchema("get", "Get it.", schema)),
        OutputSchema("answer", schema),
    )
    said = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"broken'}}
    assert sent(request) == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "assistant", "content": "", "tool_calls": [said, said]},
            {"role": "tool", "content": "found", "tool_call_id": "c1"},
            {"role": "assistant", "content": ""},
        ],
        "tools": [
            {"type": "function", "function": {"name": "find", "parameters": schema}},
            {"type": "function", "function": {"name": "get", "description": "Get it.", "parameters": schema}},
        ],
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}},
    }


def test_a_schema_can_be_sent_beside_json_object() -> None:
    model = ChatModel("m", base_url="http://127.0.0.1:1/v1", schema_as="json_object")
    body = sent(ModelRequest(HELLO.messages, output=OutputSchema("answer", {"type": "object"})), model=model)
    assert body["response_format"] == {"type": "json_object", "schema": {"type": "object"}}


@pytest.mark.behaviour("S3-30", "S3-31")
def test_extra_is_added_as_it_stands_and_its_tools_stand_beside_ours() -> None:
    static = {"type": "static_function", "static_function": {"name": "code", "configuration": {"a": 1}}}
    configured = {"custom_fields": {"configuration": {"deep": [1, None]}}, "temperature": 1.5}
    request = ModelRequest(
        HELLO.messages,
        (ToolSchema("find", "", {}),),
        settings=ModelSettings(temperature=0.5, extra={**configured, "tools": [static]}),
    )
    assert sent(request) == {
        "model": "m",
        "messages": [{"role": "user", "content": "hello"}],
        "temperature": 1.5,
        "custom_fields": {"configuration": {"deep": [1, None]}},
        "tools": [{"type": "function", "function": {"name": "find", "parameters": {}}}, static],
    }
    assert sent(asking(extra={"tools": [static]}))["tools"] == [static]


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ({"stream": True}, "extra of the settings may not set 'stream': the request says it"),
        ({"messages": []}, "extra of the settings may not set 'messages': the request says it"),
        ({"a": {1, 2}}, "the request cannot be written as JSON: set has no form in JSON"),
        ({"a": float("nan")}, "the request cannot be written as JSON: Out of range float values"),
    ],
)
def test_what_cannot_be_sent_is_one_clear_error(extra: dict[str, Any], said: str) -> None:
    with pytest.raises(ContractError) as caught:
        MODEL.payload(asking(extra=extra))
    assert str(caught.value).startswith(said)


def test_a_file_without_data_is_one_clear_error() -> None:
    message = Message("user", "", attachments=(Attachment("application/pdf", url="https://example.org/a.pdf"),))
    with pytest.raises(ContractError, match=r"^attachment 1 of type 'application/pdf' has no data; only pic"):
        MODEL.payload(ModelRequest((message,)))


def test_half_a_character_is_replaced() -> None:
    assert sent(ModelRequest((Message("user", "a\ud83d"),)))["messages"][0]["content"] == "a?"


@pytest.mark.behaviour("S3-29")
@pytest.mark.parametrize("streaming", [False, True])
async def test_what_the_model_lacks_is_left_out_with_a_warning(streaming: bool) -> None:
    request = ModelRequest(
        (*HELLO.messages, Message("assistant", "", attachments=(Attachment("image/png", b"x"),))),
        (ToolSchema("find", "", {}),),
        OutputSchema("answer", {}),
        ModelSettings(reasoning_effort="high", temperature=0.5),
    )
    with faulty(answering(completion({"content": "hi"}))) as server:
        async with ChatModel("m", base_url=server.base_url, features=()) as model:
            reply = (
                assembled([chunk async for chunk in model.stream(request)])
                if streaming
                else await model.complete(request)
            )
            warnings = reply.warnings

    body = json.loads(server.requests[0].partition(b"\r\n\r\n")[2])
    assert {name for name in body if "stream" not in name} == {"model", "messages", "temperature"}
    assert reply.text == "hi"
    assert warnings == (
        "the tools were left out: the model does not have it",
        "the output schema was left out: the model does not have it",
        "reasoning_effort was left out: the model does not have it",
        "the attachments of a message of role assistant were left out: only a user's are read",
    )
