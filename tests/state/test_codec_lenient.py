"""The lenient reader: what is stored can be looked at without the code that made it, and looks the same."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel

from flowcore.errors import StoreError
from flowcore.state import Codec, Log
from flowcore.value_text import ValuePrinter


class Colour(enum.Enum):
    RED = "red"


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Point(NamedTuple):
    x: int
    y: int


@dataclass(frozen=True)
class Note:
    text: str
    colour: Colour = Colour.RED


class Ticket(BaseModel):
    question: str
    notes: list[Note] = []
    at: Point | None = None


@dataclass
class Holder:
    tickets: dict[str, Ticket] = field(default_factory=dict[str, Ticket])
    seen: frozenset[Note] = frozenset()
    log: Log[Note] = field(default_factory=Log[Note])


VALUES = [
    Ticket(question="why?", notes=[Note("a")], at=Point(1, 2)),
    Holder({"a": Ticket(question="b")}, frozenset({Note("x"), Note("y")}), Log([Note("z")])),
    {Note("key"): Colour.RED},
    (Note("only"),),
]


def gone(text: str) -> str:
    """Returns the text as a process stored it whose module is not loaded here."""
    return text.replace(f"{__name__}:", "not_loaded.anywhere:")


def printed(value: Any) -> str:
    return ValuePrinter(masked=False).text(value)


@pytest.mark.parametrize("value", VALUES, ids=printed)
def test_a_value_of_classes_that_are_not_loaded_prints_as_it_did(value: Any) -> None:
    text = Codec(type(value)).encode(value, "state")
    assert printed(Codec(lenient=True).decode(gone(text), "state")) == printed(value)


@pytest.mark.parametrize("value", VALUES, ids=printed)
def test_where_the_classes_are_loaded_the_value_itself_comes_back(value: Any) -> None:
    codec = Codec(type(value), lenient=True)
    assert codec.decode(codec.encode(value, "state"), "state") == value


def test_a_codec_that_is_not_lenient_refuses_the_same_text() -> None:
    text = gone(Codec(Ticket).encode(Ticket(question="a"), "state"))
    with pytest.raises(StoreError, match=r"its class not_loaded\.anywhere:Ticket is not there any more"):
        Codec().decode(text, "state")


def test_a_class_that_has_other_fields_today_gives_a_stand_in_with_those_of_then() -> None:
    text = json.dumps({"$model": [f"{__name__}:Ticket", {"question": "a", "old": 1}]})
    assert printed(Codec(Ticket, lenient=True).decode(text, "state")) == 'Ticket(question="a", old=1)'


def test_flags_and_classes_are_told_by_name() -> None:
    codec = Codec(Access, Ticket)
    flags = gone(codec.encode(Access.READ | Access.WRITE, "state"))
    assert printed(Codec(lenient=True).decode(flags, "state")) == "Access(3)"
    kind = gone(codec.encode(Ticket, "state"))
    assert printed(Codec(lenient=True).decode(kind, "state")) == "<class 'not_loaded.anywhere.Ticket'>"


def test_stand_ins_of_one_class_are_equal_where_their_fields_are() -> None:
    codec = Codec(lenient=True)
    texts = ['{"$model":["gone:A",{"x":1}]}', '{"$model":["gone:A",{"x":1}]}', '{"$model":["gone:A",{"x":2}]}']
    one, same, other = (codec.decode(text, "state") for text in texts)
    assert one == same != other
    assert len({one, same, other}) == 2


@pytest.mark.parametrize(
    "text",
    [
        '{"$model":3}',
        '{"$model":["gone:A",{"class":1}]}',
        '{"$data":[7,{}]}',
        '{"$unheard":1}',
        '{"$enum":["a:B"]}',
    ],
)
def test_what_is_no_stored_value_is_still_refused(text: str) -> None:
    with pytest.raises(StoreError, match="state: what is stored cannot be read"):
        Codec(lenient=True).decode(text, "state")
