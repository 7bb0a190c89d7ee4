"""What servers say when they do not answer is understood in the shapes that they say it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flowcore.wire import Fault, fault_of, read_fault, retry_after

OPENAI = "This model's maximum context length is 8,192 tokens. However, your messages resulted in 10,011 tokens."
LLAMA_CPP = "request (5010 tokens) exceeds the available context size (4096 tokens), try increasing it"
LLAMA_PYTHON = (
    "This model's maximum context length is 256 tokens, however you requested 530 tokens (18 in the messages)"
)
VLLM = "This model's maximum context length is 4096 tokens. However, your request has 4500 input tokens."
ANTHROPIC = "prompt is too long: 210000 tokens > 200000 maximum"
GEMINI = "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."


@pytest.mark.parametrize(
    ("said", "limit", "needed"),
    [
        ({"error": {"message": OPENAI, "code": "context_length_exceeded"}}, 8192, 10011),
        ({"error": {"message": "", "type": "", "code": "context_length_exceeded"}}, None, None),
        (
            {
                "error": {
                    "code": 400, "message": LLAMA_CPP, "type": "exceed_context_size_error",
                    "n_prompt_tokens": 5010, "n_ctx": 4096,
                }
            },
            4096,
            5010,
        ),
        ({"error": {"message": LLAMA_PYTHON, "type": "invalid_request_error"}}, 256, 530),
        ({"object": "error", "message": VLLM, "type": "BadRequestError", "code": 400}, 4096, 4500),
        ({"type": "error", "error": {"message": ANTHROPIC}}, 200_000, 210_000),
        ([{"error": {"code": 400, "message": GEMINI, "status": "INVALID_ARGUMENT"}}], 1048576, 1048577),
        ({"error": "Please reduce the length of the messages or completion."}, None, None),
        ({"message": "Input is too long for requested model."}, None, None),
    ],
)  # fmt: skip
def test_an_overflow_is_recognised_with_its_numbers(said: Any, limit: int | None, needed: int | None) -> None:
    fault = read_fault(json.dumps(said).encode())
    assert fault is not None
    assert (fault.overflow, fault.limit, fault.needed) == (True, limit, needed)


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ({"error": {"message": "No.", "type": "invalid", "code": None}}, Fault("No.", "invalid")),
        ({"error": {"message": "Busy.", "code": 503}}, Fault("Busy.", status=503)),
        ({"error": "No."}, Fault("No.")),
        ({"detail": "Not Found"}, Fault("Not Found")),
        ({"detail": [{"loc": ["body", "model"], "msg": "Field required"}]}, Fault("body.model: Field required")),
        ({"message": {"why": "no"}}, Fault('{"why": "no"}')),
        ("No.", Fault("No.")),
        ({"error": {"message": "context is a nice word"}}, Fault("context is a nice word")),
    ],
)
def test_a_fault_is_read_in_each_shape(said: Any, fault: Fault) -> None:
    assert fault_of(said) == fault


@pytest.mark.parametrize("said", [None, 5, "", [], {}, {"error": {}}, {"choices": []}, {"error": 3}, [[]]])
def test_what_is_no_fault_is_none(said: Any) -> None:
    assert fault_of(said) is None
    assert read_fault(b"<html>") is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-1"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:10 GMT"}, 10.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:27:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:10 GMT", "date": "Wed, 21 Oct 2015 07:28:06 GMT"}, 4.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=1445412480.0) == seconds


@pytest.mark.parametrize("body", [b"[" * 60_000, b'{"error":' * 60_000])
def test_what_is_nested_without_end_is_of_no_known_shape(body: bytes) -> None:
    assert read_fault(body) is None


@pytest.mark.parametrize(
    ("place", "told"), [(5, "5: wrong"), (None, "wrong"), ("body", "body: wrong"), ([], "wrong")]
)
def test_the_place_of_a_fault_may_be_anything(place: object, told: str) -> None:
    fault = fault_of({"detail": [{"msg": "wrong", "loc": place}]})
    assert fault is not None
    assert fault.message == told
