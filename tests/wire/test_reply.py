"""Replies of chat completions are read with patience: what may be null or odd without harm does none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flowcore.wire import ChatReply, Said, Usage, read_reply


def said(**message: Any) -> Said:
    choices = read_reply(json.dumps({"choices": [{"index": 0, "message": message}]})).choices
    assert choices is not None
    assert choices[0].message is not None
    return choices[0].message


def test_the_names_of_reasoning_are_one() -> None:
    assert said(content="a", reasoning_content="b").thought == "b"
    assert said(content="a", reasoning="b").thought == "b"
    assert said(content="a", reasoning={"odd": 1}).thought == ""
    assert said(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "b"}]}]).thought == "b"


def test_content_may_be_null_or_parts() -> None:
    assert said(content=None).text == ""
    assert (
        said(content=[{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]).text
        == "ab"
    )
    assert said(content=None, refusal="No.").text == "No."
    assert said(content="a", refusal="No.").text == "a"


@pytest.mark.parametrize(("arguments", "text"), [('{"a": 1}', '{"a": 1}'), ({"a": 1}, '{"a": 1}'), (None, None)])
def test_arguments_that_are_an_object_become_their_text(arguments: Any, text: str | None) -> None:
    calls = said(tool_calls=[{"id": "1", "function": {"name": "f", "arguments": arguments}}]).tool_calls
    assert calls is not None
    assert calls[0].function is not None
    assert calls[0].function.arguments == text


@pytest.mark.parametrize("usage", ["none", [], {"prompt_tokens": "many"}])
def test_usage_of_an_unknown_shape_is_none(usage: Any) -> None:
    assert read_reply(json.dumps({"usage": usage})) == ChatReply()
    odd = {"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": usage}}
    assert read_reply(json.dumps({"usage": odd})).usage == Usage(1)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b"3", b'{"choices": 3}', b'{"choices": [{"message": 3}]}']
)
def test_what_is_no_reply_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match="validation error"):
        read_reply(body)


@pytest.mark.parametrize("name", ["id", "model"])
@pytest.mark.parametrize("value", [5, [], {}, True])
def test_a_name_of_another_type_makes_no_answer_useless(name: str, value: object) -> None:
    reply = read_reply(json.dumps({name: value, "choices": [{"message": {"content": "hi", "refusal": value}}]}))
    assert reply.choices is not None
    assert reply.choices[0].message is not None
    assert reply.choices[0].message.text == "hi"
    assert getattr(reply, name) is None
