"""Events: what a run tells, in which order, and that nobody who listens can change it."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import anyio
import anyio.lowlevel
import pytest

from flowcore import Budget, Complete, Continue, Flow, Retry, Step, node
from flowcore.events import Event

from ..clock import START, HandClock
from ..runs import Boom, chain, does, ends, raising
from ..states import Note

TERMINAL = {"run.completed", "run.failed", "run.cancelled"}


def busy_flow() -> Flow[Any, Any, Any]:
    """Returns a flow that tells every kind of thing there is to tell without a model."""

    def twice(step: Any) -> Any:
        step.emit("note", {"visit": step.visit})
        step.state.number += 1
        if step.attempt == 1 and step.visit == 1:
            raise Boom("first attempt")
        return Continue("more" if step.visit == 1 else "done", why={"visit": step.visit})

    again = does(twice, "again", Note, Continue[Literal["more", "done"]])
    bad = does(raising(), "bad", Note)
    end = ends(Note)
    inner = Flow("inner", bad.to(end).on_error(end), end).as_node("in")
    limited = does(lambda step: None, "limited", Note)
    return Flow(
        "busy",
        again.to(more=again, done=inner).using(retry=Retry(attempts=2)),
        inner.to(limited),
        limited.to(end).using(max_visits=0).over_limit(end),
        end,
    )


EXPECTED = [
    ("run.started", ""),
    ("round.started", "again#1"),
    ("node.started", "again#1"),
    ("custom", "again#1"),
    ("node.retrying", "again#1"),
    ("custom", "again#1"),
    ("state.patched", "again#1"),
    ("node.finished", "again#1"),
    ("route.taken", "again#1"),
    ("round.started", "again#2"),
    ("node.started", "again#2"),
    ("custom", "again#2"),
    ("state.patched", "again#2"),
    ("node.finished", "again#2"),
    ("route.taken", "again#2"),
    ("node.started", "in#1"),
    ("round.started", "in#1/bad#1"),
    ("node.started", "in#1/bad#1"),
    ("node.failed", "in#1/bad#1"),
    ("route.taken", "in#1/bad#1"),
    ("node.started", "in#1/end#1"),
    ("node.finished", "in#1/end#1"),
    ("node.finished", "in#1"),
    ("route.taken", "in#1"),
    ("route.taken", "limited#1"),
    ("node.started", "end#1"),
    ("node.finished", "end#1"),
    ("run.completed", ""),
]


async def told(flow: Flow[Any, Any, Any], **options: Any) -> list[Event]:
    seen: list[Event] = []
    await flow.run(Note(), observers=[seen.append], check=False, **options)
    return seen


async def test_a_run_tells_everything_in_order_without_gaps_and_ends_once() -> None:
    seen = await told(busy_flow(), run_id="r1")
    assert [(event.kind, event.path) for event in seen] == EXPECTED
    assert [event.seq for event in seen] == list(range(1, len(EXPECTED) + 1))
    assert {event.run_id for event in seen} == {"r1"}


@pytest.mark.behaviour("A139")
async def test_a_route_tells_its_kind_label_reason_and_alternatives() -> None:
    routes = [event for event in await told(busy_flow()) if event.kind == "route.taken"]
    assert [(e.route, e.label, e.target, e.why, e.alternatives) for e in routes] == [  # type: ignore[attr-defined]
        ("label", "more", "again", {"visit": 1}, ("done",)),
        ("label", "done", "in", {"visit": 2}, ("more",)),
        ("error", "Boom", "end", None, ()),
        ("next", "", "limited", None, ()),
        ("over_limit", "", "end", None, ()),
    ]


async def test_the_trace_knows_the_numbers_of_the_events_with_and_without_observers() -> None:
    without = await busy_flow().run(Note(), check=False)
    watched = await busy_flow().run(Note(), observers=[lambda event: None] * 3, check=False)
    numbers = [
        [(record.first_seq, record.last_seq) for record in run.trace.ordered()] for run in (without, watched)
    ]
    assert numbers[0] == numbers[1]
    assert without.trace.to_text() == watched.trace.to_text()


async def test_a_handle_gives_the_same_events_live_and_afterwards() -> None:
    async with busy_flow().start(Note()) as run:
        live = [event async for event in run.events()]
        again = [event async for event in run.events()]
        part = [event async for event in run.events(after=20)]
    assert [(event.kind, event.path) for event in live] == EXPECTED
    assert again == live
    assert part == live[20:]


async def test_two_runs_side_by_side_do_not_mix_their_events() -> None:
    seen: dict[str, list[int]] = {"a": [], "b": []}

    async def watch(run_id: str) -> None:
        flow = chain(Note, *[lambda step: anyio.lowlevel.checkpoint()] * 5)
        await flow.run(Note(), run_id=run_id, observers=[lambda event: seen[event.run_id].append(event.seq)])

    async with anyio.create_task_group() as tasks:
        for run_id in seen:
            tasks.start_soon(watch, run_id)
    assert seen["a"] == seen["b"] == list(range(1, len(seen["a"]) + 1))


@pytest.mark.parametrize(
    ("act", "budget", "last"),
    [
        (lambda step: None, None, "run.completed"),
        (raising(), None, "run.failed"),
        (lambda step: None, Budget(rounds=0), "run.failed"),
        (lambda step: anyio.sleep_forever(), Budget(seconds=0.05), "run.failed"),
    ],
    ids=["completed", "failed", "out of rounds", "out of time"],
)
async def test_every_run_has_one_terminal_event_the_last_and_every_visit_an_end(
    act: Any, budget: Any, last: str
) -> None:
    end = ends(Note)
    seen = await told(Flow("f", does(act, "n", Note).to(end), end), budget=budget)
    assert [event.kind for event in seen if event.kind in TERMINAL] == [last]
    assert seen[-1].kind == last
    started = [event.path for event in seen if event.kind == "node.started"]
    ended = [event.path for event in seen if event.kind in ("node.finished", "node.failed")]
    assert sorted(started) == sorted(ended)


async def test_events_are_frozen_and_at_the_clocks_time() -> None:
    clock = HandClock()

    def wait(step: Any) -> None:
        clock.now += 5

    seen = await told(chain(Note, wait), clock=clock)
    assert [(event.at - START).total_seconds() for event in seen] == [0] * 3 + [5] * 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        seen[0].seq = 9  # type: ignore[misc]


# ---- Observers ---------------------------------------------------------------------------------------------


@pytest.mark.behaviour("S2-32")
async def test_an_observer_that_raises_changes_nothing_for_the_run_or_for_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def bad(event: Event) -> None:
        raise Boom("observer")

    seen: list[str] = []
    result = await busy_flow().run(Note(), observers=[bad, lambda event: seen.append(event.kind)], check=False)
    assert result.status == "completed"
    assert seen == [kind for kind, _ in EXPECTED]
    assert "in!" not in result.trace.path
    assert "an observer failed on run.started; the run is not affected" in caplog.text


async def test_an_async_observer_is_awaited_and_keeps_its_order() -> None:
    seen: list[int] = []

    async def watch(event: Event) -> None:
        await anyio.lowlevel.checkpoint()
        seen.append(event.seq)

    async with busy_flow().start(Note(), observers=[watch]) as run:
        await run.wait()
        while len(seen) < len(EXPECTED):
            await anyio.lowlevel.checkpoint()
    assert seen == list(range(1, len(EXPECTED) + 1))


@pytest.mark.behaviour("S2-32")
async def test_an_observer_that_never_returns_does_not_hold_the_run() -> None:
    async def stuck(event: Event) -> None:
        await anyio.sleep_forever()

    with anyio.fail_after(5):
        result = await busy_flow().run(Note(), observers=[stuck], check=False)
    assert result.status == "completed"


@pytest.mark.behaviour("S2-32")
async def test_an_observer_that_edits_what_it_is_told_changes_nothing() -> None:
    def spoil(event: Any) -> None:
        if event.kind == "state.patched":
            event.patch["words"].append("spoilt")
            event.patch["number"] = 99

    async def look(step: Any) -> None:
        for _ in range(10):
            await anyio.lowlevel.checkpoint()

    flow = chain(Note, lambda step: step.state.words.append("a"), look)
    result = await flow.run(Note(), observers=[spoil], check=False)
    assert result.state == Note(words=["a"])
    assert dict(result.trace[0].patch) == {"words": ["a"]}


@node
def from_a_thread(step: Step[Note]) -> Complete[None]:
    for number in range(50):
        step.emit("tick", number)
    return Complete(None)


async def test_what_a_thread_emits_is_told_in_order_before_its_visit_ends() -> None:
    seen = await told(Flow("f", from_a_thread))
    assert [event.data for event in seen if event.kind == "custom"] == list(range(50))  # type: ignore[attr-defined]
    assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
    assert [event.kind for event in seen[-2:]] == ["node.finished", "run.completed"]


async def test_a_step_that_leaked_tells_nothing_after_its_visit() -> None:
    kept: list[Any] = []

    def use(step: Any) -> None:
        kept[0].emit("late")

    flow = chain(Note, lambda step: kept.append(step), use)
    seen = await told(flow)
    kept[0].emit("later")
    assert [event for event in seen if event.kind == "custom"] == []
    assert seen[-1].kind == "run.completed"


async def test_what_a_node_told_stays_as_it_was() -> None:
    def tell(step: Any) -> None:
        step.state.words.append("a")
        step.emit("words", step.state.words)
        step.state.words.append("b")

    seen: list[Any] = []
    await chain(Note, tell).run(Note(), observers=[lambda event: seen.append(getattr(event, "data", None))])
    assert ["a"] in seen
