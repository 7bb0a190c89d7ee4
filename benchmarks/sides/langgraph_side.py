"""langgraph: a StateGraph over a TypedDict, its recursion limit raised."""

from __future__ import annotations

import asyncio  # noqa: TID251 - as a user of this library would
import operator
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph  # type: ignore[import-not-found,unused-ignore]

Job = Callable[[], Awaitable[int]]
VERSIONS = ("langgraph", "langgraph-checkpoint", "langchain-core")
LIMIT = {"recursion_limit": 10**6}
IMPORT = """
from typing import TypedDict
from langgraph.graph import END, START, StateGraph

class State(TypedDict):
    n: int

async def visit(state: State):
    return {"n": state["n"]}

builder = StateGraph(State)
for number in range(7):
    builder.add_node(f"node {number}", visit)
    builder.add_edge(f"node {number - 1}" if number else START, f"node {number}")
builder.add_edge("node 6", END)
builder.compile()
"""


class State(TypedDict):
    n: int
    goal: int


class Total(TypedDict):
    n: Annotated[int, operator.add]


async def _add(state: State) -> dict[str, int]:
    return {"n": state["n"] + 1}


def _chain(size: int, visit: Any) -> Any:
    builder = StateGraph(State)
    for number in range(size):
        builder.add_node(f"node {number}", visit)
        builder.add_edge(f"node {number - 1}" if number else START, f"node {number}")
    builder.add_edge(f"node {size - 1}", END)
    return builder.compile()


async def _run(graph: Any, **state: int) -> int:
    return int((await graph.ainvoke(state, LIMIT))["n"])


def chain(size: int) -> Job:
    graph = _chain(size, _add)
    return lambda: _run(graph, n=0, goal=0)


def _loop() -> Any:
    builder = StateGraph(State)
    builder.add_node("one", _add)
    builder.add_node("two", _add)
    builder.add_edge(START, "one")
    builder.add_edge("one", "two")
    builder.add_conditional_edges("two", lambda state: "one" if state["n"] < state["goal"] else END, ["one", END])
    return builder


def loop(size: int) -> Job:
    graph = _loop().compile()
    return lambda: _run(graph, n=0, goal=size)


def durable_full(size: int) -> Job:
    """The same with its store for SQLite (WAL, FULL); a step waits until the one before it is written."""
    # Loaded here: without a store it is not needed.
    from langgraph.checkpoint.sqlite.aio import (  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415
        AsyncSqliteSaver,
    )

    async def job() -> int:
        with tempfile.TemporaryDirectory() as folder:
            async with AsyncSqliteSaver.from_conn_string(str(Path(folder) / "runs.db")) as saver:
                graph = _loop().compile(checkpointer=saver)
                options = {**LIMIT, "configurable": {"thread_id": "run"}}
                return int((await graph.ainvoke({"n": 0, "goal": size}, options, durability="sync"))["n"])

    return job


def branches(size: int) -> Job:
    async def branch(state: Total) -> dict[str, int]:
        return {"n": 1}

    async def join(state: Total) -> dict[str, int]:
        return {"n": 0}

    builder, names = StateGraph(Total), [f"branch {number}" for number in range(size)]
    for name in names:
        builder.add_node(name, branch)
        builder.add_edge(START, name)
    builder.add_node("join", join)
    builder.add_edge(names, "join")
    builder.add_edge("join", END)
    graph = builder.compile()
    return lambda: _run(graph, n=0)


def build(size: int) -> Job:
    async def job() -> int:
        _chain(size, _add)
        return size

    return job


def many(size: int) -> Job:
    async def nap(state: State) -> dict[str, int]:
        await asyncio.sleep(0.001)
        return {"n": state["n"] + 1}

    graph = _chain(10, nap)

    async def job() -> int:
        return sum(await asyncio.gather(*(_run(graph, n=0, goal=0) for _ in range(size))))

    return job
