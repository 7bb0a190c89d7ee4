"""An adapter for a side-by-side harness: a few workloads under names that it knows. Our own benchmarks run it too.

It needs nothing else of this folder, so it can be copied. For a checkout, let REQUIRES say `["-e", "its path"]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import anyio

from flowcore import Budget, Complete, Continue, Flow, Merge, Step, node, parallel

REQUIRES, DIST, IMPORT = ["flowcore"], "flowcore", "import flowcore"
NOTES = (
    "async nodes over a dataclass state, trace on, no store; chain and fan-out under the default budget, the loop "
    "without a limit of rounds; fan-out by parallel(): each branch changes a draft of its own, merged at the join"
)
UNLIMITED = Budget(rounds=None)


@dataclass
class Count:
    """A state that counts to a goal."""

    n: int = 0
    goal: int = 0


def build_chain(n: int, sleep: float = 0) -> Flow[Count, object, int]:
    """Nodes in a row; each adds 1, after it has slept for `sleep` seconds."""

    async def add(step: Step[Count]) -> Continue:
        step.state.n += 1
        return Continue()

    async def add_late(step: Step[Count]) -> Continue:
        await anyio.sleep(sleep)
        step.state.n += 1
        return Continue()

    async def end(step: Step[Count]) -> Complete[int]:
        if sleep:
            await anyio.sleep(sleep)
        step.state.n += 1
        return Complete(step.state.n)

    adds, last = node(add_late if sleep else add), node(end)
    nodes = [adds.named(f"node {number}") for number in range(n - 1)]
    rows = [item.to(following) for item, following in zip(nodes, [*nodes[1:], last], strict=False)]
    return Flow("chain", *rows, last)


async def run_chain(flow: Flow[Count, object, int]) -> int:
    """Run the chain and return what it counted."""
    return await flow.run(Count())


def build_loop(n: int) -> Flow[Any, object, int]:
    """Two nodes that add 1 in turn until the goal is reached."""

    async def one(step: Step[Any]) -> Continue:
        step.state.n += 1
        return Continue()

    async def two(step: Step[Any]) -> Continue[Literal["more"]] | Complete[int]:
        step.state.n += 1
        return Continue("more") if step.state.n < step.state.goal else Complete(step.state.n)

    first, second = node(starts_round=True)(one), node(two)
    return Flow("loop", first.to(second), second.to(more=first))


async def run_loop(flow: Flow[Any, object, int], n: int) -> int:
    """Run the loop until it has counted to `n`."""
    return await flow.run(Count(goal=n), budget=UNLIMITED)


def _sum(before: int, values: Sequence[int]) -> int:
    return before + sum(value - before for value in values)


@dataclass
class Total:
    """A state that branches add to side by side."""

    n: Annotated[int, Merge(_sum)] = 0


def build_fanout(n: int) -> Flow[Total, object, int]:
    """Branches side by side; each adds 1."""

    async def add(step: Step[Total]) -> Continue:
        step.state.n += 1
        return Continue()

    async def end(step: Step[Total]) -> Complete[int]:
        return Complete(step.state.n)

    adds, last = node(add), node(end)
    fan = parallel("fan", *(adds.named(f"branch {number}") for number in range(n)))
    return Flow("fan-out", fan.to(last), last)


async def run_fanout(flow: Flow[Total, object, int], n: int) -> int:
    """Run the branches and return what they added up to."""
    return await flow.run(Total())


def build_big(n: int) -> Flow[Count, object, int]:
    """Declare and check a chain in which each node is a function of its own."""
    nodes = []
    for number in range(n - 1):

        async def visit(step: Step[Count]) -> Continue:
            return Continue()

        nodes.append(node(visit).named(f"node {number}"))

    async def end(step: Step[Count]) -> Complete[int]:
        return Complete(0)

    last = node(end)
    rows = [item.to(following) for item, following in zip(nodes, [*nodes[1:], last], strict=False)]
    return Flow("big", *rows, last)
