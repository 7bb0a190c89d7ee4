"""Long runs: what is written of a visit stays as small as it was, and memory keeps the last of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import pytest
from tests.stepping import StepClock

from flowcore import Budget, Complete, Continue, Flow, Log, Step, node
from flowcore.events import Event
from flowcore.runtime.ledger import KEPT
from flowcore.trace_events import trace_events

from .lives import RUN_ID, Death, Lives, died, ended

MANY = 2_600
ENDLESS = Budget(rounds=None)


@dataclass
class State:
    n: int = 1_000_000
    log: Log[str] = field(default_factory=Log)


@node
async def count(step: Step[State]) -> Continue[Literal["more", "done"]]:
    step.state.n += 1
    step.state.log.append("a line")
    return Continue("more" if step.state.n < 1_000_000 + MANY else "done")


@node
async def end(step: Step[State]) -> Complete[int]:
    return Complete(len(step.state.log))


flow = Flow("long", count.to(more=count, done=end), end)
turn = Flow("turn", count.to(more=end, done=end), end)
inside = Flow("inside", flow.as_node("flow", state=State).to(end), end)


async def test_a_visit_writes_as_much_at_the_end_as_at_the_beginning() -> None:
    lives = Lives(flow, StepClock())
    await lives.live(State(), budget=ENDLESS)
    visits = (await lives.store.load(RUN_ID)).visits[:-1]
    assert len(visits) == MANY
    assert {len(row.patch) for row in visits} == {len(visits[0].patch)}
    assert {row.rest for row in visits} == {visits[0].rest}


@pytest.mark.parametrize("made", [flow, inside])
async def test_memory_keeps_the_last_visits_and_the_events_are_all_there(made: Flow[State, object, int]) -> None:
    lives, seen = Lives(made, StepClock()), list[Event]()
    async with made.start(State(), store=lives.store, run_id=RUN_ID, clock=lives.clock, budget=ENDLESS) as run:
        result = await run.wait()
        seen += [event async for event in run.events()]
        assert [event async for event in run.events(after=seen[-3].seq)] == seen[-2:]
        assert [event async for event in run.events(after=10)] == seen[10:]
    assert result.value == MANY
    assert KEPT <= len(result.trace) < 2 * KEPT
    assert result.trace.forgotten + len(result.trace) == MANY + (1 if made is flow else 3)
    assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
    assert seen == trace_events(await lives.trace())


@pytest.mark.parametrize("made", [flow, inside])
async def test_a_long_run_goes_on_with_the_last_visits_in_memory(made: Flow[State, object, int]) -> None:
    lives = Lives(made, StepClock())
    assert died(await lives.live(State(), Death(MANY - 20), budget=ENDLESS))
    lives.clock.leap(31)
    run = made.reopen(RUN_ID, store=lives.store, clock=lives.clock)
    result = await ended(run, lives.clock)
    assert (result.value, result.usage.rounds) == (MANY, MANY)
    assert len(result.trace) < 2 * KEPT
    assert list(result.state.log) == ["a line"] * MANY
    events = [event async for event in run.events()]
    assert events == trace_events(await lives.trace())
    assert [event.seq for event in events if event.kind == "run.resumed"]
    last = [event for event in trace_events(result.trace) if event.kind == "state.patched"][-1]
    assert len(last.patch["log"]) == MANY  # type: ignore[attr-defined]
