"""The walk alone, without an event loop: over the same results of its host it gives the same commands."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from flowcore import Budget, BudgetExhausted, Complete, Continue, Failure, Reserve, Scope
from flowcore.frame import Frame
from flowcore.graph import PlanNode
from flowcore.runtime import Ended, Place, Walk
from flowcore.runtime.host import Arrival, Done, Left, Opened
from flowcore.runtime.outcomes import as_failure
from flowcore.state import Values, shape_of

from .random_flows import NodeSpec, Plain, RunSpec, build, outcome_of, random_run

SEEDS = 100
Command = tuple[Any, ...]
"""A call of the host: its name and its arguments as plain data."""


class Written:
    """What the host answered, call by call: written down the first time, read out the second time."""

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.read_from: int | None = None

    def answer(self, make: Callable[[], Any]) -> Any:
        if self.read_from is None:
            self.answers.append(make())
            return self.answers[-1]
        self.read_from += 1
        return self.answers[self.read_from - 1]


class PlainHost:
    """A host of plain values: it decides by chance what nodes return, and notes what it is asked to do."""

    keeps = False

    def __init__(self, written: Written, seed: int) -> None:
        self.commands: list[Command] = []
        self.written = written
        self.chance = Random(seed)
        self.number = 0
        self.thread: Any = None

    def tell(self, name: str, *arguments: Any) -> None:
        self.commands.append((name, *map(plain, arguments)))

    def control(self, scope: Scope) -> bool:
        self.tell("control", scope)
        return bool(self.written.answer(lambda: self.chance.random() < 0.2))

    async def breathe(self) -> None:
        self.tell("breathe")

    def begin(self, place: Place, item: PlanNode, number: int) -> Opened:
        self.tell("begin", place.frame, item, number)
        self.number += 1
        return Opened(self.number, 0.0, 0, item.starts_round)

    def passed_by(self) -> Opened:
        self.tell("passed_by")
        return Opened(self.number, 0.0, 0, False)

    async def visit(self, place: Place, item: PlanNode, number: int, values: Values, arrival: Arrival) -> Done:
        self.tell("visit", place.frame, item, number, values, arrival)
        done: Done = self.written.answer(lambda: self.done(place, item, number))
        if isinstance(done.error, BudgetExhausted):  # its scope is known by an id of this process only
            spent = BudgetExhausted("requests", 1, 1, "", scope_id=place.scope.id)
            return done._replace(error=spent)
        return done

    def done(self, place: Place, item: PlanNode, number: int) -> Done:
        drawn = self.chance.random()
        path = place.frame.path_of(item.id, number)
        if drawn < 0.15:
            error: Exception = self.chance.choice([ValueError("no"), KeyError("no"), OSError("no")])
            return Done(None, None, error, as_failure(error, path), True)
        if drawn < 0.2:
            spent = BudgetExhausted("requests", 1, 1, "", scope_id=place.scope.id)
            return Done(None, None, spent, as_failure(spent, path), True)
        said = list(item.labels) or [None]
        outcome: Any = Continue(self.chance.choice(said)) if said != [None] else Continue()
        if item.completes and ((item.next is None and not item.labels) or drawn > 0.6):
            outcome = Complete(f"done {path}")
        return Done(outcome, {"number": number, "marks": [path]})

    def kept(self, place: Place, item: PlanNode, number: int, values: Values, done: Done) -> Done:
        return done

    def commit(self, left: Left) -> None:
        self.tell("commit", left)

    def exhausted(self, path: str, error: Exception) -> Failure:
        self.tell("exhausted", path, error)
        return as_failure(error, path)

    def finishing(self, place: Place, item: PlanNode, dimension: str) -> None:
        self.tell("finishing", place.frame, item, dimension)

    def narrowed(self, scope: Scope, budget: Budget, frame: Frame, reserve: Reserve) -> Scope:
        self.tell("narrowed", scope, budget, frame.path, reserve)
        return scope.narrow(budget, path=frame.path, reserve=reserve)

    def timed(self, scope: Scope, seconds: float, path: str) -> Scope:
        self.tell("timed", scope, seconds, path)
        return scope.narrow(Budget(rounds=None), path=path, is_timeout=True)

    async def bounded(
        self, place: Place, walk: Callable[[], Awaitable[Ended]], values: Callable[[], Values]
    ) -> Ended:
        self.tell("bounded", place.frame)
        ended = await walk()
        if self.written.answer(lambda: self.chance.random() < 0.9):
            return ended
        error = place.scope.out_of_time(1.0)
        return Ended(None, values(), error, as_failure(error, place.scope.path), routable=False)


def plain(value: Any) -> Any:
    """Returns the value as data that can be compared between two walks."""
    if isinstance(value, Scope):
        return ("scope", value.path)
    if isinstance(value, Frame):
        return value.to_data()
    if isinstance(value, PlanNode):
        return value.id
    if isinstance(value, Exception):
        return (type(value).__name__, str(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return (type(value).__name__, *map(plain, value))
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if dataclasses.is_dataclass(value):
        return repr(value)
    return value


@dataclass
class Walked:
    """A walk that has come to its end: how, and what it asked for on the way."""

    ended: Any
    commands: list[Command]


def walk_alone(spec: RunSpec, seed: int, written: Written) -> Walked:
    flow = build(spec.flow, Plain, nothing, nothing)
    host = PlainHost(written, seed)
    budget = dataclasses.replace(spec.budget, rounds=5, seconds=None)
    scope = Scope(budget, reserve=dataclasses.replace(flow.plan.reserve, seconds=0))
    shape = shape_of(Plain)
    place = Place(Frame(flow.name), shape, scope, None)
    walk = Walk(flow.plan, place, host)  # type: ignore[arg-type]
    return Walked(plain(to_the_end(walk.to_the_end(shape.values(Plain())))), host.commands)


def to_the_end(walk: Coroutine[Any, Any, Any]) -> Any:
    """Drives a coroutine that waits for nothing to its end: there is no event loop here."""
    try:
        walk.send(None)
    except StopIteration as stop:
        return stop.value
    walk.close()
    raise AssertionError("the walk waited for something that is no host")


async def nothing(*_: Any) -> None: ...


@pytest.mark.parametrize("chunk", range(4))
def test_a_walk_that_is_replayed_gives_the_same_commands(chunk: int) -> None:
    lengths = []
    for seed in range(chunk * SEEDS, (chunk + 1) * SEEDS):
        spec = random_run(seed)
        written = Written()
        first = walk_alone(spec, seed, written)
        written.read_from = 0
        second = walk_alone(spec, seed + 1, written)
        assert second.commands == first.commands, seed
        assert second.ended == first.ended, seed
        assert written.read_from == len(written.answers)
        lengths.append(len(first.commands))
    assert max(lengths) > 30


def test_a_walk_commits_before_it_goes_on_and_asks_nothing_after_its_end() -> None:
    spec = NodeSpec(labels=(("", 1),))
    assert outcome_of(spec, 1) == Continue()
    for seed in range(100):
        walked = walk_alone(random_run(seed), seed, Written())
        open_visits: list[tuple[Any, ...]] = []
        for name, *arguments in walked.commands:
            if name == "begin":
                open_visits.append((arguments[0]["path"], *arguments[1:]))
            elif name == "commit" and arguments[0][4][1] is not None and arguments[0][6][1] != "over_limit":
                left = arguments[0]
                assert open_visits.pop() == (left[1]["path"], left[2], left[3])
