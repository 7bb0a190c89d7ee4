"""Changed flows, inside: walks in sub-flows, branches and items that a run was in when its process died."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import anyio
import pytest
from tests.stored.test_changed import Leaving, store

from flowcore import Complete, Continue, Flow, Step, approve, each, node, parallel
from flowcore.errors import FlowChanged
from flowcore.runtime.opening import codec_of
from flowcore.store import RunStore
from flowcore.store.reading import read_trace

__all__ = ["store"]


@dataclass
class Outer:
    log: list[str] = field(default_factory=list[str])
    left: str = ""
    right: str = ""


@dataclass
class Inner:
    n: int = 0
    said: str = ""


class Crash(BaseException):
    """The process is gone."""


DIES: set[str] = set()


def inner_node(name: str, *, last: bool = False) -> Any:
    async def fn(step: Step[Inner]) -> Any:
        if step.path in DIES:
            raise Crash
        step.state.said += f"{name}{step.state.n} "
        return Complete(step.state.said) if last else Continue()

    fn.__annotations__["return"] = Complete[str] if last else Continue
    fn.__name__ = name
    return node(fn)


def side(name: str, fills: str) -> Any:
    @node(id=name)
    async def fn(step: Step[Outer]) -> Continue:
        if step.path in DIES:
            await anyio.wait_all_tasks_blocked()  # the branch beside it has ended
            raise Crash
        setattr(step.state, fills, f"by {name}")
        return Continue()

    return fn


@node
async def close(step: Step[Outer]) -> Complete[str]:
    state = step.state
    return Complete(f"{state.log} {state.left} {state.right}")


def enter(state: Outer) -> Inner:
    return Inner(7)


def leave(draft: Outer, said: str) -> Continue:
    draft.log.append(said)
    return Continue()


def over(state: Outer) -> list[Inner]:
    return [Inner(1), Inner(2)]


def collect(draft: Outer, said: list[str]) -> Continue:
    draft.log += said
    return Continue()


def child(*names: str, former: dict[str, str] | None = None) -> Flow[Inner, object, str]:
    nodes = [inner_node(name, last=name == names[-1]) for name in names]
    if former:
        nodes = [one.renamed_from(former[one.id]) if one.id in former else one for one in nodes]
    rows = [one.to(then) for one, then in pairwise(nodes)]
    return Flow("child", *rows, nodes[-1])


def outer(inner: Any, *, name: str = "call", fan: Any = None) -> Flow[Any, Any, Any]:
    call = inner.as_node(name, state=Outer, enter=enter, leave=leave)
    map_ = each("map", over=over, do=inner, collect=collect, limit=1)
    fan = fan or parallel("fan", side("l", "left"), side("r", "right"))
    return Flow("outer", call.to(map_), map_.to(fan), fan.to(close), close)


async def died(flow: Flow[Any, Any, Any], store: RunStore, *paths: str) -> None:
    DIES.update(paths)
    try:
        with pytest.raises(BaseException):  # noqa: B017, PT011 - its process dies
            await flow.run(Outer(), store=Leaving(store), run_id="run")
    finally:
        DIES.clear()


async def changes(flow: Flow[Any, Any, Any], store: RunStore) -> list[str]:
    with pytest.raises(FlowChanged) as found:
        await flow.resume("run", store=store)
    return [change.partition(": make ")[0].partition(": name ")[0] for change in found.value.changes]


WHOLE = "['a7 b7 ', 'a1 b1 ', 'a2 b2 '] by l by r"


@pytest.mark.parametrize("path", ["call#1/a#1", "call#1/b#1", "map#1[1]/b#1", "fan#1/l#1", "fan#1/r#1"])
async def test_a_changed_flow_goes_on_from_inside(store: RunStore, path: str) -> None:
    await died(outer(child("a", "b")), store, path)
    assert await outer(child("a", "b")).resume("run", store=store) == WHOLE


@pytest.mark.parametrize("path", ["call#1/b#1", "map#1[0]/b#1", "map#1[1]/b#1"])
async def test_a_node_inside_is_renamed(store: RunStore, path: str) -> None:
    await died(outer(child("a", "b")), store, path)
    (change,) = await changes(outer(child("a", "z")), store)
    assert change == f"{path}: was the node 'b', a function, and is no node any more; today there are a, z"
    said = await outer(child("a", "z", former={"z": "b"})).resume("run", store=store)
    assert said.count("z") >= 1
    assert said.count("a7") == 1


async def test_a_composite_that_a_run_is_inside_of_is_renamed(store: RunStore) -> None:
    await died(outer(child("a", "b")), store, "call#1/b#1")
    inner = child("a", "b")
    call = inner.as_node("phone", state=Outer, enter=enter, leave=leave)
    map_ = each("map", over=over, do=inner, collect=collect, limit=1)
    fan = parallel("fan", side("l", "left"), side("r", "right"))
    today = Flow("outer", call.renamed_from("call").to(map_), map_.to(fan), fan.to(close), close)
    result = await today.resume("run", store=store, check=False)
    assert result.value == WHOLE
    trace = read_trace(await store.load("run"), codec_of(today.plan))
    assert sorted(visit.path for visit in trace)[-3:] == ["phone#1", "phone#1/a#1", "phone#1/b#1"]
    assert sorted(visit.path for visit in result.trace)[-3:] == ["phone#1", "phone#1/a#1", "phone#1/b#1"]


async def test_branches_in_flight_are_the_same(store: RunStore) -> None:
    await died(outer(child("a", "b")), store, "fan#1/r#1")
    one, two, more = side("l", "left"), side("r", "right"), side("more", "left")
    for fan, words in (
        (parallel("fan", two, one), "was branches l, r, is r, l"),
        (parallel("fan", one, two, more), "was branches l, r, is l, r, more"),
        (parallel("fan", one, two, join="any"), "was join all, is join any"),
        (parallel("fan", one), "was branches l, r, is l"),
    ):
        assert f"fan#1: {words}" in await changes(outer(child("a", "b"), fan=fan), store)
    fan = parallel("fan", one, side("q", "right").renamed_from("r"))
    assert await outer(child("a", "b"), fan=fan).resume("run", store=store) == WHOLE.replace("by r", "by q")


async def test_a_kind_that_changed(store: RunStore) -> None:
    await died(outer(child("a", "b")), store, "call#1/b#1")
    call = side("call", "left")
    map_ = each("map", over=over, do=child("a", "b"), collect=collect, limit=1)
    today = Flow("outer", call.to(map_), map_.to(close), close)
    assert "call#1: was a node of kind subflow, is function" in await changes(today, store)


async def test_states_inside_are_upgraded_by_their_own_flow(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await died(outer(child("a", "b")), store, "call#1/b#1")

    @dataclass
    class Today:
        number: str = ""
        said: str = ""

    Today.__module__, Today.__qualname__ = __name__, "Inner"
    monkeypatch.setitem(globals(), "Inner", Today)

    @node
    async def a(step: Step[Today]) -> Continue:
        step.state.said += f"A{step.state.number} "
        return Continue()

    @node
    async def b(step: Step[Today]) -> Complete[str]:
        if step.path in DIES:
            raise Crash
        return Complete(f"{step.state.said}B{step.state.number}")

    asked: list[tuple[dict[str, Any], str]] = []

    def upgrade(stored: dict[str, Any], path: str) -> Today:
        asked.append((stored, path))
        return Today(f"no {stored['n']}", stored["said"])

    def enter_today(state: Outer) -> Today:
        return Today("new")

    inner = Flow("child", a.to(b), b, upgrade=upgrade)
    call = inner.as_node("call", state=Outer, enter=enter_today, leave=leave)
    today = Flow("outer", call.to(close), close)
    DIES.add("call#1/b#1")
    with pytest.raises(BaseException):  # noqa: B017, PT011 - it dies once more, and what was upgraded stays so
        await today.resume("run", store=Leaving(store))
    DIES.clear()
    assert await today.resume("run", store=store) == "['a7 Bno 7']  "
    assert asked == [({"n": 7, "said": "a7 "}, "call#1")] * len(asked)


async def test_what_a_renamed_node_has_asked_and_recorded_is_found(store: RunStore) -> None:
    made: list[str] = []

    def show(state: Outer) -> str:
        return "may it?"

    async def look() -> int:
        made.append("look")
        return len(made)

    def flow(asks: str, pays: str, *, waits: bool, former: bool) -> Flow[Any, Any, Any]:
        @node(id=pays)
        async def pay(step: Step[Outer]) -> Complete[int]:
            found = await step.once("look", look)
            if waits:
                made.append("waits")
                await anyio.sleep_forever()
            return Complete(found)

        consent: Any = approve(asks, show=show)
        last: Any = pay
        if former:
            consent, last = consent.renamed_from("ask"), pay if pays == "pay" else pay.renamed_from("pay")
        return Flow("paid", consent.to(approved=pay, denied=pay), last)

    async def until(found: Callable[[], Any]) -> None:
        with anyio.fail_after(10):
            while not found():  # noqa: ASYNC110 - there is no event for it
                await anyio.sleep(0.002)

    first = flow("ask", "pay", waits=True, former=False)
    async with first.start(Outer(), store=Leaving(store), run_id="run") as run:
        await until(lambda: run.requests)
        asked = run.requests[0].id
        await run.pause()
    second = flow("consent", "pay", waits=True, former=True)
    async with second.reopen("run", store=Leaving(store)) as run:
        await until(lambda: run.requests)
        assert [request.id for request in run.requests] == [asked]
        await run.answer(None, True)
        await until(lambda: "waits" in made)
        await run.pause()
    assert await flow("consent", "charge", waits=False, former=True).resume("run", store=store) == 1
    assert made == ["look", "waits"]
    assert [row.node for row in (await store.load("run")).visits] == ["consent", "charge"]
