"""What cannot be written: one error with its place, not routed; the record stays readable and is gone on from."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from tests.core.runs import chain, does, ends

from flowcore import Complete, Continue, Flow, RunResult, each, parallel
from flowcore.errors import NotSerialisable
from flowcore.runtime.opening import codec_of
from flowcore.store import MemoryRunStore
from flowcore.store.reading import read_trace
from flowcore.testing import FakeClock

pytestmark = pytest.mark.anyio


@dataclass
class Box:
    thing: Any = None
    things: list[Any] = field(default_factory=list)
    count: int = 0


END = ends(Box)


def lock() -> Any:
    return threading.Lock()


def code() -> Any:
    return lambda: 1


def line() -> Any:
    made = socket.socket()
    made.close()
    return made


THINGS = pytest.mark.parametrize("thing", [lock, code, line])


def put(thing: Any) -> Callable[[Any], None]:
    def act(step: Any) -> None:
        step.state.thing = thing

    return act


def put_inside(thing: Any) -> Callable[[Any], None]:
    def act(step: Any) -> None:
        step.state.things.append({"deep": [thing]})

    return act


def count(step: Any) -> None:
    step.state.count += 1


async def refused(flow: Flow[Any, Any, Any], state: Any = None) -> tuple[RunResult[Any], MemoryRunStore]:
    """Returns how a run ends in which something cannot be written. No route has taken it."""
    store = MemoryRunStore()
    with anyio.fail_after(10):
        result = await flow.run(state or Box(), store=store, run_id="run", clock=FakeClock(), check=False)
    assert (result.status, result.failure and result.failure.type) == ("failed", "NotSerialisable")
    assert (await store.run("run")).status == "failed"
    return result, store


def named(result: RunResult[Any], *words: str) -> bool:
    return all(word in str(result.failure) for word in words)


@pytest.mark.behaviour("A109")
@THINGS
async def test_in_a_patch(thing: Callable[[], Any]) -> None:
    result, store = await refused(chain(Box, count, put(thing()), count))
    assert named(result, "n2#1", "thing")
    assert [(row.node, row.target) for row in (await store.load("run")).visits] == [("n1", "n2"), ("n2", "")]
    assert (result.state.count, result.state.thing) == (1, None)


async def test_deep_inside_of_a_field() -> None:
    result, _ = await refused(chain(Box, put_inside(lock())))
    assert named(result, "n1#1", "things[0]")


@THINGS
async def test_in_the_start(thing: Callable[[], Any]) -> None:
    store = MemoryRunStore()
    with pytest.raises(NotSerialisable, match="thing"):
        await chain(Box, count).run(Box(thing()), store=store, run_id="run")
    assert await store.runs() == []


@THINGS
async def test_in_the_result(thing: Callable[[], Any]) -> None:
    result, _ = await refused(Flow("f", ends(Box, lambda step: thing())))
    assert named(result, "end#1", "result")
    assert result.value is None


@THINGS
async def test_in_why(thing: Callable[[], Any]) -> None:
    first = does(lambda step: Continue(why={"n": thing()}), "first", Box)
    result, _ = await refused(Flow("f", first.to(END), END))
    assert named(result, "first#1", "why")


def item_flow(act: Callable[[Any], Any] | None = None, value: Any = 1) -> Flow[Any, Any, Any]:
    item = does(act or count, "item", Box)
    last = does(lambda step: Complete(value), "last", Box, Complete[Any])
    return Flow("items", item.to(last), last)


def box_over(*things: Any) -> Any:
    def over(state: Box) -> list[Box]:
        return [Box(thing) for thing in things]

    return over


def keep(state: Box, results: list[Any]) -> Continue:
    state.count += len(results)
    return Continue()


@THINGS
async def test_in_an_item(thing: Callable[[], Any]) -> None:
    items = each("map", over=box_over(1, thing()), do=item_flow(), collect=keep, on_item_error="collect")
    result, _ = await refused(Flow("f", items.to(END), END, on_error=END))
    assert named(result, "map#1[1]", "thing")


async def test_in_a_patch_of_an_item() -> None:
    items = each("map", over=box_over(1), do=item_flow(put(lock())), collect=keep, on_item_error="collect")
    result, _ = await refused(Flow("f", items.to(END), END, on_error=END))
    assert named(result, "map#1[0]/item#1", "thing")


async def test_in_what_collect_does() -> None:
    def collect(state: Box, results: list[Any]) -> Continue:
        state.thing = lock()
        return Continue()

    items = each("map", over=box_over(1), do=item_flow(), collect=collect)
    result, _ = await refused(Flow("f", items.to(END), END, on_error=END))
    assert named(result, "map#1", "thing")


@THINGS
async def test_in_a_child_state(thing: Callable[[], Any]) -> None:
    def enter(state: Box) -> Box:
        return Box(thing())

    def leave(state: Box, value: Any) -> Continue:
        return Continue()

    child = item_flow().as_node("child", state=Box, enter=enter, leave=leave)
    result, store = await refused(Flow("f", child.to(END), END, on_error=END))
    assert named(result, "child#1", "thing")
    assert {row.node for row in (await store.load("run")).visits} <= {"child", "item"}


async def test_in_a_branch() -> None:
    fan = parallel("fan", does(count, "fine", Box), does(put(lock()), "bad", Box))
    result, _ = await refused(Flow("f", fan.to(END), END, on_error=END))
    assert named(result, "fan#1/bad#1", "thing")


@THINGS
async def test_what_is_emitted_fails_nothing(thing: Callable[[], Any]) -> None:
    def emit(step: Any) -> None:
        step.emit("odd", {"it": thing()})
        step.artifact("odd", thing(), "application/x-odd")

    store = MemoryRunStore()
    result = await chain(Box, emit).run(Box(), store=store, run_id="run", check=False)
    assert result.status == "completed"
    kinds = [row.kind for row in (await store.load("run")).notes]
    assert [kind for kind in kinds if kind in ("custom", "artifact.added")] == ["custom", "artifact.added"]


async def test_the_record_can_be_read_and_gone_on_from_before() -> None:
    things = [lock(), "a text"]
    flow = chain(Box, count, lambda step: put(things[0])(step), count, value=lambda step: step.state.count)
    result, store = await refused(flow)
    trace = read_trace(await store.load("run"), codec_of(flow.plan))
    assert trace.path == result.trace.path
    things.reverse()
    forked = await flow.fork("run", at="n2#1", store=store, new_id="again")
    assert await flow.resume(forked.run_id, store=store) == 2
