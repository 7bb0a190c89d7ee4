"""Values in a run that went on from a store are the same, and of the same types, as if nothing had happened."""

from __future__ import annotations

import datetime
from copy import deepcopy
from dataclasses import dataclass, field, fields
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from pydantic import BaseModel
from tests.state.codec_values import Colour, Level, Mood, Word, alike
from tests.stored.dying import RUN, Hangs, killed_at, resumed, store_of

from flowcore import Complete, Continue, Flow, Log, Step, each, node
from flowcore.testing import FakeClock

PARIS = ZoneInfo("Europe/Paris")
Pairs = set[tuple[int, int]]
Table = dict[tuple[int, ...], bytes]


class Values(BaseModel):
    """One of each kind whose type is easily lost."""

    when: datetime.datetime = datetime.datetime(2026, 10, 25, 2, 30, tzinfo=PARIS, fold=1)
    day: datetime.date = datetime.date(2026, 1, 31)
    took: datetime.timedelta = datetime.timedelta(microseconds=1)
    key: UUID = UUID(int=7)
    price: Decimal = Decimal("1.50")
    path: Path = Path("a/b")
    colour: Colour = Colour.RED
    level: Level = Level.HIGH
    word: Word = Word.YES
    mood: Mood = Mood.GOOD
    pairs: Pairs = {(1, 2), (3, 4)}
    some: frozenset[Colour] = frozenset({Colour.BLUE})
    table: Table = {(1, 2): b"\x00\xff", (): b""}
    by_level: dict[Level, list[Word]] = {Level.LOW: [Word.NO]}
    marked: dict[str, Any] = {"__type__": "datetime", "value": "x", "$date": "2026-01-31", "$dict": [[1, 2]]}
    anything: Any = (Decimal(1), {Path("c")}, Mood.BAD)


@dataclass
class State:
    given: Values = field(default_factory=Values)
    made: Values | None = None
    loose: Any = None
    once: Any = None
    log: Log[Any] = field(default_factory=Log)


OTHER = Values(
    when=datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
    key=UUID(int=8),
    price=Decimal("1E+5"),
    path=Path("/"),
    colour=Colour.BLUE,
    level=Level.LOW,
    word=Word.NO,
    mood=Mood.BAD,
    pairs=set(),
    anything=[Values(), (Level.LOW,), {Word.YES: frozenset({(1,)})}],
)


def passing(hangs: Hangs, seen: dict[str, Any]) -> Flow[Any, Any, Any]:
    """Returns a flow in which values pass through states, patches, items, results and recorded values."""

    async def look(step: Step[Any, Any], value: Any) -> None:
        seen[step.path] = deepcopy(value)
        await hangs.do(step.path)

    @node
    async def first(step: Step[State]) -> Continue:
        await look(step, step.state.given)
        step.state.made = OTHER.model_copy(deep=True)
        step.state.loose = {Level.HIGH: (Decimal("0.10"), Path("x"))}
        step.state.log.append((UUID(int=9), {(1, 2)}))
        return Continue()

    @node
    async def second(step: Step[State]) -> Continue:
        step.state.once = await step.once("values", lambda: (OTHER, PARIS, datetime.time(1, tzinfo=PARIS)))
        await look(step, [getattr(step.state, one.name) for one in fields(State)])
        return Continue()

    @node
    async def item(step: Step[Values]) -> Complete[Values]:
        await look(step, step.state)
        return Complete(step.state.model_copy(update={"level": Level.LOW}))

    def over(state: State) -> list[Values]:
        return [state.given, OTHER, Values(anything=state.loose)]

    def collect(draft: State, results: list[Values]) -> Continue:
        draft.loose = tuple(results)
        return Continue()

    @node
    async def last(step: Step[State]) -> Complete[Any]:
        await look(step, (step.state.loose, step.state.once, list(step.state.log)))
        return Complete((step.state.loose, step.state.made, step.state.given))

    rows = each("map", over=over, do=Flow("item", item), collect=collect, limit=1)
    return Flow("passing", first.to(second), second.to(rows), rows.to(last), last)


PLACES = ("first#1", "second#1", "map#1[0]/item#1", "map#1[1]/item#1", "map#1[2]/item#1", "last#1")


@pytest.mark.behaviour("A103", "A105", "A107", "A111")
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("place", PLACES)
async def test_what_a_node_is_given_after_a_death_is_what_it_was_given_before(
    place: str, kind: str, tmp_path: Path
) -> None:
    expected: dict[str, Any] = {}
    whole = await passing(Hangs(), expected).run(State())
    assert tuple(expected) == PLACES
    hangs, clock, store, before = Hangs({place}), FakeClock(), store_of(kind, tmp_path), dict[str, Any]()
    flow = passing(hangs, before)
    await killed_at(hangs, flow, store, clock, start=State())
    after: dict[str, Any] = {}
    again = await resumed(passing(Hangs(), after), store, clock)
    assert tuple(after) == PLACES[PLACES.index(place) :]
    assert alike({**before, **after}, expected)
    assert alike(before[place], after[place])
    assert alike(again.value, whole)
    other = await passing(Hangs(), {}).fork(RUN, at=place, store=store)
    assert alike(await passing(Hangs(), {}).resume(other.run_id, store=store), whole)
