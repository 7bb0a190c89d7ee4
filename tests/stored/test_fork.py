"""Forks: a new run from any visit of another one, which is not touched."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from tests.stored.test_changed import Leaving, store

from flowcore import Budget, BudgetExhausted, Complete, Continue, Flow, Step, approve, each, node, parallel
from flowcore.errors import FlowChanged, RunConflict, RunNotFound
from flowcore.store import RunStore, Stored
from flowcore.trigger import Trigger

__all__ = ["store"]


@dataclass
class Work:
    log: list[str] = field(default_factory=list[str])
    left: str = ""
    right: str = ""
    n: int = 0


RAN: list[str] = []
RAISES: set[str] = set()


@pytest.fixture(autouse=True)
def clean() -> None:
    RAN.clear()
    RAISES.clear()


def work(name: str, **options: Any) -> Any:
    @node(id=name, **options)
    async def fn(step: Step[Work]) -> Continue:
        RAN.append(step.path)
        if name in RAISES:
            raise ValueError(name)
        step.state.log.append(name)
        return Continue()

    return fn


@node(id="five")
async def five(step: Step[Work]) -> Complete[list[str]]:
    RAN.append("five#1")
    return Complete([*step.state.log, "five"])


one, two, three, four = work("one"), work("two"), work("three"), work("four")
FIVE = Flow("five", one.to(two), two.to(three), three.to(four), four.to(five), five)


async def untouched(store: RunStore, before: Stored) -> bool:
    return await store.load(before.run.run_id) == before


@pytest.mark.behaviour("A81")
async def test_a_failed_run_forked_at_the_node_that_failed(store: RunStore) -> None:
    RAISES.add("three")
    failed = await FIVE.run(Work(), store=store, run_id="run", check=False)
    assert failed.status == "failed"
    RAISES.clear()
    RAN.clear()
    before = await store.load("run")
    forked = await FIVE.fork("run", at="three#1", store=store)
    assert forked.may_repeat == ()
    new = await store.run(forked.run_id)
    assert (new.forked, new.status, new.owner) == ("run three#1", "paused", "")
    result = await FIVE.resume(forked.run_id, store=store, check=False)
    assert result.value == ["one", "two", "three", "four", "five"]
    assert RAN == ["three#1", "four#1", "five#1"]
    assert [visit.path for visit in result.trace] == ["one#1", "two#1", "three#1", "four#1", "five#1"]
    assert await untouched(store, before)


@pytest.mark.parametrize("at", ["one", "two#1", "five"])
async def test_a_completed_run_at_any_visit(store: RunStore, at: str) -> None:
    await FIVE.run(Work(), store=store, run_id="run")
    RAN.clear()
    forked = await FIVE.fork("run", at=at, store=store, new_id=f"fork {at}")
    assert forked.run_id == f"fork {at}"
    assert await FIVE.resume(forked.run_id, store=store) == ["one", "two", "three", "four", "five"]
    names = ["one", "two", "three", "four", "five"]
    assert RAN == [f"{name}#1" for name in names[names.index(at.partition("#")[0]) :]]


async def test_with_another_state_and_with_another_budget(store: RunStore) -> None:
    @node(starts_round=True)
    async def turn(step: Step[Work]) -> Continue | Complete[list[str]]:
        step.state.n += 1
        step.state.log.append(f"{step.round}")
        return Complete(list(step.state.log)) if step.state.n == 4 else Continue()

    flow = Flow("turns", turn.to(turn))
    with pytest.raises(BudgetExhausted):
        await flow.run(Work(), store=store, run_id="run", budget=Budget(rounds=2))
    same = await flow.fork("run", at="turn#2", store=store)
    with pytest.raises(BudgetExhausted):
        await flow.resume(same.run_id, store=store)
    more = await flow.fork("run", at="turn#2", store=store, budget=Budget(rounds=9))
    result = await flow.resume(more.run_id, store=store, check=False)
    assert (result.value, result.usage.rounds) == (["1", "2", "3", "4"], 4)
    other = await flow.fork("run", at="turn#2", store=store, state=Work(["else"], n=2), budget=Budget(rounds=9))
    with pytest.raises(BaseException):  # noqa: B017, PT011 - its process dies after a visit
        await dying(flow).resume(other.run_id, store=Leaving(store))
    result = await flow.resume(other.run_id, store=store, check=False)
    assert (result.value, result.usage.rounds) == (["else", "2", "3"], 3)
    assert [visit.path for visit in result.trace] == ["turn#1", "turn#2", "turn#3"]


def dying(flow: Flow[Any, Any, Any]) -> Flow[Any, Any, Any]:
    @node(id="turn", starts_round=True)
    async def turn(step: Step[Work]) -> Continue | Complete[list[str]]:
        if step.visit == 3:
            raise KeyboardInterrupt
        step.state.n += 1
        step.state.log.append(f"{step.round}")
        return Continue()

    return flow.replace(turn=turn)


@dataclass
class Part:
    x: int = 0
    said: str = ""


@node(id="first")
async def first(step: Step[Part]) -> Continue:
    RAN.append(step.path)
    step.state.said += f"first{step.state.x} "
    return Continue()


@node(id="second")
async def second(step: Step[Part]) -> Complete[str]:
    RAN.append(step.path)
    if "second" in RAISES:
        raise ValueError("second")
    return Complete(f"{step.state.said}second{step.state.x}")


PART: Flow[Part, object, str] = Flow("part", first.to(second), second)


def enter(state: Work) -> Part:
    return Part(7)


def leave(draft: Work, said: str) -> Continue:
    draft.log.append(said)
    return Continue()


def over(state: Work) -> list[Part]:
    return [Part(0), Part(1), Part(2)]


def collect(draft: Work, said: list[str]) -> Continue:
    draft.log += said
    return Continue()


def fills(name: str) -> Any:
    @node(id=f"fill_{name}")
    async def fn(step: Step[Work]) -> Continue:
        RAN.append(step.path)
        await anyio.lowlevel.checkpoint()
        setattr(step.state, name, "full")
        return Continue()

    return fn


@node(id="close")
async def close(step: Step[Work]) -> Complete[str]:
    state = step.state
    return Complete(f"{'; '.join(state.log)} {state.left} {state.right}")


CALL = PART.as_node("call", state=Work, enter=enter, leave=leave)
MAP = each("map", over=over, do=PART, collect=collect, limit=1)
FAN = parallel("fan", fills("left"), fills("right"))
NEST = Flow("nest", one.to(CALL), CALL.to(MAP), MAP.to(FAN), FAN.to(close), close)
WHOLE = "one; first7 second7; first0 second0; first1 second1; first2 second2 full full"


@pytest.mark.behaviour("A93")
async def test_every_visit_of_a_nested_run_can_be_forked_at(store: RunStore) -> None:
    base = await NEST.run(Work(), store=store, run_id="run", check=False)
    assert base.value == WHOLE
    before, whole = await store.load("run"), list(RAN)
    for visit in base.trace:
        RAN.clear()
        forked = await NEST.fork("run", at=visit.path, store=store)
        result = await NEST.resume(forked.run_id, store=store, check=False)
        assert (result.value, result.trace.path) == (WHOLE, base.trace.path), visit.path
        assert result.usage.rounds == base.usage.rounds
        if "/" in visit.path:
            assert visit.path in RAN[:2]  # the other branch had not ended then, and runs again beside it
        assert set(RAN) <= set(whole)
        if visit.path == "map#1[1]/second#1":
            assert [path for path in RAN if path.startswith("map")] == [
                "map#1[1]/second#1",
                "map#1[2]/first#1",
                "map#1[2]/second#1",
            ]
    assert await untouched(store, before)


async def test_a_fork_of_a_fork_and_of_a_cancelled_run(store: RunStore) -> None:
    async with NEST.start(Work(), store=store, run_id="run") as run:
        async for event in run.events():
            if event.kind == "node.started" and event.path == "map#1[1]/second#1":
                await run.cancel()
    assert (await store.run("run")).status == "cancelled"
    first_fork = await NEST.fork("run", at="map#1[1]/second", store=store)
    again = await NEST.fork(first_fork.run_id, at="call#1/second#1", store=store)
    assert await NEST.resume(again.run_id, store=store) == WHOLE
    assert await NEST.resume(first_fork.run_id, store=store) == WHOLE


def show(state: Work) -> str:
    return "may it?"


ASK = approve("ask", show=show)
sent = work("sent")
ASKING = Flow("asking", one.to(ASK), ASK.to(approved=sent, denied=two), sent.to(five), two.to(five), five)


@pytest.mark.behaviour("A93")
async def test_before_a_pause_it_asks_again(store: RunStore) -> None:
    async with ASKING.start(Work(), store=store, run_id="run") as run:
        while not run.requests:
            await anyio.lowlevel.checkpoint()
        (asked,) = run.requests
        before = await store.load("run")
        running = await ASKING.fork("run", at="ask#1", store=store)  # of a run that goes on
        assert await untouched(store, before)
        await run.answer(None, True, by="ann")
        assert await run.result() == ["one", "sent", "five"]
    later = await ASKING.fork("run", at="ask#1", store=store)
    for forked in (running, later):
        async with ASKING.reopen(forked.run_id, store=store) as run:
            while not run.requests:
                await anyio.lowlevel.checkpoint()
            (again,) = run.requests
            assert again.id != asked.id
            await run.answer(again.id, False, by="bob")
            assert await run.result() == ["one", "two", "five"]
    after = await ASKING.fork("run", at="sent#1", store=store)
    rows = await store.requests(after.run_id, pending=False)
    assert [(row.id, row.status, row.by) for row in rows] == [(asked.id, "answered", "ann")]
    assert await ASKING.resume(after.run_id, store=store) == ["one", "sent", "five"]


async def test_what_may_happen_twice_is_named(store: RunStore) -> None:
    charge, pay = work("charge", effects=True), work("pay", effects=True)
    flow = Flow("paid", one.to(charge), charge.to(pay), pay.to(five), five)
    await flow.run(Work(), store=store, run_id="run")
    forked = await flow.fork("run", at="pay#1", store=store)
    assert [told.partition(":")[0] for told in forked.may_repeat] == ["pay#1"]
    assert await flow.resume(forked.run_id, store=store) == ["one", "charge", "pay", "five"]
    assert RAN.count("charge#1") == 1
    both = await flow.fork("run", at="one#1", store=store)
    assert [told.partition(":")[0] for told in both.may_repeat] == ["charge#1", "pay#1"]


async def test_what_is_refused(store: RunStore) -> None:
    await FIVE.run(Work(), store=store, run_id="run", trigger=Trigger("chat", user="ann"))
    with pytest.raises(RunConflict, match=r"belongs to 'ann', not ''"):
        await FIVE.fork("run", at="two", store=store)
    with pytest.raises(RunNotFound):
        await FIVE.fork("other", at="two", store=store, by="ann")
    with pytest.raises(ValueError, match=r"never came to this visit; it came to one#1, two#1"):
        await FIVE.fork("run", at="two#2", store=store, by="ann")
    with pytest.raises(ValueError, match="give the path of a visit"):
        await FIVE.fork("run", at="two[", store=store, by="ann")
    with pytest.raises(RunConflict, match="holds a run 'run' already"):
        await FIVE.fork("run", at="two", store=store, by="ann", new_id="run")
    with pytest.raises(FlowChanged):
        await NEST.fork("run", at="two", store=store, by="ann")
    assert [row.run_id for row in await store.runs()] == ["run"]
    forked = await FIVE.fork("run", at="two", store=store, by="ann")
    assert (await store.run(forked.run_id)).trigger.user == "ann"
