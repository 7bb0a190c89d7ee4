"""Markdown: the layout, and that a text stays a text when a parser has read it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from flowcore_presentation import to_markdown

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
OURS = {
    *("heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline"),
    *("strong_open", "strong_close", "text", "text_special", "softbreak", "hardbreak"),
    *("ordered_list_open", "ordered_list_close", "list_item_open", "list_item_close"),
}
PUNCTUATION = "\\`*_{}[]()#+-.!|<>~&$@^=:/\"'?,; \n\t1w"


def tokens(shown: str) -> list[Token]:
    blocks = PARSER.parse(shown)
    return blocks + [child for block in blocks for child in block.children or ()]


def read(shown: str) -> str:
    return "".join(
        "\n" if token.type in ("hardbreak", "paragraph_close") else token.content
        for block in PARSER.parse(shown)
        for token in (block.children if block.children is not None else [block])
    )


def test_the_layout(mixed: Any) -> None:
    assert to_markdown(mixed, questions={"a": "When?"}) == (
        "### When?\n"
        "\n"
        "**Answer**\n"
        "\n"
        r"Idle ones close after 5 s. \[1\] \[2\]" + "\n"
        "\n"
        "**No answer; said instead**\n"
        "\n"
        r"Ask the maintainers. \[2\]" + "\n"
        "\n"
        "**No answer**\n"
        "\n"
        "source denied\n"
        "\n"
        "**Sources**\n"
        "\n"
        "1. httpx, Limits\n"
        "2. httpx, Timeout"
    )


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "![x](http://evil/p.png) [y](javascript:x) <http://evil>",
        "[y]: http://evil 'ref'\n\n[y]",
        "# head\n## head",
        "head\n====\nhead\n---",
        "- a\n+ b\n* c\n1. d\n2) e",
        "> quoted",
        "```\ncode\n```\n~~~\ncode\n~~~",
        "    indented code",
        "a | b\n--|--\nc | d",
        "`code` *em* __strong__ ~~gone~~ &amp; &#35;",
        "***\n___\n---",
        "ends with a backslash\\\nnext",
    ],
)
def test_hostile_text_stays_text(make: Any, hostile: str) -> None:
    shown = to_markdown(make(("a", "answered", hostile, [(hostile, hostile)], "")), questions={"a": hostile})
    found = tokens(shown)
    assert {token.type for token in found} <= OURS
    assert [token.type for token in found].count("ordered_list_open") == 1
    assert [token.type for token in found].count("heading_open") == 1
    assert [token.type for token in found].count("strong_open") == 2


def test_bare_addresses_are_not_linked(make: Any) -> None:
    shown = to_markdown(make(("a", "answered", "http://evil WWW.evil.com me@evil.com", [], "")))
    assert r"http\://evil WWW\.evil.com me\@evil.com" in shown


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text(alphabet=PUNCTUATION, min_size=1).filter(lambda text: text.strip()))
def test_a_reader_sees_what_was_said(make: Any, text: str) -> None:
    shown = to_markdown(make(("a", "answered", text, [], "")))
    assert {token.type for token in tokens(shown)} <= OURS
    assert read(shown).split() == ["Answer", *text.split()]
