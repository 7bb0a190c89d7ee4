"""Replay: a recorded run goes the same way through its own flow, and a changed one is told apart at the visit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio
import pytest
from tests.side.nests import flow_of, random_nest
from tests.side.test_against_reference import run_nest
from tests.walk.random_flows import build, random_run
from tests.walk.world import World

from flowcore import Complete, Continue, Flow, Node, RunResult, Step, each, node, parallel
from flowcore.recording import dump_runs, load_runs, recording_of
from flowcore.testing import FlowRunner, replay

NESTS = 60
RUNS = 150


async def refuse(*_: Any) -> None:
    raise AssertionError("a node function ran")


@pytest.mark.behaviour("TEST-6")
async def test_every_nest_goes_the_same_way_again() -> None:
    lengths = []
    for seed in range(NESTS):
        nest = random_nest(seed)
        result = await run_nest(nest, seed)
        flow = flow_of(nest, refuse)
        told = f"seed {seed}: {nest}\n{result.trace.to_text()}"
        try:
            again = replay(result, flow)
        except BaseException as error:
            error.add_note(told)
            raise
        file = load_runs(dump_runs([recording_of(result.trace)]))[0]
        assert replay(file, flow).visits == len(result.trace), told
        lengths.append(again.visits)
        kept = [record for record in result.trace.records if not dropped(record.frame)]
        assert again.visits == len(kept), told
    assert sum(lengths) > 10 * NESTS


def dropped(frame: Any) -> bool:
    return frame is not None and (frame.dropped or dropped(frame.owner) or dropped(frame.parent))


async def ran(seed: int) -> tuple[Any, RunResult[Any]]:
    """Runs a random flow, some of them cancelled or out of time."""
    spec = random_run(seed)
    world = World(spec)
    flow = build(spec.flow, spec.state, world.act, world.work)
    async with anyio.create_task_group() as group:
        group.start_soon(world.drive)
        group.start_soon(world.cancel_when_triggered)
        with world.caller:
            async with flow.start(spec.state(), budget=spec.budget, clock=world.clock, grace=1) as run:
                world.run = run
                try:
                    await run.wait()
                except BaseException:
                    world.mark()
                    raise
        with anyio.CancelScope(shield=True):
            result = await run.wait()
        world.over = True
        world.trigger.set()
    return build(spec.flow, spec.state, refuse, refuse), result


@pytest.mark.behaviour("TEST-6")
async def test_every_run_goes_the_same_way_again_however_it_ended() -> None:
    ends = set()
    for seed in range(RUNS):
        flow, result = await ran(seed)
        try:
            again = replay(result, flow)
        except BaseException as error:
            error.add_note(f"seed {seed}: {result.trace.ending}\n{random_run(seed)}\n{result.trace.to_text()}")
            raise
        ends.add((result.status, result.exhausted))
        assert again.visits <= len(result.trace)
    assert {status for status, _ in ends} >= {"completed", "failed"}


@dataclass
class Desk:
    numbers: list[int] = field(default_factory=lambda: [1, 2])
    left: str = ""
    right: str = ""


@dataclass
class Item:
    number: int = 0


@node(starts_round=False)
async def read(step: Step[Desk]) -> Continue:
    return Continue()


@node
async def left(step: Step[Desk]) -> Continue:
    step.state.left = "l"
    return Continue()


@node
async def right(step: Step[Desk]) -> Continue:
    step.state.right = "r"
    return Continue()


@node
async def count(step: Step[Item]) -> Complete[int]:
    return Complete(step.state.number)


def over(desk: Desk) -> list[Item]:
    return [Item(number) for number in desk.numbers]


def over_one(desk: Desk) -> list[Item]:
    return over(desk)[:1]


def collect(desk: Desk, results: Sequence[int]) -> Continue:
    return Continue()


@node(starts_round=True)
async def check(step: Step[Desk]) -> Continue[Literal["good", "poor"]]:
    if step.visit == 1:
        raise KeyError("lost")
    return Continue("good")


@node
async def mend(step: Step[Desk]) -> Continue:
    return Continue()


@node
async def end(step: Step[Desk]) -> Complete[str]:
    return Complete("done")


@node
async def other(step: Step[Desk]) -> Complete[str]:
    return Complete("other")


FAN = parallel("fan", left, right)
ITEMS = each("items", over=over, do=Flow("item", count), collect=collect)
ROWS: dict[str, Node[Desk, object, Any, Any]] = {
    "read": read.to(FAN),
    "fan": FAN.to(ITEMS),
    "items": ITEMS.to(check),
    "check": check.to(good=end, poor=mend).on_error(mend),
    "mend": mend.to(check),
    "end": end,
}
desk = Flow[Desk, object, str]("desk", *ROWS.values())


def changed(**rows: Any) -> Flow[Desk, object, str]:
    return Flow("desk", *[row for row in {**ROWS, **rows}.values() if row is not None])


ONE_FAN = parallel("fan", left)
MORE_FAN = parallel("fan", left, right, mend.named("third"))
FEW = each("items", over=over_one, do=Flow("item", count), collect=collect)
PLAIN = right.named("items")
CHANGES: list[tuple[Flow[Desk, object, str], str, str]] = [
    (
        changed(check=check.to(good=other, poor=mend).on_error(mend), end=None, other=other),
        "check#2: it went to end (label good), and goes to other (label good) in flow 'desk' today",
        "check#2: it went to end (label good), and goes to other in flow 'desk' today",
    ),
    (
        changed(check=check.to(good=end, poor=mend).on_error(other), other=other),
        "check#1: it went to mend (error KeyError), and goes to other (error KeyError) in flow 'desk' today",
        "check#1: it went to mend (error KeyError), and goes to other in flow 'desk' today",
    ),
    (
        changed(check=check.to(good=end, poor=mend)),
        "check#1: it went to mend (error KeyError), and fails in flow 'desk' today",
        "check#1: it went to mend (error KeyError), and has no such route in flow 'desk' today",
    ),
    (
        changed(read=read.to(ITEMS), fan=None),
        "read#1: it went to fan (next), and goes to items (next) in flow 'desk' today",
        "read#1: it went to fan (next), and goes to items in flow 'desk' today",
    ),
    (
        changed(read=read.to(MORE_FAN), fan=MORE_FAN.to(ITEMS)),
        "fan#1: there was no branch third, and there is one in flow 'desk' today",
        "",
    ),
    (
        changed(read=read.to(ONE_FAN), fan=ONE_FAN.to(ITEMS)),
        "fan#1: there were 2 branches, and there are 1 in flow 'desk' today",
        "fan#1/right#1: there is no node fan/right in flow 'desk' today",
    ),
    (
        changed(fan=FAN.to(FEW), items=FEW.to(check)),
        "items#1: there were 2 items, and there are 1 in flow 'desk' today",
        "",
    ),
    (
        changed(fan=FAN.to(PLAIN), items=PLAIN.to(check)),
        "items#1: other visits stood inside it, and it is a single node in flow 'desk' today",
        "items#1: it was of the kind each, and is a function in flow 'desk' today",
    ),
    (
        changed(
            read=None,
            fan=None,
            items=None,
            check=check.to(good=end, poor=mend).on_error(mend),
            mend=mend.to(check),
        ),
        "the run began with read, and flow 'desk' begins with check today",
        "the run began with read, and flow 'desk' begins with check today",
    ),
]


@pytest.fixture(scope="module")
def then() -> RunResult[str]:
    result = FlowRunner()(desk, Desk())
    assert result.path == "read > fan(left | right) > items(count | count) > check! > mend > check > end"
    return result


def test_a_run_goes_the_same_way_through_its_own_flow(then: RunResult[str]) -> None:
    assert (replay(then, desk).visits, replay(then.trace, desk).walked) == (11, True)
    file = recording_of(then.trace)
    assert (replay(file, desk).visits, replay(file, desk).walked) == (11, False)


@pytest.mark.behaviour("TEST-6")
@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_another_way_is_told_at_its_visit(then: RunResult[str], number: int) -> None:
    flow, of_values, of_routes = CHANGES[number]
    with pytest.raises(AssertionError) as raised:
        replay(then, flow)
    assert str(raised.value) == of_values
    if of_routes:
        with pytest.raises(AssertionError) as raised:
            replay(recording_of(then.trace), flow)
        assert str(raised.value) == of_routes


def test_a_limit_of_visits_that_is_new_is_told(then: RunResult[str]) -> None:
    limited = changed(check=check.to(good=end, poor=mend).on_error(mend).using(max_visits=1).over_limit(end))
    with pytest.raises(AssertionError, match="check#2: it was not over its limit of visits, and is in flow"):
        replay(then, limited)


def test_what_was_added_beside_the_way_changes_nothing(then: RunResult[str]) -> None:
    more = changed(check=check.to(good=end, poor=other).on_error(mend), other=other)
    assert replay(then, more).visits == replay(recording_of(then.trace), more).visits == 11


def test_what_is_no_record_is_one_clear_error() -> None:
    with pytest.raises(TypeError, match="replay: give a result, a trace or a recording, not a str"):
        replay("trace.json", desk)  # type: ignore[arg-type]
