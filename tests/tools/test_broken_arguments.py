"""Arguments that are broken in any way run no tool, or run it with what was said: each value once, no other."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tools.room import call

from flowcore import Budget, Scope
from flowcore.tools import ToolCatalog, ToolExecutor

UNSAID = "nobody said this"
ran: list[dict[str, Any]] = []


async def write(a: Any = UNSAID, b: Any = UNSAID, c: Any = UNSAID) -> None:
    given = {"a": a, "b": b, "c": c}
    ran.append({name: value for name, value in given.items() if value != UNSAID})


EXECUTOR = ToolExecutor(ToolCatalog([write]))

texts = st.text(st.sampled_from("ab1é \n\"'\\,:{}[]"), max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(-1e9, 1e9, width=32) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=6,
)
WRITERS: list[Callable[[Any], str]] = [json.dumps, repr, lambda value: json.dumps(value, ensure_ascii=False)]
FRAMES = ["{}", "{{{}}}", "{{ {}, }}", "```json\n{{{}}}\n```"]
MARKS = ["", ",", "'", '"', ":", "{", "}", "[", "]", " ", "x", "1", "-", "."]


@st.composite
def broken(draw: st.DrawFn) -> str:
    """Arguments as a model may write them: in a way of its own, a name twice, with characters lost or added."""
    write = draw(st.sampled_from(WRITERS))
    pairs = draw(st.lists(st.tuples(st.sampled_from("abc"), values), max_size=3))
    listed = ", ".join(f"{write(name)}: {write(value)}" for name, value in pairs)
    text = draw(st.sampled_from(FRAMES)).format(listed)
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(text)))
        end = draw(st.integers(at, min(len(text), at + 2)))
        text = text[:at] + draw(st.sampled_from(MARKS)) + text[end:]
    return text[: draw(st.integers(0, len(text)))] if draw(st.integers(0, 3)) == 0 else text


@given(broken())
@settings(max_examples=200, deadline=None)
@pytest.mark.behaviour("A123", "S2-34")
async def test_a_tool_runs_with_what_was_said_or_not_at_all(text: str) -> None:
    ran.clear()
    async with Scope(Budget()):
        (result,) = await EXECUTOR.run([call("write", text)])
    if result.status == "ok":
        (arguments,) = ran
        assert Counter(held(arguments)) == Counter(said(text)), (text, arguments)
    else:
        assert (result.status, result.handler_ran, ran) == ("invalid_arguments", False, [])


def held(value: Any) -> list[tuple[str, Any]]:
    """Returns every name, plain value and bracket of some arguments."""
    if isinstance(value, dict):
        return [*brackets("{}"), *(one for pair in value.items() for part in pair for one in held(part))]
    if isinstance(value, list):
        return [*brackets("[]"), *(one for inner in value for one in held(inner))]
    return [plain(value)]


def brackets(text: str) -> list[tuple[str, Any]]:
    return [("bracket", sign) for sign in text if sign in "{}[]"]


def plain(value: Any) -> tuple[str, Any]:
    if isinstance(value, str):
        return "text", value
    return ("word", value) if value is None or isinstance(value, bool) else ("number", float(value))


WORDS = {"null": None, "None": None, "true": True, "True": True, "false": False, "False": False}


def said(text: str) -> list[tuple[str, Any]]:
    """Returns every text in quotes, word and bracket of a text, in a way that knows nothing of what they mean."""
    text = text.strip().removeprefix("```json").removesuffix("```").strip()
    found: list[tuple[str, Any]] = []
    at = 0
    while at < len(text):
        start = at
        if text[at] in "{}[]:," or text[at].isspace():
            found += brackets(text[at])
            at += 1
        elif text[at] in "'\"":
            at += 1
            while text[at] != text[start]:
                at += 2 if text[at] == "\\" else 1
            at += 1
            found.append(("text", unquoted(text[start:at])))
        else:
            while at < len(text) and text[at] not in "{}[]:,'\"" and not text[at].isspace():
                at += 1
            found.append(worded(text[start:at]))
    twice = len(found) == 1 and found[0][0] == "text" and text[0] in "'\""
    return said(found[0][1]) if twice else found


def unquoted(literal: str) -> str:
    inner = literal[1:-1]
    if literal[0] == "'":
        inner = re.sub(
            r'\\.|"', lambda found: {"\\'": "'", '"': '\\"'}.get(found[0], found[0]), inner, flags=re.DOTALL
        )
    return str(json.loads(f'"{inner}"', strict=False))


def worded(word: str) -> tuple[str, Any]:
    if word in WORDS:
        return "word", WORDS[word]
    try:
        return "number", float(word)
    except ValueError:
        return "text", word


@pytest.mark.parametrize(
    ("text", "arguments", "fits"),
    [
        ("{'a': \"x\", b: [1, None]}", {"a": "x", "b": [1, None]}, True),
        ('{"a": "x', {"a": "x"}, None),
        ('{"a": "x"', {"a": "x"}, False),
        ('{"a": 1, "a": 2}', {"a": 2}, False),
        ('{"a": 12', {"a": 1}, False),
        ('{"a": 1, "b": ', {"a": 1}, False),
        ('{"a": 1}', {"a": 1, "b": None}, False),
        ('{"a": true}', {"a": 1}, False),
    ],
)
def test_what_was_not_said_would_be_seen(text: str, arguments: dict[str, Any], fits: bool | None) -> None:
    if fits is None:
        with pytest.raises(IndexError):
            said(text)
    else:
        assert (Counter(held(arguments)) == Counter(said(text))) is fits
