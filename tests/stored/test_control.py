"""A stored run controlled from outside: what is asked, by whom, and what becomes of it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import anyio
import pytest
from pydantic import BaseModel, Field
from tests.stored.test_changed import Leaving, store

from flowcore import Approval, Complete, Continue, Flow, Run, Step, approve, ask, node, parallel
from flowcore.control import control
from flowcore.errors import ContractError, RunConflict, RunNotFound
from flowcore.runtime.opening import codec_of
from flowcore.store import RunStore
from flowcore.store.reading import read_trace
from flowcore.testing import FakeClock
from flowcore.trigger import Trigger

__all__ = ["store"]


@dataclass
class Work:
    log: list[str] = field(default_factory=list[str])


class Gate:
    """Holds a node until a test lets it go."""

    def __init__(self) -> None:
        self.entered, self.open = anyio.Event(), anyio.Event()


@node
async def wait(step: Step[Work, Gate]) -> Continue:
    step.state.log.append(f"wait#{step.visit}")
    step.deps.entered.set()
    await step.deps.open.wait()
    return Continue()


@node
async def last(step: Step[Work, Gate]) -> Complete[list[str]]:
    return Complete([*step.state.log, "last"])


FLOW = Flow("held", wait.to(last), last)
ANN = Trigger("chat", user="ann")


@asynccontextmanager
async def held(store: RunStore, **options: Any) -> AsyncGenerator[tuple[Run[Any], Gate], None]:
    gate = Gate()
    async with FLOW.start(Work(), deps=gate, store=store, run_id="run", trigger=ANN, **options) as run:
        await gate.entered.wait()
        yield run, gate


@pytest.mark.behaviour("S1-16", "S1-27")
async def test_a_stop_acts_at_the_next_boundary(store: RunStore) -> None:
    async with held(store) as (run, gate):
        control_ = control(store, "run", by="ann")
        before = await control_.status()
        assert (before.status, before.asked) == ("running", "")
        assert before.walked_by
        asked = await control_.stop(timeout=0)
        assert (asked.status, asked.asked, asked.asked_by) == ("running", "stop", "ann")
        await anyio.sleep(0.4)
        assert run.trace.ending is None
        gate.open.set()
        result = await run.wait()
    assert (result.status, result.reason, result.state.log) == ("cancelled", "stop", ["wait#1"])
    state = await control_.status()
    assert (state.status, state.reason, state.walked_by) == ("cancelled", "stop", "")
    assert await control_.stop() == state


async def test_an_interrupt_acts_at_once_and_stands_above_a_stop(store: RunStore) -> None:
    async with held(store) as (run, _):
        control_ = control(store, "run", by="ann")
        await control_.stop(timeout=0)
        state = await control_.interrupt()
        assert (state.status, state.reason) == ("cancelled", "interrupt")
        assert (await run.wait()).reason == "interrupt"


@pytest.mark.behaviour("S1-19")
async def test_a_paused_run_is_released_by_its_user_alone(store: RunStore) -> None:
    async with held(store) as (run, gate):
        control_ = control(store, "run", by="ann")
        assert (await control_.pause()).status == "paused"
        assert (await control_.pause()).status == "paused"
        assert run.is_paused
        for wrong in ("", "bob"):
            other = control(store, "run", by=wrong)
            for method in (other.resume, other.pause, other.stop, other.interrupt, other.status, other.requests):
                call: Any = method
                with pytest.raises(RunConflict, match=f"run run belongs to 'ann', not '{wrong}': give by='ann'"):
                    await call()
            with pytest.raises(RunConflict, match="belongs to 'ann'"):
                await other.answer(None, True)
        assert run.is_paused
        gate.open.set()
        state = await control_.resume()
        assert state.status in ("running", "completed")
        assert await run.result() == ["wait#1", "last"]


async def leave(store: RunStore, trigger: Trigger = ANN, run_id: str = "run", flow: Any = FLOW) -> None:
    """Begins a run that its process leaves."""
    gate = Gate()
    async with flow.start(Work(), deps=gate, store=Leaving(store), run_id=run_id, trigger=trigger) as run:
        await gate.entered.wait()
        await run.cancel()
    assert (await store.run(run_id)).end is None


@pytest.mark.parametrize("signal", ["stop", "interrupt"])
@pytest.mark.behaviour("S1-17")
async def test_a_run_that_nobody_walks_is_ended_at_once_with_its_children(store: RunStore, signal: str) -> None:
    await leave(store)
    await leave(store, Trigger("delegation", parent="run"), "child")
    control_ = control(store, "run", by="ann")
    state = await getattr(control_, signal)()
    assert (state.status, state.reason) == ("cancelled", signal)
    child = await control(store, "child").status()
    assert (child.status, child.reason) == ("cancelled", "parent")
    before = await store.load("run")
    with pytest.raises(RunConflict, match=rf"has ended: cancelled \({signal}\).*flow.fork\('run', at="):
        await FLOW.resume("run", deps=Gate(), store=store, by="ann")
    with pytest.raises(RunConflict, match="has ended"):
        await control_.resume()
    assert await store.load("run") == before
    trace = read_trace(before, codec_of(FLOW.plan))
    assert trace.ending is not None
    assert trace.ending.reason == signal
    assert before.notes[-1].kind == "run.cancelled"


async def test_a_run_that_nobody_walks_is_paused_at_once_and_resumed_by_a_flow(store: RunStore) -> None:
    await leave(store)
    control_ = control(store, "run", by="ann")
    assert (await control_.pause()).status == "paused"
    with pytest.raises(
        RunConflict, match=r"is walked by nobody: go on with it by flow.resume\('run', store=...\)"
    ):
        await control_.resume()
    gate = Gate()
    gate.open.set()
    async with FLOW.reopen("run", deps=gate, store=store, by="ann") as run:
        assert (await store.run("run")).status == "running"
        assert await run.result() == ["wait#1", "last"]


async def test_a_stop_that_a_dead_process_did_not_hear_stands(store: RunStore) -> None:
    await leave(store)
    await store.take("run", "dead", 0, 2)
    await store.signal("run", "stop", "ann")
    with pytest.raises(RunConflict, match=r"has ended: cancelled \(stop\)"):
        await FLOW.resume("run", deps=Gate(), store=store, by="ann")
    assert (await control(store, "run", by="ann").status()).status == "cancelled"


@pytest.mark.behaviour("S1-27")
async def test_a_failed_run_is_no_stopped_one(store: RunStore) -> None:
    @node(id="fails")
    async def fails(step: Step[Work]) -> Complete[str]:
        raise ValueError("no")

    await Flow("fails", fails).run(Work(), store=store, run_id="run", check=False)
    state = await control(store, "run").stop()
    assert (state.status, state.reason) == ("failed", "")
    with pytest.raises(RunConflict, match="has ended: failed"):
        await control(store, "run").resume()


async def test_there_is_no_such_run(store: RunStore) -> None:
    with pytest.raises(RunNotFound):
        await control(store, "none").status()


class Form(BaseModel):
    words: str = Field(max_length=10)
    urgent: bool = False


def shown(state: Work) -> str:
    return "well?"


def take(draft: Work, answer: Form) -> None:
    draft.log.append(f"{answer.words} {answer.urgent}")


def take_approval(draft: Work, answer: Approval[Any]) -> None:
    draft.log.append(f"{answer.approved} {answer.reason}")


QUESTION = ask("question", show=shown, form=Form, take=take, expires=60)
CONSENT = approve("consent", show=shown, take=take_approval, expires=60)


@node
async def done(step: Step[Work]) -> Complete[list[str]]:
    return Complete(list(step.state.log))


ASKING = Flow("asking", QUESTION.to(answered=CONSENT, expired=done), CONSENT.to(approved=done, denied=done), done)


async def until(found: Callable[[], Any]) -> None:
    with anyio.fail_after(10):
        while not found():  # noqa: ASYNC110 - what is looked for happens in a run, which has no event for it
            await anyio.sleep(0.005)


async def test_requests_are_answered_from_outside(store: RunStore) -> None:
    async with ASKING.start(Work(), store=store, run_id="run") as run:
        await until(lambda: run.requests)
        control_ = control(store, "run", by="ann")
        (request,) = await control_.requests()
        assert (await control_.status()).status == "waiting"
        assert json.loads(request.form)["properties"].keys() == {"words", "urgent"}
        for wrong in ({"words": 7}, {"words": "far too long for it"}, {}, "words"):
            with pytest.raises(ContractError, match=f"request '{request.id}' is answered by what its form wants"):
                await control_.answer(None, wrong)
        await control_.answer(None, {"words": "soon"})
        with pytest.raises(RunConflict, match=r"is closed: answered by ann at \d{4}-\d\d-\d\d"):
            await control_.answer(request.id, Form(words="later"))
        await until(lambda: run.requests and run.requests[0].kind == "approve")
        with pytest.raises(ContractError, match="is answered by True, False or Approval"):
            await control_.answer(None, "yes")
        await control_.answer(None, Approval(True, "fine"))
        assert await run.result() == ["soon False", "True fine"]
        with pytest.raises(RunConflict, match="has ended"):
            await control_.answer(request.id, True)
        with pytest.raises(ContractError, match="no request waits"):
            await control_.answer(None, True)


async def test_several_requests_are_answered_by_their_ids(store: RunStore) -> None:
    sub = Flow("sub", CONSENT.to(approved=done, denied=done), done)
    fan = parallel("fan", sub.as_node("a"), sub.as_node("b"))
    flow = Flow("both", fan.to(done), done)
    async with flow.start(Work(), store=store, run_id="run") as run:
        await until(lambda: len(run.requests) == 2)
        control_ = control(store, "run", by="ann")
        first, second = await control_.requests()
        with pytest.raises(ContractError) as error:
            await control_.answer(None, True)
        assert str(error.value).startswith("2 requests wait: say which one is answered: ")
        assert all(f"{each.id} ({each.path})" in str(error.value) for each in (first, second))
        await run.cancel()


async def test_an_answer_waits_for_whoever_resumes_the_run(store: RunStore) -> None:
    async with ASKING.start(Work(), store=Leaving(store), run_id="run") as run:
        await until(lambda: run.requests)
        await run.pause()
    control_ = control(store, "run")
    await control_.answer(None, {"words": "soon", "urgent": True})
    async with ASKING.reopen("run", store=store) as run:
        await until(lambda: run.requests)
        await control_.answer(None, False)
        assert await run.result() == ["soon True", "False "]


async def test_an_answer_that_was_slow_to_be_written_is_heard(store: RunStore) -> None:
    clock, consenting = FakeClock(), Flow("consenting", CONSENT.to(approved=done, denied=done), done)
    async with consenting.start(Work(), store=store, run_id="run", clock=clock) as run:
        await until(lambda: run.requests)
        given = clock.utcnow().timestamp()
        await clock.advance(1)  # the run looks for answers meanwhile
        await store.answer("run", run.requests[0].id, "true", "ann", given)
        await clock.advance(1)
        assert await run.result() == ["True "]


async def test_an_expired_request_says_so(store: RunStore) -> None:
    clock = FakeClock()
    async with ASKING.start(Work(), store=Leaving(store), run_id="run", clock=clock) as run:
        await clock.settle()
        (request,) = run.requests
        await run.pause()
    control_ = control(store, "run", clock=clock)
    await clock.advance(61)
    assert await control_.requests() == ()
    expired = (request.expires).isoformat(" ", "seconds")
    assert request.expires - request.opened == timedelta(seconds=60)
    with pytest.raises(RunConflict) as error:
        await control_.answer(request.id, {"words": "late"})
    assert str(error.value).endswith(f"expired at {expired}")
