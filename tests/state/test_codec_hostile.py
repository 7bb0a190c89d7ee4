"""Holds that reading makes values and nothing else: no import, no code of a class, no error but the store's."""

from __future__ import annotations

import builtins
import enum
import json
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, PrivateAttr, field_validator, model_validator
from tests.state.codec_values import HINTS, ZONES, Anything, Cat, Loose, Right, Tight, values

from flowcore.errors import StoreError
from flowcore.state import Codec
from flowcore.state.codec_atoms import ATOM_READERS
from flowcore.state.codec_read import _READERS

CODEC = Codec(*HINTS)
HERE = "tests.state.codec_values"
TAGS = sorted({*ATOM_READERS, *_READERS, "$", "$nothing"})
NAMES = [
    f"{HERE}:{name}"
    for name in ("Anything", "Loose", "Point", "Right", "Colour", "Tight", "Wide", "Names", "Page")
]

ran: list[str] = []


class Watched(BaseModel):
    value: Any = None
    _held: Any = PrivateAttr(default_factory=lambda: ran.append("default factory"))

    def __init__(self, **values: Any) -> None:
        ran.append("model init")
        super().__init__(**values)

    def model_post_init(self, context: Any, /) -> None:
        ran.append("post init")
        super().model_post_init(context)

    @field_validator("value")
    @classmethod
    def check(cls, value: Any) -> Any:
        ran.append("field validator")
        return value

    @model_validator(mode="after")
    def whole(self) -> Any:
        ran.append("model validator")
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        ran.append("model setattr")
        super().__setattr__(name, value)


@dataclass
class WatchedData:
    value: Any

    def __new__(cls, *_: Any) -> Any:
        ran.append("new")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        ran.append("data post init")

    def __setattr__(self, name: str, value: Any) -> None:
        ran.append("data setattr")
        super().__setattr__(name, value)

    def __setstate__(self, state: Any) -> None:
        ran.append("setstate")


class WatchedEnum(enum.Enum):
    ONE = 1

    @classmethod
    def _missing_(cls, value: object) -> Any:
        ran.append("missing")


class WatchedFlag(enum.Flag):
    ONE = 1
    TWO = 2

    @classmethod
    def _missing_(cls, value: Any) -> Any:
        ran.append("missing")
        return super()._missing_(value)


def test_reading_calls_no_code_of_a_class_and_imports_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    value = [Watched(value=1), WatchedData(2), WatchedEnum.ONE, WatchedFlag(3), Cat(), Tight(1)]
    text = CODEC.encode(value, "state")
    CODEC.decode(text, "state")
    real = builtins.__import__

    def watched(name: str, *rest: Any) -> Any:
        ran.append(f"import {name}")
        return real(name, *rest)

    ran.clear()
    with monkeypatch.context() as patched:
        patched.setattr(builtins, "__import__", watched)
        found = CODEC.decode(text, "state")
        told = list(ran)
    assert told == []
    assert found == value
    assert found[3] is WatchedFlag.ONE | WatchedFlag.TWO


def test_a_module_that_is_not_loaded_stays_so() -> None:
    for tag in ("$data", "$model", "$enum", "$named", "$class"):
        payload: Any = "this:Zen" if tag == "$class" else ["this:Zen", {}]
        with pytest.raises(StoreError, match="its class this:Zen is not there any more"):
            CODEC.decode(json.dumps({tag: payload}), "state")
    assert "this" not in sys.modules


def test_a_module_that_loads_when_asked_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    lazy: Any = types.ModuleType("lazy_module")
    lazy.__getattr__ = lambda name: ran.append(f"asked for {name}")
    monkeypatch.setitem(sys.modules, "lazy_module", lazy)
    ran.clear()
    with pytest.raises(StoreError, match="is not there any more"):
        CODEC.decode('{"$data":["lazy_module:Thing",{}]}', "state")
    assert ran == []


@pytest.mark.parametrize(
    "name", ["os:environ", "builtins:int", "builtins:object", "subprocess:Popen", "x", ":", "", 3]
)
def test_only_classes_that_hold_values_are_made(name: Any) -> None:
    for tag in ("$data", "$model", "$enum", "$named", "$flag"):
        with pytest.raises(StoreError, match="is not there any more"):
            CODEC.decode(json.dumps({tag: [name, {}]}), "state")


def test_a_class_that_changed_is_told_by_what_changed() -> None:
    cases = {
        f'{{"$data":["{HERE}:Loose",{{"value":1}}]}}': "Loose has a field made that it had not then",
        f'{{"$data":["{HERE}:Tight",{{"value":1,"rest":2,"gone":3}}]}}': "Tight has no field gone any more",
        f'{{"$model":["{HERE}:Cat",{{"kind":"cat"}}]}}': "Cat has a field lives that it had not then",
        f'{{"$model":["{HERE}:Cat",{{"kind":"cat","lives":1,"age":2}}]}}': "Cat has no field age any more",
        f'{{"$named":["{HERE}:Point",{{"x":1}}]}}': "Point has a field y that it had not then",
        f'{{"$enum":["{HERE}:Colour","GREEN"]}}': "Colour has no member GREEN any more",
        f'{{"$model":["{HERE}:Loose",{{}}]}}': "Loose is not there any more",
        f'{{"$wide":["{HERE}:Loose",{{}}]}}': "nothing is stored under '$wide'",
    }
    for text, words in cases.items():
        with pytest.raises(StoreError) as caught:
            CODEC.decode(text, "state.x")
        assert str(caught.value).startswith("state.x: what is stored cannot be read: ")
        assert str(caught.value).endswith(words)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "nul",
        "{",
        '{"a":1',
        "[1,]",
        "NaN",
        "Infinity",
        "1e",
        '"\n"',
        "{}{}",
        "'a'",
        "\ud800",
        "9" * 5000,
        "[" * 100_000,
        "[" * 100_000 + "]" * 100_000,
        '{"a":' * 100_000,
        '{"$tuple":[' * 50_000,
        None,
        3,
        b"1",
        '{"$int":"x"}',
        '{"$int":3}',
        '{"$float":1}',
        '{"$date":"x"}',
        '{"$date":[]}',
        '{"$datetime":[1]}',
        '{"$zone":"../../etc/passwd"}',
        '{"$zone":"Europe"}',
        '{"$zone":""}',
        '{"$zone":"No/Where"}',
        '{"$uuid":"x"}',
        '{"$uuid":1}',
        '{"$decimal":"x"}',
        '{"$decimal":[]}',
        '{"$fraction":[1,0]}',
        '{"$bytes":"x"}',
        '{"$bytes":"é"}',
        '{"$str":"/w=="}',
        '{"$path":["Path","a"]}',
        '{"$path":["WindowsPath","a"]}',
        '{"$pattern":["(",0]}',
        '{"$pattern":["a",128]}',
        '{"$pattern":["a",1e999]}',
        '{"$set":[[]]}',
        '{"$set":{}}',
        '{"$tuple":"ab"}',
        '{"$dict":[[1]]}',
        '{"$dict":[[[],1]]}',
        '{"$log":1}',
        '{"$deque":[[1],-1]}',
        '{"$deque":[]}',
        '{"$defaultdict":["eval",[]]}',
        '{"$timedelta":[1e400]}',
        '{"$timedelta":[999999999999]}',
        '{"$timezone":[1]}',
        '{"$offset":1}',
        '{"$offset":{"$timedelta":[9]}}',
        '{"$secret":"x"}',
        '{"$secret":[]}',
        '{"$complex":[1,2,3]}',
        '{"$data":1}',
        '{"$data":[]}',
        '{"$data":[{}]}',
        '{"$class":[]}',
        f'{{"$model":["{HERE}:Cat",[]]}}',
        f'{{"$model":["{HERE}:Cat",{{"kind":1,"lives":2}},3]}}',
        f'{{"$model":["{HERE}:Cat",{{"kind":1,"lives":2}},null,[]]}}',
        f'{{"$model":["{HERE}:Cat",{{"kind":1,"lives":2}},null,null,{{"x":1}}]}}',
        f'{{"$data":["{HERE}:Tight",{{"value":1,"rest":2}},{{"x":1}}]}}',
        f'{{"$named":["{HERE}:Point",[1,2]]}}',
        f'{{"$flag":["{HERE}:Right",99]}}',
        f'{{"$flag":["{HERE}:Right","x"]}}',
    ],
    ids=lambda text: repr(text)[:40],
)
def test_a_text_that_no_value_was_written_as_is_an_error_of_the_store(text: Any) -> None:
    with pytest.raises(StoreError, match=r"^state\.x: what is stored"):
        CODEC.decode(text, "state.x")
    with pytest.raises(StoreError, match=r"^state\.x: what is stored"):
        CODEC.decode_fields(text, "state.x")


def test_a_value_that_is_no_fields_is_not_read_as_fields() -> None:
    for text in ('{"$dict":[[null,null]]}', "[]", "3", '{"$set":[]}', '{"$log":[1]}'):
        CODEC.decode(text, "state")
        with pytest.raises(StoreError, match="is not the fields of a state"):
            CODEC.decode_fields(text, "state")


plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.sampled_from(NAMES),
    st.sampled_from([*ZONES, "2026-01-01", "2026-01-01T00:00:00", "RED", "value", "str", "0x1"]),
)
trees = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(["value", "other", "x", "y", "made", "number", "+a", "a"]) | st.text(), inner
        ),
        st.builds(lambda tag, told: {tag: told}, st.sampled_from(TAGS), inner),
        st.builds(
            lambda tag, name, rest: {tag: [name, *rest]},
            st.sampled_from(["$data", "$model", "$named", "$enum", "$flag"]),
            st.sampled_from(NAMES),
            st.lists(inner, max_size=4),
        ),
    ),
    max_leaves=15,
)


def read_or_refused(read: Callable[[str, str], Any], text: str) -> bool:
    """Return whether reading either made a value or was refused with its place, and raised nothing else."""
    refusal = "state: "
    try:
        read(text, "state")
    except StoreError as error:
        refusal = str(error)
    return refusal.startswith("state")


@settings(deadline=None, max_examples=400)
@given(trees)
def test_whatever_tree_is_read_it_is_a_value_or_an_error_of_the_store(tree: Any) -> None:
    text = json.dumps(tree)
    for read in (CODEC.decode, CODEC.decode_fields, lambda text, _: CODEC.fold(text, [text, text])):
        assert read_or_refused(read, text)


@settings(deadline=None, max_examples=200)
@given(values, st.data())
def test_a_stored_text_that_was_cut_or_changed_is_a_value_or_an_error_of_the_store(value: Any, data: Any) -> None:
    text = CODEC.encode(value, "state")
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    broken = text[:start] + data.draw(st.text('"[]{}:,$01ae\\', max_size=3)) + text[end:]
    for read in (CODEC.decode, CODEC.decode_fields):
        assert read_or_refused(read, broken)


@given(st.text())
def test_any_text_at_all_is_a_value_or_an_error_of_the_store(text: str) -> None:
    assert read_or_refused(CODEC.decode, text)


def test_what_is_read_twice_shares_nothing_that_can_change() -> None:
    text = CODEC.encode(Anything(value=[Loose([1]), Right(3)]), "state")
    first, second = CODEC.decode(text, "state"), CODEC.decode(text, "state")
    first.value[0].value.append(2)
    assert second.value[0].value == [1]


class Both(NamedTuple):
    left: Any
    right: Any


def test_a_named_tuple_is_made_by_its_names() -> None:
    name = f"{Both.__module__}:Both"
    assert CODEC.decode(json.dumps({"$named": [name, {"right": 1, "left": 2}]}), "state") == Both(2, 1)
