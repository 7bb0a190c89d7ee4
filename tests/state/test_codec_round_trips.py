"""Holds that values come back from their text the same, in value and in type, at every depth."""

from __future__ import annotations

import datetime
import decimal
import enum
import json
import pathlib
import uuid
import zoneinfo
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.state.codec_values import (
    HINTS,
    Anything,
    Bit,
    Cat,
    Colour,
    Dog,
    Firm,
    Home,
    Level,
    Loose,
    Mood,
    Names,
    Outer,
    Page,
    Point,
    Right,
    Slotted,
    Tight,
    Wide,
    Word,
    alike,
    values,
)

from flowcore.errors import NotSerialisable
from flowcore.state import Codec, Log, same, shape_of

CODEC = Codec(*HINTS)


def back(value: Any, codec: Codec = CODEC) -> Any:
    return codec.decode(codec.encode(value, "state"), "state")


@pytest.mark.behaviour("A105", "A109")
@settings(deadline=None, max_examples=300)
@given(values)
def test_a_value_comes_back_with_its_type_and_its_text_is_the_same_again(value: Any) -> None:
    text = CODEC.encode(value, "state")
    found = CODEC.decode(text, "state")
    assert alike(found, value)
    assert CODEC.encode(found, "state") == text
    assert text.encode().decode() == text


@pytest.mark.behaviour("A109")
@settings(deadline=None, max_examples=150)
@given(st.dictionaries(st.sampled_from(["one", "two", "long_name"]), values, max_size=3))
def test_the_fields_of_a_state_come_back(fields: dict[str, Any]) -> None:
    text = CODEC.encode_fields(fields, "state")
    found = CODEC.decode_fields(text, "state")
    assert alike(found, fields)
    assert alike(CODEC.fold(text, []), fields)
    assert CODEC.encode_fields(found, "state") == text


@dataclass
class Tags:
    plain: Colour
    number: Level
    word: Word
    mood: Mood
    rights: Right
    by_colour: dict[Colour, list[Level]]
    by_word: dict[Word, Mood]


class TagModel(BaseModel):
    plain: Colour
    number: Level
    word: Word
    mood: Mood
    inner: Outer.Inner


@pytest.mark.behaviour("A103")
@given(
    st.sampled_from(Colour), st.sampled_from(Level), st.sampled_from(Word), st.sampled_from(Mood),
    st.integers(0, 7).map(Right),
)  # fmt: skip
def test_enums_of_each_kind_come_back_as_members_nested_and_as_keys(
    plain: Colour, number: Level, word: Word, mood: Mood, rights: Right
) -> None:
    tags = Tags(plain, number, word, mood, rights, {plain: [number]}, {word: mood})
    found = back(tags)
    assert found == tags
    assert found.plain is plain
    assert found.number is number
    assert found.word is word
    assert found.mood is mood
    assert found.rights is rights
    assert [type(key) for key in found.by_colour] == [Colour]
    assert [type(key) for key in found.by_word] == [Word]
    model = back(TagModel(plain=plain, number=number, word=word, mood=mood, inner=Outer.Inner.A))
    assert [type(value) for value in model.__dict__.values()] == [Colour, Level, Word, Mood, Outer.Inner]


@pytest.mark.behaviour("A103")
def test_another_name_of_a_member_and_flags_without_a_name_come_back() -> None:
    assert back(Colour.CRIMSON) is Colour.RED
    assert back(Right(0)) is Right(0)
    assert back(Right.READ | Right.RUN) is Right.READ | Right.RUN
    assert back(Bit(3)) is Bit(3)
    assert (type(back(Bit(8))), back(Bit(8))) == (Bit, Bit(8))


@pytest.mark.behaviour("A105")
@pytest.mark.parametrize(
    "value",
    [
        {(1, 2), (3, 4)},
        frozenset({(1, (2,)), frozenset({3})}),
        {(1, 2): "a", (3, 4): {5: b"\x00\xff"}},
        {1: "one", True + 1: "two", None: 3, 1.5: 4},
        {"b": 1, "a": 2},
        b"",
        bytearray(b"\x00"),
        [set(), frozenset(), (), {}, []],
        deque([1, (2,)], maxlen=2),
        OrderedDict([((1,), 1)]),
        Point((1,), {2}),
        Log([(1, 2), {3}]),
    ],
    ids=repr,
)
def test_sets_tuples_bytes_and_keys_of_any_type_come_back(value: Any) -> None:
    found = back(value)
    assert alike(found, value)
    if isinstance(value, dict):
        assert list(found) == list(value)


LOOKALIKES = [
    {"$": 1},
    {"$date": "2026-01-31"},
    {"$dict": [[1, 2]]},
    {"$nothing": None},
    {"$model": ["builtins:int", {}]},
    {"$a": 1, "b": 2},
    {"$tuple": {"$set": [1]}},
    {"": {"$str": "x"}},
    {"__type__": "datetime", "value": "x"},
    {"+log": [1]},
    {"$": {"$": {"$": []}}},
    [{"$secret": "str"}],
]


@pytest.mark.behaviour("A107")
@pytest.mark.parametrize("value", LOOKALIKES, ids=repr)
def test_data_that_looks_like_our_marks_comes_back_verbatim(value: Any) -> None:
    for given_value in (value, [value], (value,), Anything(value=value), Loose(value), {"x": value}, Log([value])):
        assert alike(back(given_value), given_value)
    assert alike(CODEC.decode_fields(CODEC.encode_fields({"x": value}, "state"), "state"), {"x": value})
    assert alike(CODEC.fold("{}", [CODEC.encode_fields({"x": value}, "state")]), {"x": value})


class Kinds(BaseModel):
    when: datetime.datetime
    key: uuid.UUID
    price: decimal.Decimal
    path: pathlib.Path


@pytest.mark.behaviour("A111")
def test_what_a_run_validated_has_the_same_types_when_it_comes_back() -> None:
    kinds = Kinds.model_validate(
        {"when": "2026-10-25T02:30:00+01:00", "key": str(uuid.UUID(int=7)), "price": "1.50", "path": "a/b"}
    )
    found = back(kinds)
    assert same(found, kinds)
    for name in Kinds.model_fields:
        assert type(getattr(found, name)) is type(getattr(kinds, name))
    assert type(found.when.tzinfo) is type(kinds.when.tzinfo)
    assert str(found.price) == "1.50"


@pytest.mark.behaviour("A111")
def test_a_time_that_comes_twice_comes_back_as_the_one_it_was() -> None:
    paris = zoneinfo.ZoneInfo("Europe/Paris")
    for fold in (0, 1):
        when = datetime.datetime(2026, 10, 25, 2, 30, tzinfo=paris, fold=fold)
        found = back(when)
        assert found.tzinfo is paris
        assert found.fold == fold
        assert found.utcoffset() == when.utcoffset()
        assert back(when.timetz()).fold == fold
    assert back(datetime.UTC) is datetime.UTC
    assert back(datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)).tzinfo is datetime.UTC
    tiny = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(microseconds=1)))
    assert back(tiny).utcoffset() == datetime.timedelta(microseconds=1)
    named = datetime.timezone(datetime.timedelta(0), "GMT")
    assert repr(back(datetime.datetime(2026, 1, 1, tzinfo=named)).tzinfo) == repr(named)


def test_a_model_comes_back_with_what_was_given_to_it_and_what_it_holds_beside_its_fields() -> None:
    wide = Wide(number=1, a=(1,), b=Cat())
    wide._held = {2}
    found = back(wide)
    assert found == wide
    assert found.model_fields_set == {"number", "a", "b"}
    assert found.__pydantic_extra__ == {"a": (1,), "b": Cat()}
    assert found._held == {2}
    found._count = 4
    assert back(Wide()).model_fields_set == set()
    assert back(Anything(other=1)).model_fields_set == {"other"}
    assert back(Anything.model_construct(value=1, _fields_set={"x"})).model_fields_set == {"x"}
    half = back(Kinds.model_construct(price=decimal.Decimal(1)))
    assert set(half.__dict__) == {"price"}


def test_generic_models_tagged_unions_and_root_models_come_back() -> None:
    home = back(Home(pet=Dog(tricks=("sit",)), pages=Page[int](items=[1])))
    assert type(home.pet) is Dog
    assert type(home.pages) is Page[int]
    assert type(back(Page[str](items=["a"]))) is Page[str]
    assert back(Names(["a"])).root == ["a"]
    assert back(Page(items=[{1}])).items == [{1}]


def test_dataclasses_come_back_with_slots_frozen_and_half_filled() -> None:
    loose = Loose(1)
    loose.made = [2]
    vars(loose)["beside"] = (3,)
    found = back(loose)
    assert (found.value, found.made, found.beside) == (1, [2], (3,))
    assert back(Tight({1}, (2,))) == Tight({1}, (2,))
    assert hash(back(Firm(value=(1,)))) == hash(Firm(value=(1,)))
    half = back(Slotted(1))
    assert half.value == 1
    assert not hasattr(half, "other")


def test_classes_of_a_function_come_back_where_an_annotation_leads_to_them() -> None:
    class Shade(enum.Enum):
        DARK = 1

    @dataclass
    class Wall:
        shade: Shade

    class House(BaseModel):
        walls: dict[str, list[Wall | None]]

    codec = Codec(House, Shade)
    house = House(walls={"a": [Wall(Shade.DARK), None]})
    found = back(house, codec)
    assert type(found) is House
    assert found == house
    assert found.walls["a"][0].shade is Shade.DARK
    assert back(Wall, codec) is Wall
    with pytest.raises(NotSerialisable, match="no annotation of the flow leads to its class"):
        back(house, Codec())


def test_of_two_classes_of_one_name_only_the_one_that_is_found_again_is_stored() -> None:
    def made() -> type[BaseModel]:
        class Twin(BaseModel):
            value: int = 0

        return Twin

    first, second = made(), made()
    codec = Codec(first | second)
    assert type(back(first(), codec)) is first
    with pytest.raises(NotSerialisable, match="two classes have its name"):
        codec.encode(second(), "state")


def test_a_draft_comes_back_as_the_state_that_it_is_a_draft_of() -> None:
    for state in (Anything(value=[1]), Loose([1])):
        shape = shape_of(type(state))
        draft = shape.draft(shape.values(state))
        draft.value.append(2)
        found = back({"kept": draft})["kept"]
        assert type(found) is type(state)
        assert found.value == [1, 2]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"count": 3}, '{"count":3}'),
        ([1.0, -0.0, None, True, "é"], '[1.0,-0.0,null,true,"é"]'),
        ((1, {2}), '{"$tuple":[1,{"$set":[2]}]}'),
        ({3, 1, 2}, '{"$set":[1,2,3]}'),
        (datetime.date(2026, 1, 31), '{"$date":"2026-01-31"}'),
        (float("-inf"), '{"$float":"-inf"}'),
        (decimal.Decimal("1.50"), '{"$decimal":"1.50"}'),
        ({1: "a"}, '{"$dict":[[1,"a"]]}'),
        ("\ud800", '{"$str":"7aCA"}'),
        ("\x00", '"\\u0000"'),
        (Level.HIGH, '{"$enum":["tests.state.codec_values:Level","HIGH"]}'),
        (Loose(1), '{"$data":["tests.state.codec_values:Loose",{"value":1,"made":3}]}'),
        (Cat(lives=1), '{"$model":["tests.state.codec_values:Cat",{"kind":"cat","lives":1},["lives"]]}'),
    ],
    ids=repr,
)
def test_the_text_is_short_and_stays_as_it_is(value: Any, text: str) -> None:
    assert CODEC.encode(value, "state") == text
    json.loads(text)


def test_integers_longer_than_python_prints_come_back() -> None:
    for value in (10**4299, 10**5000, -(7**9000), 2**13_000, 2**12_999):
        assert back(value) == value
        assert back({"a": [value, (value, float("nan"))], value: 1})["a"][0] == value
        assert CODEC.decode_fields(CODEC.encode_fields({"x": value}, "state"), "state") == {"x": value}
