"""Classes and values that the codec is tried with, and what makes up such values at random."""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import pathlib
import re
import zoneinfo
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, RootModel, SecretBytes, SecretStr
from pydantic_core import TzInfo

from flowcore.state import Log, Secret

ItemT = TypeVar("ItemT")


class Colour(enum.Enum):
    RED = (1, "r")
    BLUE = (2, "b")
    CRIMSON = RED  # another name of the same


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Word(enum.StrEnum):
    YES = "yes"
    NO = "no"


class Mood(str, enum.Enum):  # noqa: UP042 - one of the kinds that there are
    GOOD = "good"
    BAD = "bad"


class Right(enum.Flag):
    READ = 1
    WRITE = 2
    RUN = 4


class Bit(enum.IntFlag):
    ONE = 1
    TWO = 2


class Outer:
    class Inner(enum.Enum):
        A = 1

    @dataclass
    class Part:
        value: Any = None


class Point(NamedTuple):
    x: Any
    y: Any = 0


class Anything(BaseModel):
    """A model that holds whatever it is given."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    value: Any = None
    other: Any = None


class Firm(BaseModel):
    model_config = ConfigDict(frozen=True)
    value: Any = None


class Wide(BaseModel):
    """A model with more than its fields: extra ones and private ones."""

    model_config = ConfigDict(extra="allow")
    number: int = 0
    _count: int = PrivateAttr(default=0)
    _held: Any = PrivateAttr(default=None)


class Page(BaseModel, Generic[ItemT]):
    items: list[ItemT]


class Names(RootModel[list[str]]):
    pass


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    tricks: tuple[str, ...] = ()


class Home(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    pages: Page[int] | None = None


@dataclass
class Loose:
    value: Any = None
    made: Any = field(init=False, default=3)


@dataclass
class Looser(Loose):
    more: Any = None


@dataclass(frozen=True, slots=True)
class Tight:
    value: Any = None
    rest: tuple[Any, ...] = ()


@dataclass(slots=True)
class Slotted:
    value: Any
    other: Any = field(init=False)


@dataclass
class Login:
    """A dataclass with secrets."""

    user: str
    password: Annotated[str, Secret]
    pin: Annotated[int | None, Secret()] = None
    keys: list[Annotated[str, Secret]] = field(default_factory=list)


class Account(BaseModel):
    """A model with secrets."""

    user: str
    token: Annotated[str, Secret]
    spare: Annotated[bytes, Secret] | None = None
    key: SecretStr = SecretStr("")
    blob: SecretBytes = SecretBytes(b"")
    _hidden: Annotated[str, Secret] = PrivateAttr(default="")


HINTS = (Anything, Page[int], Page[str], Home)

ZONES = ["Europe/Paris", "UTC", "America/New_York", "Asia/Kathmandu"]

fixed_zones = st.one_of(
    st.just(datetime.UTC),
    st.timedeltas(datetime.timedelta(hours=-23), datetime.timedelta(hours=23)).map(datetime.timezone),
    st.builds(datetime.timezone, st.just(datetime.timedelta(hours=1)), st.text(max_size=5)),
    st.integers(-86_399, 86_399).map(TzInfo),
)
zones = st.one_of(fixed_zones, st.sampled_from(ZONES).map(zoneinfo.ZoneInfo))
texts = st.one_of(
    st.text(max_size=8),
    st.text(st.characters(exclude_categories=()), max_size=4),
    st.sampled_from(
        ["", "$", "$dict", "$set", "+log", "\x00", "\ud800", "\ud83d\ude00", "\U0001f600", "\u2028", '"\\']
    ),
)
datetimes = st.builds(
    lambda when, zone, fold: when.replace(tzinfo=zone, fold=fold),
    st.datetimes(),
    st.none() | zones,
    st.integers(0, 1),
)
times = st.builds(
    lambda when, zone, fold: when.replace(tzinfo=zone, fold=fold),
    st.times(),
    st.none() | zones,
    st.integers(0, 1),
)
decimals = st.decimals(allow_nan=True, allow_infinity=True) | st.sampled_from(
    [
        decimal.Decimal(text)
        for text in ("1.0", "1.00", "-0", "1E+5", "sNaN", "-sNaN7", "NaN3", "0E-10", "-Infinity")
    ]
)
integers = st.integers() | st.sampled_from([2**63, -(2**64), 10**400])
numbers = st.one_of(
    integers,
    st.floats(allow_nan=False) | st.sampled_from([-0.0, 1e22, 5e-324, float("inf"), float("-inf")]),
    st.complex_numbers(allow_nan=False),
    decimals.filter(lambda value: not value.is_nan()),
    st.fractions(),
)
paths = st.builds(
    lambda kind, parts: kind(*parts),
    st.sampled_from([pathlib.PurePosixPath, pathlib.PureWindowsPath, pathlib.PosixPath]),
    st.lists(st.text("ab ./é\udcff", max_size=4), max_size=3),
)
patterns = st.sampled_from(
    [
        re.compile("a+"),
        re.compile(b"\xff"),
        re.compile("(?i)x"),
        re.compile("é.*", re.I | re.S | re.X),
        re.compile("\ud800"),
    ]
)
enums = st.sampled_from(
    [*Colour, *Level, *Word, *Mood, *Right, Right(0), Right(3), Right(7), *Bit, Bit(3), *Outer.Inner]
)
_hashable_atoms = st.one_of(
    st.none(), st.booleans(), texts, numbers, st.binary(max_size=8), st.uuids(), st.dates(),
    datetimes, times, st.timedeltas(), fixed_zones, paths, enums,
    patterns,
)  # fmt: skip
other_atoms = st.one_of(
    st.just(float("nan")), st.just(complex("nan+nanj")), decimals, st.binary(max_size=8).map(bytearray),
    st.sampled_from(ZONES).map(zoneinfo.ZoneInfo), st.sampled_from([Anything, Page[int], Home]),
)  # fmt: skip


@st.composite
def a_hashable_atom(draw: st.DrawFn) -> Any:
    """Draw what has no parts. (A strategy of its own, so that messages stay short: so are those below.)"""
    return draw(_hashable_atoms)


@st.composite
def an_atom(draw: st.DrawFn) -> Any:
    return draw(_hashable_atoms | other_atoms)


_hashables: st.SearchStrategy[Any] = st.recursive(
    a_hashable_atom(),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.frozensets(inner, max_size=3),
        st.builds(Point, inner, inner),
        st.builds(Tight, inner, st.lists(inner, max_size=2).map(tuple)),
        st.builds(Firm, value=inner),
    ),
    max_leaves=6,
)


@st.composite
def a_hashable(draw: st.DrawFn) -> Any:
    return draw(_hashables)


def _with_attributes(made: Any, value: Any) -> Any:
    made.beside = value
    return made


def _wide(number: int, extra: dict[str, Any], count: int, held: Any) -> Wide:
    made = Wide(number=number, **extra)
    made._count, made._held = count, held
    return made


def _defaulted(factory: Any, items: dict[Any, Any]) -> Any:
    return defaultdict(factory, items)


def _slotted(value: Any, other: Any, whole: bool) -> Slotted:
    made = Slotted(value)
    if whole:
        made.other = other
    return made


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return what makes values that hold such values."""
    dicts = st.dictionaries(a_hashable(), inner, max_size=3)
    named = st.dictionaries(texts, inner, max_size=3)
    lists = st.lists(inner, max_size=3)
    return st.one_of(
        lists, lists.map(tuple), st.sets(a_hashable(), max_size=4), st.frozensets(a_hashable(), max_size=4), dicts,
        named, dicts.map(OrderedDict), st.builds(_defaulted, st.sampled_from([None, list, int, dict]), dicts),
        st.dictionaries(a_hashable(), st.integers(), max_size=3).map(Counter),
        lists.map(deque), st.builds(deque, lists, st.integers(0, 5)), lists.map(Log),
        st.builds(Point, inner, inner), st.builds(Anything, value=inner),
        st.builds(Anything, value=inner, other=inner), st.builds(Firm, value=inner), st.builds(Loose, inner),
        st.builds(_with_attributes, st.builds(Loose), inner), st.builds(Looser, inner, inner),
        st.builds(Outer.Part, inner), st.builds(_slotted, inner, inner, st.booleans()),
        st.builds(
            _wide, st.integers(), st.dictionaries(st.sampled_from(["a", "$set", "é"]), inner, max_size=2),
            st.integers(), inner,
        ),
        st.lists(st.integers(), max_size=3).map(lambda items: Page[int](items=items)),
        st.lists(st.text(max_size=3), max_size=3).map(lambda items: Page[str](items=items)),
        st.lists(st.text(max_size=3), max_size=3).map(Names),
        st.builds(Home, pet=st.builds(Cat, lives=st.integers()) | st.builds(Dog)),
    )  # fmt: skip


_values = st.recursive(an_atom(), containers, max_leaves=12)


@st.composite
def a_value(draw: st.DrawFn) -> Any:
    return draw(_values)


values = a_value()


def alike(left: Any, right: Any) -> bool:
    """Return whether two values are the same in value and type at every depth, told by nothing of the codec."""
    return type(left) is type(right) and _parts(left) == _parts(right)


def _parts(value: Any) -> Any:
    """Return a value as nested tuples of its types and texts."""
    kind: Any = type(value)
    if isinstance(value, enum.Enum | type) or value is None:
        return kind, value
    if isinstance(value, Log | list | deque):
        return kind, getattr(value, "maxlen", None), [_parts(item) for item in value]
    if isinstance(value, dict):
        factory = getattr(value, "default_factory", None)
        return kind, factory, [(_parts(key), _parts(item)) for key, item in value.items()]
    if isinstance(value, tuple):
        return kind, [_parts(item) for item in value]
    if isinstance(value, set | frozenset):
        return kind, sorted(repr(_parts(item)) for item in value)
    if isinstance(value, BaseModel):
        beside = (value.__pydantic_fields_set__, value.__pydantic_extra__, value.__pydantic_private__)
        return (
            kind,
            sorted(value.__dict__),
            [_parts(value.__dict__[name]) for name in sorted(value.__dict__)],
            _parts(beside),
        )
    if hasattr(kind, "__dataclass_fields__"):
        names = sorted({*kind.__dataclass_fields__, *getattr(value, "__dict__", {})})
        return kind, [(name, _parts(getattr(value, name))) for name in names if hasattr(value, name)]
    if isinstance(value, int | fractions.Fraction):
        return kind, value
    zone = getattr(value, "tzinfo", None)
    return kind, type(zone), repr(zone), getattr(value, "fold", None), repr(value)
