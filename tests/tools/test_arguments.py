"""The arguments of a call: what is mended loses nothing, and what was cut off is never guessed."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tools.room import Room, call

from flowcore.tools.json_text import JsonFault, read_object, valid_arguments


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('{"a": 1,}', {"a": 1}),
        ("{'a': 'b'}", {"a": "b"}),
        ("{'a': \"it's\"}", {"a": "it's"}),
        ("{a: 1}", {"a": 1}),
        ('{"a": True, "b": None}', {"a": True, "b": None}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('{"a": 1 /* one */}', {"a": 1}),
        ('{"a": [1, 2,],}', {"a": [1, 2]}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('{"at": "http://there", }', {"at": "http://there"}),
        (r"""{'a': 'say \'hi\' or "ho"', 'b': '\"'}""", {"a": "say 'hi' or \"ho\"", "b": '"'}),
        ('{"a": "b" /* "c": 1 */,}', {"a": "b"}),
        ('{"a": [+1, 5., -2.e3],}', {"a": [1, 5.0, -2000.0]}),
    ],
)
@pytest.mark.behaviour("S0-13")
def test_syntax_that_loses_nothing_is_mended(text: str, value: dict[str, Any]) -> None:
    assert read_object(text) == value


@pytest.mark.parametrize(
    ("text", "said", "cut"),
    [
        ('{"a": ', "break off", True),
        ('{"a": "b', "break off inside a text", True),
        ('{"a": {"b": 1}', "break off", True),
        ("{", "break off", True),
        ('"{\\"a\\": "', "break off", True),
        ('{"malformed_arguments": "{\\"a\\": "}', "break off", True),
        ("", "there are no arguments", False),
        ('{"a": , "b": 1}', "a value is missing before a comma", False),
        ('{"a": }', "a value is missing before a closing bracket", False),
        ('{"a": [1,,2]}', "a value is missing before a comma", False),
        ("{: 1}", "a name is missing", False),
        ('{"a": 1}}', "do not match", False),
        ('{"a": 1, "a": 2}', "stands twice in the arguments: a", False),
        ("{'a': 1, a: 2}", "stands twice in the arguments: a", False),
        ('{"a": 1e999}', "the number 1e999 is too large", False),
        ('{"a": [-1e999],}', "the number -1e999 is too large", False),
        ('{"a": 1} /* more', "break off inside a comment", True),
        ('{"a": 1 /*/}', "break off inside a comment", True),
        ('{"a": hello}', "no JSON", False),
        ('{"a": "say "hi" now"}', "no JSON", False),
        ('{"a": 007,}', "no JSON", False),
        ('{"a": 1} and more', "no JSON", False),
        ('Here it is: {"a": 1}', "no JSON", False),
        ('{"a": NaN}', "NaN is no JSON", False),
        ("[1]", "one JSON object, and not a list", False),
        ("null", "one JSON object, and not null", False),
        ("1", "one JSON object, and not a number", False),
        ("[" * 100_000, "nested too deeply", False),
    ],
)
@pytest.mark.behaviour("S0-14")
def test_what_is_not_all_there_is_refused_with_the_reason(text: str, said: str, cut: bool) -> None:
    with pytest.raises(JsonFault, match=said) as refused:
        read_object(text)
    assert refused.value.cut is cut


@pytest.mark.parametrize(
    "text",
    [
        "{" + ",".join(f'"a{index // 2}":1' for index in range(100_000)) + "}",
        "```" + "\n" * 100_000,
        "```json\n" + " \n" * 400_000 + "x",
        "```\n" * 100_000,
        '{"a": 1, ' + "/* " * 300_000,
        "{'a': '" + "x" * 900_000,
        "{a: " + "b " * 400_000 + "}",
        "{'a': [" + "1," * 200_000 + "]}",
    ],
    ids=["names", "fence", "fenced spaces", "fences", "comments", "text", "words", "list"],
)
def test_a_long_text_holds_nobody_up(text: str) -> None:
    began = time.perf_counter()
    with contextlib.suppress(JsonFault):
        read_object(text)
    assert time.perf_counter() - began < 8


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(), values, max_size=4)


@given(objects, st.booleans())
@settings(max_examples=200, deadline=None)
@pytest.mark.behaviour("A123")
def test_arguments_that_were_cut_anywhere_are_never_read(value: dict[str, Any], ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii)
    assert read_object(text) == value
    for end in range(len(text)):
        with pytest.raises(JsonFault):
            read_object(text[:end])


@given(objects, st.data())
@settings(max_examples=300, deadline=None)
@pytest.mark.behaviour("A123")
def test_broken_arguments_never_bring_a_value_that_was_not_said(
    value: dict[str, Any], data: st.DataObject
) -> None:
    text = json.dumps(value)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(at, min(len(text), at + 3)))
        text = (
            text[:at]
            + data.draw(st.sampled_from(["", ",", "'", '"', ":", "{", "}", "]", " ", "\\", "x"]))
            + text[end:]
        )
    try:
        read = read_object(text)
    except JsonFault:
        return
    for leaf in leaves(read):
        assert said(leaf, text), (leaf, text)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in [key, *leaves(inner)]]
    return [leaf for inner in value for leaf in leaves(inner)] if isinstance(value, list) else [value]


def said(leaf: Any, text: str) -> bool:
    """Returns whether a value stands in the text."""
    if leaf is None or isinstance(leaf, bool):
        return any(
            word in text
            for word in {None: ("null", "None"), True: ("true", "True"), False: ("false", "False")}[leaf]
        )
    if isinstance(leaf, str):
        plain = text.replace('\\"', '"').replace("\\'", "'")
        return any(form in text or form in plain for form in (leaf, json.dumps(leaf)[1:-1])) or "\\" in text
    return any(character.isdigit() for character in text)


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None)
@pytest.mark.behaviour("A121")
def test_whatever_a_model_wrote_goes_back_to_it_as_one_json_object(text: str) -> None:
    valid = valid_arguments(text)
    assert isinstance(json.loads(valid), dict)
    assert valid_arguments(valid) == valid
    try:
        assert read_object(valid) == read_object(text)
    except JsonFault:
        with pytest.raises(JsonFault):
            read_object(valid)


@pytest.mark.behaviour("A123", "S2-34")
async def test_a_tool_without_required_arguments_does_not_run_on_cut_ones() -> None:
    deleted: list[str | None] = []

    def delete(path: str | None = None) -> None:
        deleted.append(path)

    cut = ['{"path": "/ho', '{"path"', "{", "", "  ", '{"path": ', '```json\n{"path": "/home"']
    room = Room([delete])
    results = await room.run(*(call("delete", text, f"c{n}") for n, text in enumerate(cut)))
    assert [(result.status, result.handler_ran) for result in results] == [("invalid_arguments", False)] * len(cut)
    assert deleted == []


@pytest.mark.parametrize("text", ["", " \n", valid_arguments(""), valid_arguments(" \n")])
async def test_a_tool_without_parameters_needs_no_arguments(text: str) -> None:
    def now() -> str:
        return "noon"

    (result,) = await Room([now]).run(call("now", text))
    assert (result.status, result.text) == ("ok", "noon")
