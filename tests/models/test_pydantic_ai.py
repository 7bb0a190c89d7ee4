"""Models of pydantic-ai answer through the adapter what they answer by themselves, whole and in pieces."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest
from pydantic_ai import exceptions
from pydantic_ai import messages as said
from pydantic_ai.models.function import AgentInfo, DeltaThinkingPart, DeltaToolCall, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.usage import RequestUsage
from tests.models.chats import HELLO, assembled

from flowcore.errors import ContextOverflow, ModelRequestError, ModelTimeout
from flowcore.messages import (
    Attachment,
    Message,
    ModelReply,
    ModelRequest,
    ModelSettings,
    OutputSchema,
    TokenUsage,
    ToolCall,
    ToolSchema,
)
from flowcore.models.pydantic_ai import PydanticAIModel

FIND = ToolSchema("find", "Find it.", {"type": "object", "properties": {"title": {"type": "string"}}})
CALLS = (ToolCall("c1", "find", '{"title": "a'), ToolCall("c2", "find", '{"title": "b"}'))
EVERYTHING = ModelProfile(supports_json_schema_output=True, supports_thinking=True)


async def both_ways(model: PydanticAIModel, request: ModelRequest) -> list[ModelReply[Any]]:
    return [await model.complete(request), assembled([chunk async for chunk in model.stream(request)])]


async def test_a_text_is_the_same_whole_and_in_pieces() -> None:
    model = PydanticAIModel(TestModel(custom_output_text="so it is"))
    for reply in await both_ways(model, HELLO):
        assert (reply.text, reply.finish_reason, reply.tool_calls) == ("so it is", "stop", ())
        assert (reply.model, reply.usage.estimated) == ("test", False)
        assert reply.usage.input > 0
        assert reply.usage.output > 0
    assert (model.name, repr(model)) == ("test", "PydanticAIModel('test:test')")


async def test_tool_calls_are_the_same_whole_and_in_pieces() -> None:
    for reply in await both_ways(PydanticAIModel(TestModel()), ModelRequest(HELLO.messages, (FIND,))):
        (call,) = reply.tool_calls
        assert (call.name, json.loads(call.arguments), reply.finish_reason) == ("find", {}, "tool_calls")
        assert call.id


def talking(told: list[tuple[list[said.ModelMessage], AgentInfo]]) -> FunctionModel:
    """Returns a model that thinks, says and calls, and keeps what it was told."""

    def whole(messages: list[said.ModelMessage], info: AgentInfo) -> said.ModelResponse:
        told.append((messages, info))
        parts = [
            said.ThinkingPart("hm, hm"),
            said.TextPart("let me see"),
            said.ToolCallPart("find", '{"title": "a', tool_call_id="c1"),
            said.ToolCallPart("find", {"title": "b"}, tool_call_id="c2"),
        ]
        usage = RequestUsage(input_tokens=9, output_tokens=5, cache_read_tokens=4, details={"reasoning_tokens": 2})
        return said.ModelResponse(parts, usage=usage, finish_reason="length", provider_response_id="r1")

    async def pieces(messages: list[said.ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        told.append((messages, info))
        yield {0: DeltaThinkingPart(content="hm, ")}
        yield {0: DeltaThinkingPart(content="hm")}
        yield "let me "
        yield "see"
        yield {2: DeltaToolCall("find", '{"title', tool_call_id="c1")}
        yield {2: DeltaToolCall(json_args='": "a')}
        yield {3: DeltaToolCall("find", '{"title": "b"}', tool_call_id="c2")}

    return FunctionModel(whole, stream_function=pieces, profile=EVERYTHING)


async def test_all_that_is_said_comes_through() -> None:
    for reply in await both_ways(PydanticAIModel(talking([])), HELLO):
        assert (reply.text, reply.reasoning) == ("let me see", "hm, hm")
        assert reply.tool_calls == (
            ToolCall("c1", "find", '{"title": "a'),
            ToolCall("c2", "find", '{"title": "b"}'),
        )
    whole = await PydanticAIModel(talking([])).complete(HELLO)
    assert (whole.finish_reason, whole.id) == ("length", "r1")
    assert whole.usage == TokenUsage(9, 5, cached=4, reasoning=2)


async def test_all_that_is_asked_goes_through() -> None:
    told: list[tuple[list[said.ModelMessage], AgentInfo]] = []
    picture = Attachment("image/png", b"png")
    request = ModelRequest(
        (
            Message("system", "Be brief."),
            Message(
                "user", "look", attachments=(picture, Attachment("image/png", url="https://example.org/a.png"))
            ),
            Message("assistant", "I look", (ToolCall("c1", "find", '{"a"'),)),
            Message("tool", "found", tool_call_id="c1"),
        ),
        (FIND,),
        OutputSchema("answer", {"type": "object"}),
        ModelSettings(0.5, 0.9, 7, ("a",), 3, "low", {"deep": 1}),
    )
    await both_ways(PydanticAIModel(talking(told)), request)

    assert len(told) == 2
    for messages, info in told:
        asked, answered, result = messages
        assert [part.part_kind for part in asked.parts] == ["system-prompt", "user-prompt"]
        prompt = asked.parts[1].content
        assert prompt == [
            "look",
            said.BinaryContent(b"png", media_type="image/png"),
            said.ImageUrl("https://example.org/a.png"),
        ]
        assert isinstance(answered.parts[1], said.ToolCallPart)
        assert (answered.parts[0].content, answered.parts[1].args) == ("I look", '{"a"')
        assert (result.parts[0].tool_name, result.parts[0].content, result.parts[0].tool_call_id) == (
            "find",
            "found",
            "c1",
        )
        assert [(tool.name, tool.parameters_json_schema) for tool in info.function_tools] == [
            ("find", FIND.parameters)
        ]
        assert info.model_request_parameters.thinking == "low"
        assert info.model_request_parameters.output_mode == "native"
        assert info.model_request_parameters.output_object.json_schema == {"type": "object"}
        assert info.model_settings == {
            "temperature": 0.5, "top_p": 0.9, "max_tokens": 7, "stop_sequences": ["a"], "seed": 3,
            "extra_body": {"deep": 1},
        }  # fmt: skip


@pytest.mark.behaviour("S3-29")
async def test_what_the_model_lacks_is_left_out_with_a_warning() -> None:
    model = PydanticAIModel(
        TestModel(custom_output_text="hi", profile=ModelProfile(supports_json_schema_output=False))
    )
    request = ModelRequest(
        HELLO.messages, output=OutputSchema("answer", {}), settings=ModelSettings(reasoning_effort="high")
    )
    reply = await model.complete(request)
    last = [chunk async for chunk in model.stream(request)][-1]
    assert reply.text == "hi"
    assert (
        reply.warnings
        == last.warnings
        == (
            "the output schema was left out: the model does not have it",
            "reasoning_effort was left out: the model does not have it",
        )
    )
    assert model.features == {"tools"}


async def test_leaving_a_stream_early_ends_it() -> None:
    async with aclosing(PydanticAIModel(TestModel(custom_output_text="one two three")).stream(HELLO)) as chunks:
        async for chunk in chunks:
            assert chunk.text
            break


SOON = {"status": 429, "retryable": True, "retry_after": 7.0}


@pytest.mark.parametrize(
    ("theirs", "ours", "shown"),
    [
        (exceptions.ModelHTTPError(401, "m", "no"), ModelRequestError, {"status": 401, "retryable": False}),
        (exceptions.ModelHTTPError(429, "m", "slow", retry_after=7.0), ModelRequestError, SOON),
        (exceptions.ModelConnectionError("m", "gone"), ModelRequestError, {"status": None, "retryable": True}),
        (exceptions.ModelRequestRejectedError("m", "no"), ModelRequestError, {"retryable": False}),
        (exceptions.ModelContextWindowExceededError("m", "long"), ContextOverflow, {"limit": None}),
        (exceptions.ModelTimeoutError("m", "late"), ModelTimeout, {}),
        (exceptions.UnexpectedModelBehavior("odd"), ModelRequestError, {"retryable": False}),
    ],
)  # fmt: skip
async def test_its_errors_are_ours(theirs: Exception, ours: type[Exception], shown: dict[str, Any]) -> None:
    def fail(messages: list[said.ModelMessage], info: AgentInfo) -> said.ModelResponse:
        raise theirs

    with pytest.raises(ours) as caught:
        await PydanticAIModel(FunctionModel(fail)).complete(HELLO)
    assert {name: getattr(caught.value, name) for name in shown} == shown
    assert str(theirs) in str(caught.value)


def test_without_the_extra_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['pydantic_ai'] = None; import flowcore.models.pydantic_ai"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50)
    assert run.stderr.splitlines()[-1] == (
        'ImportError: models of pydantic-ai need an extra: pip install "flowcore[pydantic-ai]"'
    )
