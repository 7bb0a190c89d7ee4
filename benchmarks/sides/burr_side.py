"""burr: actions on its State; the graph is built once, the Application for each run, since it is one run."""

from __future__ import annotations

import asyncio  # noqa: TID251 - as a user of this library would
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

os.environ["BURR_TELEMETRY"] = os.environ["HAMILTON_TELEMETRY_ENABLED"] = "false"

from burr.core import (  # type: ignore[import-not-found,unused-ignore]
    ApplicationBuilder,
    State,
    action,
    default,
    expr,
)
from burr.core.graph import GraphBuilder  # type: ignore[import-not-found,unused-ignore]
from burr.core.parallelism import MapStates  # type: ignore[import-not-found,unused-ignore]

Job = Callable[[], Awaitable[int]]
VERSIONS = ("apache-burr",)
IMPORT = """
from burr.core import State, action
from burr.core.graph import GraphBuilder

@action(reads=["n"], writes=["n"])
async def visit(state: State) -> State:
    return state

names = [f"node{number}" for number in range(7)]
GraphBuilder().with_actions(**dict.fromkeys(names, visit)).with_transitions(*zip(names, names[1:])).build()
"""


def _action(sleep: float = 0) -> Any:
    @action(reads=["n"], writes=["n"])  # type: ignore[untyped-decorator,unused-ignore]
    async def add(state: State) -> State:
        if sleep:
            await asyncio.sleep(sleep)
        return state.update(n=state["n"] + 1)

    return add


def _chain(size: int, add: Any) -> Any:
    names = [f"node{number}" for number in range(size)]
    graph = GraphBuilder().with_actions(**dict.fromkeys(names, add))
    return graph.with_transitions(*pairwise(names)).build()


def _builder(graph: Any, entry: str) -> Any:
    return ApplicationBuilder().with_graph(graph).with_entrypoint(entry).with_state(n=0)


def _app(graph: Any, entry: str) -> Any:
    return _builder(graph, entry).build()


async def _run(graph: Any, last: str) -> int:
    return int((await _app(graph, "node0").arun(halt_after=[last]))[2]["n"])


def chain(size: int) -> Job:
    graph = _chain(size, _action())
    return lambda: _run(graph, f"node{size - 1}")


def _loop(size: int) -> Any:
    add = _action()

    @action(reads=["n"], writes=["n"])  # type: ignore[untyped-decorator,unused-ignore]
    async def done(state: State) -> State:
        return state

    routes = (("one", "two"), ("two", "one", expr(f"n < {size}")), ("two", "done", default))
    return GraphBuilder().with_actions(one=add, two=add, done=done).with_transitions(*routes).build()


def loop(size: int) -> Job:
    graph = _loop(size)

    async def job() -> int:
        return int((await _app(graph, "one").arun(halt_before=["done"]))[2]["n"])

    return job


def durable_full(size: int) -> Job:
    """The same with its store for SQLite, with its defaults (a rollback journal, FULL)."""
    # Loaded here: without a store it is not needed.
    from burr.integrations.persisters.b_aiosqlite import (  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415
        AsyncSQLitePersister,
    )

    graph = _loop(size)

    async def job() -> int:
        with tempfile.TemporaryDirectory() as folder:
            async with AsyncSQLitePersister.from_values(str(Path(folder) / "runs.db")) as store:
                await store.initialize()
                stored = _builder(graph, "one").with_identifiers(app_id="run").with_state_persister(store)
                return int((await (await stored.abuild()).arun(halt_before=["done"]))[2]["n"])

    return job


def branches(size: int) -> Job:
    class Fan(MapStates):  # type: ignore[misc,unused-ignore]
        def is_async(self) -> bool:
            return True

        def action(self, state: Any, inputs: Any) -> Any:
            return _action()

        async def states(self, state: Any, context: Any, inputs: Any) -> AsyncIterator[Any]:
            for _ in range(size):
                yield state.update(n=0)

        async def reduce(self, state: Any, states: Any) -> Any:
            return state.update(n=sum([one["n"] async for one in states]))

        @property
        def reads(self) -> list[str]:
            return ["n"]

        @property
        def writes(self) -> list[str]:
            return ["n"]

    graph = GraphBuilder().with_actions(node0=Fan()).build()
    return lambda: _run(graph, "node0")


def build(size: int) -> Job:
    async def job() -> int:
        _chain(size, _action())
        return size

    return job


def many(size: int) -> Job:
    graph = _chain(10, _action(0.001))

    async def job() -> int:
        return sum(await asyncio.gather(*(_run(graph, "node9") for _ in range(size))))

    return job
