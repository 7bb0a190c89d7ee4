"""Holds that a value which would not come back is refused, with its place, its type and what to do."""

from __future__ import annotations

import contextvars
import datetime
import enum
import io
import re
import socket
import sys
import threading
import types
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel
from tests.state.codec_values import Anything, Loose, Page, Point, Wide, values  # noqa: F401 - the module is loaded

from flowcore.errors import NotSerialisable, StoreError
from flowcore.state import Codec, Log, Secret

CODEC = Codec()


class Text(str):
    __slots__ = ()


class Number(int):
    pass


class Items(list[Any]):
    pass


class Table(dict[str, Any]):
    pass


class Notes(Log[Any]):
    pass


class Ordered(OrderedDict[str, Any]):
    pass


class Plain:
    pass


class MyZone(datetime.tzinfo):
    def utcoffset(self, when: datetime.datetime | None) -> datetime.timedelta:
        return datetime.timedelta(0)


@dataclass
class Listed(list[Any]):
    value: int = 0


@dataclass
class Fault(Exception):
    value: int = 0


@dataclass
class Computed:
    value: int

    @property  # type: ignore[no-redef]
    def value(self) -> int:
        return 1

    @value.setter
    def value(self, value: int) -> None:
        pass


class Pair(NamedTuple):
    x: Any


class Hung(Pair):
    pass


def counted() -> Iterator[int]:
    yield 1


def refused(value: Any, codec: Codec = CODEC) -> NotSerialisable:
    with pytest.raises(NotSerialisable) as caught:
        codec.encode(value, "state")
    assert len(str(caught.value).splitlines()) == 1
    return caught.value


KINDS: list[tuple[Callable[[], Any], str]] = [
    (threading.Lock, "lock"),
    (threading.Event, "Event"),
    (socket.socket, "socket"),
    (lambda: lambda: 1, "function"),
    (lambda: counted, "function"),
    (counted, "generator"),
    (lambda: iter([]), "list_iterator"),
    (lambda: sys, "module"),
    (io.BytesIO, "BytesIO"),
    (lambda: contextvars.ContextVar("x"), "ContextVar"),
    (Plain, "Plain"),
    (object, "object"),
    (lambda: ..., "ellipsis"),
    (lambda: range(3), "range"),
    (lambda: memoryview(b""), "memoryview"),
    (lambda: types.MappingProxyType({}), "mappingproxy"),
    (lambda: ValueError("x"), "ValueError"),
    (Fault, "Fault"),
    (lambda: "x".join, "builtin_function_or_method"),
    (lambda: re.match("a", "a"), "Match"),
    (MyZone, "MyZone"),
    (Secret, "Secret"),
]


@pytest.mark.behaviour("A109")
@pytest.mark.parametrize(("make", "kind"), KINDS, ids=[kind for _, kind in KINDS])
def test_what_lives_in_a_process_is_refused_with_its_place_and_its_type(
    make: Callable[[], Any], kind: str
) -> None:
    value = make()
    try:
        error = refused(Anything(value=[1, {"a": (Loose(value),)}]))
        assert error.where == "state.value[1]['a'][0].value"
        assert error.kind == kind
        assert str(error).startswith("state.value[1]['a'][0].value: a value of type ")
        assert "deps" in str(error)
        with pytest.raises(NotSerialisable, match=r"^state\.lock: "):
            CODEC.encode_fields({"count": 1, "lock": value}, "state")
    finally:
        if isinstance(value, socket.socket):
            value.close()


@pytest.mark.behaviour("A109")
@pytest.mark.parametrize(
    ("value", "base"),
    [
        (Text("a"), "str"),
        (Number(1), "int"),
        (Items(), "list"),
        (Table(), "dict"),
        (Notes(), "Log"),
        (Ordered(), "dict"),
        (Listed(), "list"),
        (type("Sub", (set,), {})(), "set"),
        (type("Bytes", (bytes,), {})(b""), "bytes"),
        (type("Pairs", (tuple,), {})(), "tuple"),
        (type("Real", (float,), {})(1.0), "float"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_would_come_back_as_a_plain_one_is_refused(value: Any, base: str) -> None:
    error = refused({"a": value})
    assert error.where == "state['a']"
    assert error.reason == f"it would come back as a plain {base}: store that, or a model that holds it"


def test_keys_members_and_what_is_held_beside_fields_have_places() -> None:
    lock = threading.Lock()
    assert refused({lock: 1}).where == "state[a key]"
    assert refused({(1, lock): 1}).where == "state[a key][1]"
    assert refused({(1, 2): lock}).where == "state[a tuple]"
    assert refused({3: lock}).where == "state[3]"
    assert refused({"x" * 70: lock}).where == f"state['{'x' * 60}'…]"
    assert refused({10**5000: lock}).where == "state[a int]"
    assert refused([{lock}]).where == "state[0][a member]"
    assert refused(Point(1, lock)).where == "state.y"
    assert refused(Log([1, lock])).where == "state[1]"
    assert refused(Wide(spare=lock)).where == "state.spare"
    wide = Wide()
    wide._held = [lock]
    assert refused(wide).where == "state._held[0]"
    loose = Loose()
    vars(loose)["beside"] = lock
    assert refused(loose).where == "state.beside"
    error = refused([datetime.datetime(2026, 1, 1, tzinfo=MyZone())])
    assert (error.where, error.kind) == ("state[0]", "MyZone")


def test_a_place_is_told_among_values_that_json_has_not() -> None:
    error = refused({"a": float("nan"), "b": ["\ud800", 10**5000, threading.Lock()]})
    assert error.where == "state['b'][2]"


def test_a_value_that_holds_itself_is_refused_where_it_comes_again() -> None:
    items: list[Any] = [1]
    items.append({"again": items})
    error = refused(items)
    assert (error.where, error.reason) == ("state[1]['again']", "it holds itself")
    model = Anything()
    model.value = (model,)
    assert refused(model).where == "state.value[0]"
    with pytest.raises(NotSerialisable, match=r"^state\.x\[1\]\['again'\]: "):
        CODEC.encode_fields({"x": items}, "state")


def test_what_is_held_twice_is_stored_twice() -> None:
    shared = [1]
    found = CODEC.decode(CODEC.encode([shared, shared, (shared,)], "state"), "state")
    assert found == [[1], [1], ([1],)]


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: Loose(value), lambda value: {1: value}])
def test_how_deep_a_value_may_be_is_the_same_for_writing_and_reading(wrap: Callable[[Any], Any]) -> None:
    value: Any = 1
    for _ in range(100):
        value = wrap(value)
    text = CODEC.encode(value, "state")
    assert CODEC.encode(CODEC.decode(text, "state"), "state") == text
    with pytest.raises(NotSerialisable, match="more than 100 values stand one inside the other"):
        CODEC.encode(wrap(value), "state")
    for _ in range(100_000):
        value = [value]
    with pytest.raises(NotSerialisable, match="more than 100 values"):
        CODEC.encode_fields({"x": value}, "state")


def test_what_is_made_by_code_is_refused() -> None:
    assert refused(defaultdict(lambda: 1)).reason == "what makes its values is code"
    assert refused(re.compile("a", re.DEBUG)).reason == "it is a pattern with re.DEBUG"
    assert refused(Computed(1)).reason == "its field value is a property"
    hung = Hung(1)
    hung.beside = 2
    assert refused(hung).reason == "it has attributes beside its fields"


def test_a_class_of_a_function_is_refused_with_what_to_do() -> None:
    class Local(BaseModel):
        value: int = 0

    class Shade(enum.Enum):
        DARK = 1

    for value in (Local(), Shade.DARK):
        assert refused([value]).reason.endswith("name it in one, or define it in a module")
    generic = Page[Local](items=[Local()])
    assert refused(generic).where == "state"
    assert CODEC.encode(Page(items=[1]), "state")


def test_a_class_itself_is_stored_where_it_is_found_again() -> None:
    assert CODEC.decode(CODEC.encode([Loose, Point], "state"), "state") == [Loose, Point]
    for value in (int, Plain):
        error = refused([value])
        assert (error.where, error.kind) == ("state[0]", "type")
        assert error.reason == f"no annotation of the flow leads to the class {value.__name__}"
        assert Codec(type[value]).decode(Codec(type[value]).encode(value, "x"), "x") is value


def test_names_that_no_field_can_have_are_refused() -> None:
    for name in ("$date", "+log", "", "a\ud800", 1):
        with pytest.raises(NotSerialisable, match="no field can have this name"):
            CODEC.encode_fields({"count": 1, name: 1}, "state")  # type: ignore[dict-item]


def test_what_code_of_a_class_raises_while_it_is_written_is_told_with_the_place() -> None:
    class Broken:
        def __get__(self, made: Any, owner: type) -> Any:
            raise RuntimeError("no luck")

    @dataclass
    class Held:
        value: Any = None

    made = Held(1)
    vars(made).clear()
    Held.value = Broken()
    with pytest.raises(NotSerialisable, match=r"^state\['a'\]: .* RuntimeError: no luck") as caught:
        Codec(Held).encode({"a": made}, "state")
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_the_error_is_an_error_of_the_store_and_says_the_remedy() -> None:
    error = refused({"a": threading.Lock()})
    assert isinstance(error, StoreError)
    assert error.code == "not_serialisable"
    assert str(error) == (
        "state['a']: a value of type lock cannot be stored: "
        "put what lives in this process, such as locks and connections, in deps"
    )
