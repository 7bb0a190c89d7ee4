"""The floor: a bare asyncio loop over a dict of handlers, and what asyncio itself takes for the same work."""

from __future__ import annotations

import asyncio  # noqa: TID251 - the floor is what asyncio does by itself
import json
from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks.sides.turns import Counter, calls_of

Job = Callable[[], Awaitable[int]]
State = dict[str, int]
Handler = Callable[[State], Awaitable[None]]
VERSIONS: tuple[str, ...] = ()
IMPORT = "pass"


async def _add(state: State) -> None:
    state["n"] += 1


async def _drive(handlers: dict[int, Handler], edges: dict[int, Any], state: State) -> int:
    here: int | None = 0
    while here is not None:
        await handlers[here](state)
        following = edges[here]
        here = following(state) if callable(following) else following
    return state["n"]


def _row(size: int, handler: Handler) -> tuple[dict[int, Handler], dict[int, int | None]]:
    return dict.fromkeys(range(size), handler), {n: n + 1 if n + 1 < size else None for n in range(size)}


def chain(size: int) -> Job:
    handlers, edges = _row(size, _add)
    return lambda: _drive(handlers, edges, {"n": 0})


def loop(size: int) -> Job:
    edges = {0: 1, 1: lambda state: 0 if state["n"] < size else None}
    return lambda: _drive({0: _add, 1: _add}, edges, {"n": 0})


loop_model = plain = loop


async def _one(state: State) -> int:
    return state["n"] + 1


def branches(size: int) -> Job:
    async def job() -> int:
        return sum(await asyncio.gather(*(_one({"n": 0}) for _ in range(size))))

    return job


def branches_trio(size: int) -> Job:
    import trio  # noqa: PLC0415 - only the workers that are asked for it have trio

    async def job() -> int:
        total = 0

        async def branch() -> None:
            nonlocal total
            total += await _one({"n": 0})

        async with trio.open_nursery() as nursery:
            for _ in range(size):
                nursery.start_soon(branch)
        return total

    return job


items, items_trio = branches, branches_trio


def subflows(size: int) -> Job:
    handlers, edges = _row(4, _add)

    async def job() -> int:
        return sum([await _drive(handlers, edges, {"n": 0}) for _ in range(size)])

    return job


def build(size: int) -> Job:
    async def job() -> int:
        handlers: dict[str, Any] = {}
        for number in range(size):

            async def visit(state: Any, following: str = f"node {number + 1}") -> str:
                return following

            handlers[f"node {number}"] = visit
        return len(handlers)

    return job


def many(size: int) -> Job:
    async def nap(state: State) -> None:
        await asyncio.sleep(0.001)
        state["n"] += 1

    handlers, edges = _row(10, nap)

    async def job() -> int:
        return sum(await asyncio.gather(*(_drive(handlers, edges, {"n": 0}) for _ in range(size))))

    return job


def turns(size: int) -> Job:
    counter = Counter()
    tools = {"add": counter.add, "take": counter.take}

    async def model(messages: list[dict[str, Any]]) -> dict[str, Any]:
        turn = sum(message["role"] == "assistant" for message in messages)
        if turn >= size:
            return {"role": "assistant", "content": "done"}
        return {"role": "assistant", "content": "", "calls": calls_of(turn)}

    async def job() -> int:
        messages: list[dict[str, Any]] = [{"role": "user", "content": "Go."}]
        while calls := (said := await model(messages)).get("calls"):
            values = await asyncio.gather(*(tools[name](**json.loads(text)) for _, name, text in calls))
            results = zip(calls, values, strict=True)
            messages += [
                said,
                *({"role": "tool", "id": call[0], "content": str(value)} for call, value in results),
            ]
        assert said["content"] == "done"
        return counter.taken()

    return job
