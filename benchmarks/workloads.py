"""The workloads: each as flowcore runs it, and as a bare loop over a dict of handlers does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from flowcore import Budget, Complete, Continue, Flow, Step, node

UNLIMITED = Budget(rounds=None)


class Model(BaseModel):
    """A state as a pydantic model."""

    count: int = 0
    goal: int = 0


@dataclass
class Record:
    """The same state as a dataclass."""

    count: int = 0
    goal: int = 0


def loop_flow(state: type[Any]) -> Flow[Any, object, int]:
    """Return a flow of two nodes that count in turn until the goal is reached."""

    async def one(step: Step[Any]) -> Continue:
        step.state.count += 1
        return Continue()

    async def two(step: Step[Any]) -> Continue[Literal["more", "done"]]:
        step.state.count += 1
        return Continue("more" if step.state.count < step.state.goal else "done")

    async def end(step: Step[Any]) -> Complete[int]:
        return Complete(step.state.count)

    first, second, last = node(starts_round=True)(one), node(two), node(end)
    return Flow(f"loop over a {state.__name__}", first.to(second), second.to(more=first, done=last), last)


async def loop_floor(goal: int) -> int:
    """Count to the goal with two handlers in a dict."""
    state = {"count": 0}

    async def one() -> str:
        state["count"] += 1
        return "two"

    async def two() -> str | None:
        state["count"] += 1
        return "one" if state["count"] < goal else None

    handlers: dict[str, Callable[[], Awaitable[str | None]]] = {"one": one, "two": two}
    following: str | None = "one"
    while following is not None:
        following = await handlers[following]()
    return state["count"]


def big_flow(size: int) -> Flow[Model, object, int]:
    """Declare and check a chain of `size` nodes, each a function of its own."""
    nodes = []
    for number in range(size - 1):

        async def visit(step: Step[Model]) -> Continue:
            return Continue()

        nodes.append(node(visit).named(f"node {number}"))

    async def end(step: Step[Model]) -> Complete[int]:
        return Complete(0)

    last = node(end)
    rows = [item.to(following) for item, following in zip(nodes, [*nodes[1:], last], strict=True)]
    return Flow("big", *rows, last)


def big_floor(size: int) -> dict[str, Any]:
    """Put as many handlers into a dict."""
    handlers: dict[str, Any] = {}
    for number in range(size):

        async def visit(state: Any, following: str = f"node {number + 1}") -> str:
            return following

        handlers[f"node {number}"] = visit
    return handlers
