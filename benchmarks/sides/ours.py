"""Our side: the workloads as a user of flowcore would write them, with the trace on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio
from pydantic import BaseModel

from benchmarks.harness_adapter import (
    UNLIMITED,
    Count,
    build_big,
    build_chain,
    build_fanout,
    build_loop,
    run_chain,
    run_fanout,
    run_loop,
)
from flowcore import Complete, Continue, Flow, Log, Step, each, node

Job = Callable[[], Awaitable[int]]
VERSIONS = ("flowcore", "pydantic", "anyio", "trio")
IMPORT = """
from dataclasses import dataclass
from flowcore import Complete, Continue, Flow, Step, node

@dataclass
class State:
    n: int = 0

async def visit(step: Step[State]) -> Continue:
    return Continue()

async def end(step: Step[State]) -> Complete[int]:
    return Complete(step.state.n)

nodes, last = [node(visit).named(f"node {number}") for number in range(6)], node(end)
Flow("seven", *[item.to(following) for item, following in zip(nodes, [*nodes[1:], last])], last)
"""


class Model(BaseModel):
    """The state of the loop as a pydantic model."""

    n: int = 0
    goal: int = 0


@dataclass
class Logged:
    """The state of the loop with a history."""

    n: int = 0
    goal: int = 0
    history: Log[int] = field(default_factory=Log)


def chain(size: int) -> Job:
    flow = build_chain(size)
    return lambda: run_chain(flow)


def loop(size: int) -> Job:
    flow = build_loop(size)
    return lambda: run_loop(flow, size)


def loop_model(size: int) -> Job:
    flow = build_loop(size)
    return lambda: flow.run(Model(goal=size), budget=UNLIMITED)


def log(size: int, held: int = 100_000) -> Job:
    """A loop that appends to a log in each visit, on top of what it holds already."""

    async def one(step: Step[Logged]) -> Continue | Complete[int]:
        step.state.n += 1
        step.state.history.append(step.state.n)
        return Complete(step.state.n) if step.state.n == step.state.goal else Continue()

    item = node(starts_round=True)(one)
    flow = Flow("log", item.to(item))
    history = Log(range(held))
    return lambda: flow.run(Logged(goal=size, history=history), budget=UNLIMITED)


def log_empty(size: int) -> Job:
    return log(size, 0)


def branches(size: int) -> Job:
    flow = build_fanout(size)
    return lambda: run_fanout(flow, size)


def items(size: int) -> Job:
    def over(state: Count) -> list[Count]:
        return [Count() for _ in range(state.goal)]

    async def add(step: Step[Count]) -> Complete[int]:
        return Complete(step.state.n + 1)

    def collect(state: Count, results: list[int]) -> Complete[int]:
        return Complete(sum(results))

    item = Flow("item", node(starts_round=False)(add))
    flow = Flow("items", each("each", over=over, do=item, collect=collect, limit=size))
    return lambda: flow.run(Count(goal=size))


branches_trio, items_trio = branches, items


def subflows(size: int) -> Job:
    """Sub-flows of four nodes, in a row, on a state of their own."""
    inner = build_chain(4)

    def enter(state: Count) -> Count:
        return Count()

    def leave(state: Count, result: int) -> Continue:
        state.n += result
        return Continue()

    async def end(step: Step[Count]) -> Complete[int]:
        return Complete(step.state.n)

    nodes = [inner.as_node(f"part {n}", state=Count, enter=enter, leave=leave) for n in range(size)]
    last = node(end)
    rows = [item.to(following) for item, following in zip(nodes, [*nodes[1:], last], strict=True)]
    flow = Flow("sub-flows", *rows, last)
    return lambda: flow.run(Count(), budget=UNLIMITED)


def build(size: int) -> Job:
    async def job() -> int:
        build_big(size)
        return size

    return job


def many(size: int) -> Job:
    flow = build_chain(10, 0.001)

    async def job() -> int:
        counted: list[int] = []

        async def one() -> None:
            counted.append(await run_chain(flow))

        async with anyio.create_task_group() as group:
            for _ in range(size):
                group.start_soon(one)
        return sum(counted)

    return job
