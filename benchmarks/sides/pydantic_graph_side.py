"""pydantic-graph: a GraphBuilder's steps over a shared dataclass; the loop by two nodes that return each other."""

# No postponed annotations here: the library reads those of the functions inside.
import asyncio  # noqa: TID251 - as a user of this library would
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic_graph import (  # type: ignore[import-not-found,unused-ignore]
    BaseNode,
    End,
    GraphBuilder,
    GraphRunContext,
    StepContext,
    reduce_sum,
)

Job = Callable[[], Awaitable[int]]
VERSIONS = ("pydantic-graph", "pydantic")
IMPORT = """
from dataclasses import dataclass
from pydantic_graph import GraphBuilder, StepContext

@dataclass
class State:
    n: int = 0

async def visit(ctx: StepContext[State, None, None]) -> None:
    return None

builder = GraphBuilder(state_type=State, output_type=int, auto_instrument=False)
steps = [builder.step(visit, node_id=f"node{number}") for number in range(7)]
for before, after in zip([builder.start_node, *steps], [*steps, builder.end_node]):
    builder.add(builder.edge_from(before).to(after))
builder.build()
"""


@dataclass
class State:
    n: int = 0
    goal: int = 0


async def _add(ctx: StepContext[State, None, None]) -> None:
    ctx.state.n += 1


async def _nap(ctx: StepContext[State, None, None]) -> None:
    await asyncio.sleep(0.001)
    ctx.state.n += 1


def _chain(size: int, visit: Any) -> Any:
    builder = GraphBuilder(state_type=State, output_type=int, auto_instrument=False)
    steps = [builder.step(visit, node_id=f"node{number}") for number in range(size)]
    for before, after in zip([builder.start_node, *steps], [*steps, builder.end_node], strict=True):
        builder.add(builder.edge_from(before).to(after))
    return builder.build()


async def _run(graph: Any) -> int:
    state = State()
    await graph.run(state=state)
    return state.n


def chain(size: int) -> Job:
    graph = _chain(size, _add)
    return lambda: _run(graph)


@dataclass
class One(BaseNode[State, None, int]):  # type: ignore[misc,unused-ignore]
    async def run(self, ctx: GraphRunContext[State, None]) -> "Two":
        ctx.state.n += 1
        return Two()


@dataclass
class Two(BaseNode[State, None, int]):  # type: ignore[misc,unused-ignore]
    async def run(self, ctx: GraphRunContext[State, None]) -> One | End[int]:
        ctx.state.n += 1
        return One() if ctx.state.n < ctx.state.goal else End(ctx.state.n)


def loop(size: int) -> Job:
    async def first(ctx: StepContext[State, None, None]) -> One:
        return One()

    builder = GraphBuilder(state_type=State, output_type=int, auto_instrument=False)
    step = builder.step(first, node_id="first")
    builder.add(builder.node(One), builder.node(Two), builder.edge_from(builder.start_node).to(step))
    builder.add(builder.edge_from(step).to(One))
    graph = builder.build()

    async def job() -> int:
        return int(await graph.run(state=State(goal=size)))

    return job


def branches(size: int) -> Job:
    async def numbers(ctx: StepContext[State, None, None]) -> list[int]:
        return [0] * size

    async def branch(ctx: StepContext[State, None, int]) -> int:
        return int(ctx.inputs) + 1

    builder = GraphBuilder(state_type=State, output_type=int, auto_instrument=False)
    spread, each = builder.step(numbers), builder.step(branch)
    join = builder.join(reduce_sum, initial=0)
    builder.add(
        builder.edge_from(builder.start_node).to(spread),
        builder.edge_from(spread).map().to(each),
        builder.edge_from(each).to(join),
        builder.edge_from(join).to(builder.end_node),
    )
    graph = builder.build()

    async def job() -> int:
        return int(await graph.run(state=State()))

    return job


def build(size: int) -> Job:
    async def job() -> int:
        _chain(size, _add)
        return size

    return job


def many(size: int) -> Job:
    graph = _chain(10, _nap)

    async def job() -> int:
        return sum(await asyncio.gather(*(_run(graph) for _ in range(size))))

    return job
