"""What is the same, what is copied and what is shared: the ground under every commit."""

from __future__ import annotations

import copy
import datetime
import decimal
import pathlib
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel, ConfigDict, PrivateAttr

from flowcore.state import same, snapshot

UTC = datetime.UTC
PARIS = datetime.timezone(datetime.timedelta(hours=1))


class Opaque:
    """Equal by its key alone, whatever else it carries."""

    def __init__(self, key: int, load: int) -> None:
        self.key, self.load = key, load

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@dataclass(eq=False)
class Box:
    items: list[Any] = field(default_factory=list)

    @cached_property
    def size(self) -> int:
        return len(self.items)


@dataclass(frozen=True)
class Ice:
    held: Any = None


class Model(BaseModel):
    held: Any = None
    other: int = 0
    _notes: list[int] = PrivateAttr(default_factory=list)


class IceModel(BaseModel):
    model_config = ConfigDict(frozen=True)
    held: Any = None


class Pair(NamedTuple):
    left: Any
    right: Any


class Names(list[Any]):
    pass


class Row(tuple[Any, ...]):
    pass


def with_note(value: Any, note: Any) -> Any:
    value.note = note
    return value


EQUAL_BUT_NOT_THE_SAME = [
    (1, 1.0),
    (1, True),
    (0.0, -0.0),
    (0j, -0j),
    (decimal.Decimal("1.0"), decimal.Decimal("1.00")),
    ((0.0,), (-0.0,)),
    ([1], [True]),
    ({1}, {1.0}),
    (frozenset({1}), frozenset({True})),
    ({1: "a"}, {1.0: "a"}),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    (datetime.datetime(2024, 1, 1, 12, tzinfo=UTC), datetime.datetime(2024, 1, 1, 13, tzinfo=PARIS)),
    (datetime.datetime(2024, 1, 1, fold=0), datetime.datetime(2024, 1, 1, fold=1)),
    (pathlib.PureWindowsPath("A"), pathlib.PureWindowsPath("a")),
    (deque([1], maxlen=2), deque([1], maxlen=3)),
    (defaultdict(list, a=1), defaultdict(int, a=1)),
    (b"a", bytearray(b"a")),
    (Opaque(1, 1), Opaque(1, 2)),
    ([Opaque(1, 1)], [Opaque(1, 1)]),
    ({Opaque(1, 1)}, {Opaque(1, 2)}),
    (Model(other=0), Model()),
    (with_note(Names([1]), 1), with_note(Names([1]), 2)),
]


@pytest.mark.parametrize(("left", "right"), EQUAL_BUT_NOT_THE_SAME)
def test_equal_values_need_not_be_the_same(left: Any, right: Any) -> None:
    assert not same(left, right)
    assert not same([{"k": (left,)}], [{"k": (right,)}])


COPIED = [
    [float("nan")],
    {1, 2},
    {Box([1]), Box([2]), Box([2])},
    {Box([1]): [2]},
    {(Box([1]),): 3},
    frozenset({Box([1])}),
    deque([[1]], maxlen=3),
    defaultdict(list, a=[1]),
    OrderedDict(b=[1], a=[2]),
    Counter("hello"),
    bytearray(b"x"),
    Pair([1], 2),
    with_note(Names([1]), [1]),
    with_note(Row([1]), [1]),
    Row([[1]]),
    Model(held=Model(held=[1])),
    Ice([1]),
    IceModel(held={"a": [1]}),
]


@pytest.mark.parametrize("value", COPIED, ids=lambda value: type(value).__name__)
def test_a_copy_is_the_same_and_another_object(value: Any) -> None:
    copied = snapshot(value)
    assert copied is not value
    assert type(copied) is type(value)
    assert same(copied, value)


@pytest.mark.parametrize(
    "value", [1, "a", (1, ("b",)), frozenset({1}), Ice(Ice((1,))), IceModel(held=Ice(2)), Opaque(1, 1)]
)
def test_what_cannot_change_is_shared(value: Any) -> None:
    assert snapshot(value) is value
    first, second = snapshot([value, value])
    assert first is second is value


@pytest.mark.parametrize(
    "holder",
    [
        lambda box: {box},
        lambda box: frozenset({box}),
        lambda box: {box: 1},
        lambda box: with_note(Names(), box),
        lambda box: with_note(Row(), box),
        lambda box: Ice(box),
        lambda box: IceModel(held=(box,)),
    ],
)
def test_nothing_mutable_is_shared_with_a_copy(holder: Any) -> None:
    def box_in(value: Any) -> Box:
        if hasattr(value, "note"):
            return value.note
        held = value.held if hasattr(value, "held") else next(iter(value))
        return held[0] if isinstance(held, tuple) else held

    value = holder(Box([1]))
    copied = snapshot(value)
    box_in(copied).items.append(2)
    assert box_in(value).items == [1]
    assert not same(copied, value)


def test_values_that_hold_themselves_are_copied_and_compared() -> None:
    ring: list[Any] = [1]
    ring.append(ring)
    knot: tuple[Any, ...] = ([],)
    knot[0].append(knot)
    ice = Ice([])
    ice.held.append(ice)
    frozen = IceModel(held=[])
    frozen.held.append(frozen)
    for value, back in [
        (ring, lambda it: it[1]),
        (knot, lambda it: it[0][0]),
        (ice, lambda it: it.held[0]),
        (frozen, lambda it: it.held[0]),
    ]:
        copied = snapshot(value)
        assert copied is not value
        assert back(copied) is copied
        assert same(copied, value)
    other: list[Any] = [2]
    other.append(other)
    assert not same(ring, other)


def test_a_value_that_is_held_many_times_is_compared_once() -> None:
    value: list[Any] = []
    for _ in range(100):
        value = [value, value]
    assert same(value, copy.deepcopy(value))


def test_looking_at_a_cached_property_changes_nothing() -> None:
    box = Box([1])
    copied = snapshot(box)
    assert copied.size == 1
    assert same(copied, box)


def test_private_attributes_of_a_part_are_part_of_it() -> None:
    model = Model()
    copied = snapshot(model)
    copied._notes.append(1)
    assert model._notes == []
    assert not same(copied, model)


def test_what_was_set_on_a_part_beside_its_fields_is_part_of_it() -> None:
    box = with_note(Box(), [1])
    copied = snapshot(box)
    copied.note.append(2)
    assert box.note == [1]
    assert not same(copied, box)
