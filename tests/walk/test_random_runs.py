"""Random small flows, with failures, timeouts, exhaustion and cancellations at every wait: what always holds."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from pydantic import BaseModel
from tests.stepping import living, passes, quiet_down

from flowcore import RunResult
from flowcore.events import Event
from flowcore.trace_events import trace_events

from .random_flows import FlowSpec, RunSpec, build, random_run
from .world import TERMINAL, World

CHUNKS = 20
RUNS_A_CHUNK = 500
GRACE = 1.0


@pytest.mark.behaviour("S4-17", "S4-11", "S4-12", "A47", "A61")
@pytest.mark.parametrize("chunk", range(CHUNKS))
async def test_whatever_happens_a_run_ends_once_and_adds_up(chunk: int) -> None:
    for seed in range(chunk * RUNS_A_CHUNK, (chunk + 1) * RUNS_A_CHUNK):
        await hold(seed)


async def hold(seed: int) -> None:
    """Runs one seed. Whoever looks for a fault calls this with the seed that is printed."""
    spec = random_run(seed)
    try:
        faults = [fault async for fault in faults_of(spec)]
    except BaseException as error:
        error.add_note(f"seed {seed}: {spec}")
        raise
    assert not faults, f"seed {seed}: {faults}\n{spec}"


async def faults_of(spec: RunSpec) -> Any:
    world = World(spec)
    flow = build(spec.flow, spec.state, world.act, world.work)
    start = spec.state()
    before = copy.deepcopy(start)
    alive = living()
    live: list[Event] = []
    stream: list[Event] = []
    async with anyio.create_task_group() as group:
        group.start_soon(world.drive)
        group.start_soon(world.cancel_when_triggered)
        with world.caller:
            handle = flow.start(start, budget=spec.budget, clock=world.clock, observers=[live.append], grace=GRACE)
            async with handle as run:
                world.run = run
                group.start_soon(follow, run, stream)
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
        working = set(+world.active)
        just_ended = {path for path, at in world.left.items() if at == world.clock.now}
        told = [event async for event in run.events()]
        while world.active.total():  # stragglers end by themselves here
            await passes(1)
        world.over = True
        world.trigger.set()
    await quiet_down(alive)
    later = [event async for event in run.events()]
    if world.out_of_time and result.status == "failed":
        world.forget_the_request()
    for fault in (
        *world.wrong,
        *ending_faults(world, result, told),
        *event_faults(told, live, stream, later, trace_events(result.trace)),
        *visit_faults(world, told),
        *state_faults(spec, before, result, told),
        *charge_faults(world, result, told),
    ):
        yield fault
    if start != before:
        yield f"the state passed in was changed: {start}"
    if not working <= set(result.stragglers):
        yield f"at work after the end, and not named: {working - set(result.stragglers)}"
    if not set(result.stragglers) <= working | just_ended | set(thread_paths(spec, told)):
        yield f"named as stragglers, and not at work: {set(result.stragglers) - working}"
    if living() > alive:
        yield f"{living() - alive} tasks are left"


async def follow(run: Any, stream: list[Event]) -> None:
    async for event in run.events():
        stream.append(event)  # noqa: PERF401 - what came before it was cancelled counts


def ending_faults(world: World, result: RunResult[Any], told: list[Event]) -> Iterator[str]:
    ends = [event for event in told if isinstance(event, TERMINAL)]
    if len(ends) != 1 or told[-1] is not ends[0]:
        yield f"terminal events {[event.kind for event in ends]}, the last event is {told[-1].kind}"
    if ends and ends[-1].kind != f"run.{result.status}":
        yield f"status {result.status}, event {ends[-1].kind}"
    allowed = {"cancelled"} if world.asked else {"completed", "failed"}
    if world.asked and world.out_of_time:
        allowed.add("failed")
    if result.status not in allowed:
        yield f"status {result.status} ({result.reason}), asked: {world.asked}"
    if result.status == "cancelled" and result.reason != "user":
        yield f"reason {result.reason}"


def event_faults(told: list[Event], *others: list[Event]) -> Iterator[str]:
    if [event.seq for event in told] != list(range(1, len(told) + 1)):
        yield f"seq {[event.seq for event in told]}"
    for name, other in zip(("observer", "stream", "later", "trace"), others, strict=True):
        if told != other:
            pair = next(((a, b) for a, b in zip(told, other, strict=False) if a != b), None)
            yield f"{name} has {len(other)} events of {len(told)}; {pair}"


def visit_faults(world: World, told: list[Event]) -> Iterator[str]:
    started: list[str] = []
    for event in told:
        if event.kind == "node.started":
            started.append(event.path)
        elif event.kind in ("node.finished", "node.failed"):
            if event.path not in started:
                yield f"{event.path} ended and had not begun"
            else:
                started.remove(event.path)
        elif event.kind == "custom" and event.data in world.late_emits:  # type: ignore[attr-defined]
            yield f"{event.path} was heard after the request to end"
    if started:
        yield f"without an end: {started}"


def state_faults(spec: RunSpec, before: Any, result: RunResult[Any], told: list[Event]) -> Iterator[str]:
    replayed = fields(before)
    for event in told:
        if event.kind == "state.patched" and "/" not in event.path:
            replayed.update(event.patch)  # type: ignore[attr-defined]
    if fields(result.state) != replayed:
        yield f"state {result.state}, by the patches {replayed}"
    if result.state.marks != list(kept_marks(spec.flow, told)):
        yield f"marks {result.state.marks}, kept visits {list(kept_marks(spec.flow, told))}"


def kept_marks(spec: FlowSpec, told: list[Event]) -> Iterator[str]:
    """Yields what each visit wrote that was finished, and stands in nothing that was not."""
    finished = {event.path: event for event in told if event.kind == "node.finished"}
    for path, event in finished.items():
        above = [path[:at] for at, letter in enumerate(path) if letter == "/"]
        items = [node_of(spec, place) for place in (*above, path)]
        if not all(place in finished for place in above) or not all(item.shared for item in items[:-1]):
            continue
        if items[-1].inner is None:
            yield f"{path}@{event.attempts}"  # type: ignore[attr-defined]
        elif not items[-1].shared:
            yield f"left {path.rpartition('/')[2].partition('#')[0]}"


def node_of(spec: FlowSpec, path: str) -> Any:
    item: Any = None
    for segment in path.split("/"):
        id = segment.partition("#")[0]
        item = spec.nodes[0] if id == "fin" else spec.nodes[int(id[1:])]
        if id == "fin":
            return dataclasses.replace(item, inner=None, shared=True)
        if item.inner is not None:
            spec = item.inner
    return item


def thread_paths(spec: RunSpec, told: list[Event]) -> Iterator[str]:
    for event in told:
        if event.kind == "node.started" and node_of(spec.flow, event.path).thread:
            yield event.path


def charge_faults(world: World, result: RunResult[Any], told: list[Event]) -> Iterator[str]:
    rounds = sum(event.kind == "round.started" for event in told)
    world.paid("", rounds=rounds)
    for dimension in ("rounds", "requests", "tool_calls", "tokens", "cost"):
        used, total = getattr(result.usage, dimension), world.total(dimension)
        if used != total:
            yield f"usage of {dimension} {used}, sum of charges {total}"
        limit = getattr(world.spec.budget, dimension)
        if limit is not None and dimension in ("rounds", "requests", "tool_calls") and used > limit:
            yield f"{used} {dimension} of {limit}"
    for path, item in limited(world.spec.flow, told):
        inside = sum(
            amount for at, name, amount in world.charges if name == "requests" and at.startswith(f"{path}/")
        )
        if item.budget.requests is not None and inside > item.budget.requests:
            yield f"{path} spent {inside} of {item.budget.requests} requests"


def limited(spec: FlowSpec, told: list[Event]) -> Iterator[tuple[str, Any]]:
    for event in told:
        if event.kind == "node.started":
            item = node_of(spec, event.path)
            if item.budget is not None:
                yield event.path, item


def fields(state: Any) -> dict[str, Any]:
    if isinstance(state, BaseModel):
        return {name: getattr(state, name) for name in type(state).model_fields}
    return {entry.name: getattr(state, entry.name) for entry in dataclasses.fields(state)}
