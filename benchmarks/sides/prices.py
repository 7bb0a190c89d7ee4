"""What costs what: one node in a circle, plain, and with one thing more. Compared with the plain one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from benchmarks.harness_adapter import UNLIMITED
from flowcore import Budget, Complete, Continue, Flow, Log, Retry, Step, node

Job = Callable[[], Awaitable[int]]
VERSIONS: tuple[str, ...] = ()
_HELD = 1_000
"""How many items a history holds before the run."""


class Note(BaseModel):
    """An item of a history."""

    number: int
    text: str


@dataclass
class State:
    """A state that counts."""

    n: int = 0
    goal: int = 0


@dataclass
class Numbers(State):
    """With a list of what cannot change."""

    numbers: list[int] = field(default_factory=lambda: list(range(_HELD)))


@dataclass
class Notes(State):
    """With a list of what can change."""

    notes: list[Note] = field(default_factory=lambda: [Note(number=n, text="a note") for n in range(_HELD)])


@dataclass
class Logged(State):
    """With a log."""

    log: Log[int] = field(default_factory=lambda: Log(range(_HELD)))


def _count(step: Step[Any]) -> Continue | Complete[int]:
    step.state.n += 1
    return Complete(step.state.n) if step.state.n == step.state.goal else Continue()


async def _visit(step: Step[Any]) -> Continue | Complete[int]:
    return _count(step)


def _circle(size: int, visit: Any = _visit, state: type[State] = State, *, using: Any = None, **how: Any) -> Job:
    item = node(starts_round=True)(visit)
    flow = Flow("circle", item.to(item).using(**(using or {})))
    first = state(goal=size)
    return lambda: flow.run(first, **{"budget": UNLIMITED, **how})


def plain(size: int) -> Job:
    return _circle(size)


def retry(size: int) -> Job:
    return _circle(size, using={"retry": Retry(attempts=3)})


def timeout(size: int) -> Job:
    return _circle(size, using={"timeout": 60})


def seconds(size: int) -> Job:
    return _circle(size, budget=Budget(rounds=None, seconds=60))


def observer(size: int) -> Job:
    return _circle(size, observers=[lambda event: None])


def thread(size: int) -> Job:
    def visit(step: Step[State]) -> Continue | Complete[int]:
        return _count(step)

    return _circle(size, visit)


def log_appended(size: int) -> Job:
    async def visit(step: Step[Logged]) -> Continue | Complete[int]:
        step.state.log.append(step.state.n)
        return _count(step)

    return _circle(size, visit, Logged)


def numbers_read(size: int) -> Job:
    async def visit(step: Step[Numbers]) -> Continue | Complete[int]:
        assert step.state.numbers[-1] == _HELD - 1
        return _count(step)

    return _circle(size, visit, Numbers)


def numbers_appended(size: int) -> Job:
    async def visit(step: Step[Numbers]) -> Continue | Complete[int]:
        step.state.numbers.append(step.state.n)
        return _count(step)

    return _circle(size, visit, Numbers)


def notes_read(size: int) -> Job:
    async def visit(step: Step[Notes]) -> Continue | Complete[int]:
        assert step.state.notes[-1].number == _HELD - 1
        return _count(step)

    return _circle(size, visit, Notes)
