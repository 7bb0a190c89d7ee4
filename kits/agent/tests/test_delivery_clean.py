"""Cleaning: what no reader is to see is taken out, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowcore_agent.delivery.clean import clean

BITS = st.sampled_from(
    ["<think>", "</think>", "<thi", "nk>", "<tool_call>", "</tool_call>", "{", "`", "```", "\n", " ", "a",
     "\x1b[1m", "\u200b", "\r", "<|im_end|>", "<|", "|>", "<function=f>", "</function>", "[TOOL_CALLS]", "\ud800"]
)  # fmt: skip


@pytest.mark.behaviour("S1-22")
@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("  Four.\n", "Four."),
        ("<think>2 + 2</think>\n\nFour.", "Four."),
        ("<THINKING>a <thinking>b</thinking> c</THINKING>Four.", "Four."),
        ("<think>never closed", ""),
        ("thought\n</think>\n\nFour.", "Four."),
        ("<think>```py\ncut off\n</think>\nFour.", "Four."),
        ("Four. <think>of what", "Four. <think>of what"),
        ("Write `<think>` before </think> it.", "Write `<think>` before  it."),
        ("```xml\n<think>x</think>\n```", "```xml\n<think>x</think>\n```"),
        ('So: <tool_call>{"name": "add"}</tool_call>done', "So: done"),
        ('So: <tool_call>\n{"name": "add"', "So:"),
        ("A <tool_call> is a tag.", "A <tool_call> is a tag."),
        ("Four.<|im_end|><|endoftext|>", "Four."),
        ("f <| g |> h", "f <| g |> h"),
        ('<function=add>{"a": 1}</function>Four.', "Four."),
        ('[TOOL_CALLS] [{"name": "add"}]\nFour.', "Four."),
        ("<\uff5ctool▁calls▁begin\uff5c>add<\uff5ctool▁calls▁end\uff5c>Four.<\uff5cend▁of\uff5c>", "Four."),
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07x", "red x"),
        ("a\r\nb\rc\td\x00\x07e\x7ff\x85", "a\nb\nc\tdef"),
        ("zero\u200bwidth\ufeff turn\u202eed half\ud83d", "zerowidth turned half"),
        ("\U0001f468\u200d\U0001f469 \u0646\u200c\u0645", "\U0001f468\u200d\U0001f469 \u0646\u200c\u0645"),
        ("hidden\U000e0041\U000e0042", "hidden"),
        ("\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
         "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"),
        ("<thi<think>x</think>nk>y", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_what_is_taken_out(raw: str, text: str) -> None:
    assert clean(raw) == text


@pytest.mark.behaviour("S1-22")
@given(st.lists(BITS, max_size=30).map("".join) | st.text())
@settings(max_examples=500, deadline=None)
def test_cleaning_twice_changes_nothing_and_nothing_is_added(raw: str) -> None:
    text = clean(raw)
    assert clean(text) == text
    assert len(text) <= len(raw)
    text.encode()


@pytest.mark.timeout(20)  # work that grew with the square of the text would take longer
@pytest.mark.parametrize(
    "bit", ["<think>", "<tool_call>x", "<thi<think></think>nk>", "</think>\n", "`", "```\n", "a<think>", "\x1b]"]
)
def test_a_long_text_of_tags_is_cleaned_too(bit: str) -> None:
    assert len(clean(bit * 50_000)) <= len(bit) * 50_000
