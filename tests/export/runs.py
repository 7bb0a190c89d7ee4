"""What the tests of exports share: a recording by hand in which everything occurs, and those of random runs."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from typing import Any

import anyio
import anyio.lowlevel
from tests.side.moving import finished
from tests.side.nests import Leaf, Sheet, flow_of, random_nest
from tests.stepping import StepClock, passes
from tests.walk.random_flows import build, random_run
from tests.walk.world import World

from flowcore import Budget, Complete, Continue, Flow, Step, node, parallel
from flowcore.recording import Change, Fault, ModelCall, Recording, Said, Spent, VisitData, flow_data, recording_of

BEGAN = datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)


@node(starts_round=True)
async def search(step: Step[Sheet]) -> Continue:
    return Continue()


@node
async def web(step: Step[Sheet]) -> Continue:
    return Continue()


@node
async def docs(step: Step[Sheet]) -> Continue:
    return Continue()


@node
async def answer(step: Step[Sheet]) -> Complete[str]:
    return Complete("42")


FLOW = Flow("desk", search.to(parallel("fan", web, docs)), parallel("fan", web, docs).to(answer), answer)


def visit(path: str, seq: int, started: float, ended: float | None, **more: Any) -> VisitData:
    name, _, number = path.rpartition("/")[2].partition("#")
    usual = {"round": 1, "walk_round": 1, "attempts": 1, "kind": "next", "spent": Spent(rounds=1)}
    place = {"path": path, "node": name, "number": int(number), "seq": seq, "started": started, "ended": ended}
    return VisitData(**{**usual, **place, **more})


def by_hand() -> Recording:
    """Returns a run of a quarter of a second: a retry, two branches of which one fails, two requests at a time."""
    broken = Fault(path="fan#1/docs#1", type="LookupError", message="nothing there", code="exception")
    busy = Fault(type="TimeoutError", message="busy", code="exception")
    calls = (
        ModelCall(model="small-1", started=0.05, ended=0.15, tokens=120, cost=0.5),
        ModelCall(model="small-1", started=0.06, ended=0.07, failure=busy),
    )
    said = (
        Said(kind="custom", name="found", text="3", at=0.16),
        Said(kind="artifact", name="page", text="text/html <p>", at=0.17),
    )
    spent = Spent(rounds=1, requests=2, tokens=120, cost=0.5)
    changes = (
        Change(kind="changed", place="plain", was="''", now="'x'"),
        Change(kind="appended", place="log", now="['y']"),
        Change(kind="removed", place="facts['z']", was="'w'"),
        Change(kind="added", place="words[0]", now="'v'"),
    )
    visits = (
        visit("search#1", 2, 0.0, 0.01, charged=True, target="fan", attempts=2, retried=((0.005, busy),)),
        visit("fan#1", 6, 0.02, 0.2, target="answer", spent=spent),
        visit("fan#1/web#1", 7, 0.03, 0.18, kind="join", branch="web", calls=calls, said=said, spent=spent),
        visit("fan#1/docs#1", 8, 0.03, 0.1, kind="failed", branch="docs", failure=broken, dropped=True),
        visit(
            "answer#1",
            20,
            0.2,
            0.21,
            kind="complete",
            why={"n": "3"},
            changes=changes,
            finish="rounds",
            spent=spent,
        ),
    )
    return Recording(
        name="q1",
        title="How?",
        flow=flow_data(FLOW.plan),
        signature=FLOW.signature,
        run_id="r-1",
        began=BEGAN,
        status="completed",
        value='"42"',
        exhausted="rounds",
        budget={"rounds": 1},
        spent=spent.model_copy(update={"seconds": 0.25}),
        state={},
        visits=visits,
    )


async def of_nest(seed: int) -> Recording:
    """Returns a run of a random nest of branches, items and sub-flows whose visits take times by chance."""
    clock = StepClock()

    async def act(step: Step[Sheet], leaf: Leaf) -> None:
        rng = Random(f"{seed} {step.path} {step.attempt}")
        if leaf.hangs:
            await anyio.Event().wait()
        await clock.sleep(rng.choice([0.0, 0.1, 0.2, 0.5, 1.0, 3.0]))

    result = await finished(flow_of(random_nest(seed), act), Sheet(), clock, budget=Budget(rounds=None))
    return recording_of(result.trace)


async def of_flow(seed: int) -> Recording:
    """Returns a run of a random flow, with failures, requests, timeouts and a cancellation at some wait."""
    spec = random_run(seed)
    world = World(spec)
    flow = build(spec.flow, spec.state, world.act, world.work)
    async with anyio.create_task_group() as group:
        group.start_soon(world.drive)
        group.start_soon(world.cancel_when_triggered)
        with world.caller:
            handle = flow.start(spec.state(), budget=spec.budget, clock=world.clock, grace=1.0)
            async with handle as run:
                world.run = run
                if spec.inject == "early":
                    await passes(spec.at - 1)
                    world.trigger.set()
                try:
                    await run.wait()
                except BaseException:
                    world.mark()
                    raise
        with anyio.CancelScope(shield=True):
            result = await run.wait()
        while world.active.total():
            await passes(1)
        world.over = True
        world.trigger.set()
    return recording_of(result.trace)
