"""Branches that are stopped: losers, timeouts, cancellation, and branches that do not stop."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from tests.stepping import StepClock, passes

from flowcore import (
    Budget,
    Flow,
    NodeTimeout,
    Retry,
    Run,
    parallel,
)
from flowcore.events import Event

from ..core.runs import Boom, does, ends, raising
from .branching import adds, check_events, leaf, waiting
from .moving import finished
from .states import Page, around, last

# ---- Time and cancellation ---------------------------------------------------------------------------------


async def test_a_timeout_of_the_parallel_stops_all_branches_and_takes_its_error_route() -> None:
    clock = StepClock()
    end = last()
    fan = parallel("fan", leaf("a", waiting(clock, 1.0)), leaf("b", waiting(clock, 9.0)))
    flow = Flow("f", fan.using(timeout=3).to(end).on_error(end, NodeTimeout), end)
    result = await finished(flow, Page(), clock)
    assert (result.status, result.usage.seconds) == ("completed", 3.0)
    assert (result.value.type, result.value.path) == ("NodeTimeout", "fan#1")
    assert result.trace.path == "fan!(a | b!) > end"


async def test_a_timeout_of_one_branch_is_a_failure_of_that_branch() -> None:
    clock = StepClock()
    slow = leaf("slow", waiting(clock, 9.0)).using(timeout=2).on_error(leaf("h", adds("h")), NodeTimeout)
    result = await finished(around(parallel("fan", slow, leaf("a", waiting(clock, 3.0)))), Page(), clock)
    assert (result.trace.path, result.usage.seconds) == ("fan(slow! > h | a) > end", 3.0)


async def test_the_node_timeout_of_the_flow_holds_for_branches() -> None:
    clock = StepClock()
    fan = parallel("fan", leaf("slow", waiting(clock, 9.0)), leaf("a"))
    end = last()
    flow = Flow("f", fan.to(end).on_error(end), end, node_timeout=2)
    result = await finished(flow, Page(), clock)
    assert (result.value.path, result.usage.seconds) == ("fan#1/slow#1", 2.0)


async def test_the_time_of_the_run_ends_branches_and_counts_as_running_out() -> None:
    clock = StepClock()
    fan = parallel("fan", leaf("a", waiting(clock, 1.0)), leaf("b", waiting(clock, 9.0)), join="all")
    result = await finished(around(fan, caught=True), Page(), clock, budget=Budget(seconds=4))
    assert (result.status, result.exhausted, result.usage.seconds) == ("failed", "seconds", 4.0)


@pytest.mark.behaviour("A43", "A61")
async def test_cancelling_the_run_stops_every_branch_and_shows_how_far_each_got() -> None:
    clock = StepClock()
    cleaned: list[str] = []

    async def long(step: Any) -> None:
        try:
            await clock.sleep(100)
        finally:
            cleaned.append(step.path)

    async def cancel(run: Run[Any]) -> None:
        await passes(5)
        await run.cancel()

    fan = parallel("fan", leaf("a"), leaf("b", long), leaf("c", long))
    told: list[Event] = []
    result = await finished(around(fan, caught=True), Page(), clock, meanwhile=cancel, observers=[told.append])
    assert (result.status, result.reason, result.stragglers) == ("cancelled", "user", ())
    assert sorted(cleaned) == ["fan#1/b#1", "fan#1/c#1"]
    assert result.trace.path == "fan!(a | b! | c!)"
    assert clock.now == 0.0
    await passes()
    check_events(told)
    assert told[-1].kind == "run.cancelled"


@pytest.mark.parametrize("join", ["all", "any"])
async def test_events_of_branches_are_numbered_without_gaps_and_come_in_pairs(join: Any) -> None:
    clock = StepClock()
    told: list[Event] = []
    fan = parallel(
        "fan", leaf("a", waiting(clock, 2.0)), leaf("b", waiting(clock, 1.0, raising())).on_error(leaf("h")),
        leaf("c", waiting(clock, 3.0, raising())), join=join,
    )  # fmt: skip
    result = await finished(around(fan, caught=True), Page(), clock, observers=[told.append])
    await passes()
    check_events(told)
    assert result.status == "completed"


def stubborn(release: anyio.Event, ran: list[str]) -> Any:
    """Returns an act that swallows every request to stop until it is released."""

    async def act(step: Any) -> None:
        while not release.is_set():
            try:
                await release.wait()
            except anyio.get_cancelled_exc_class():
                ran.append("asked")
        ran.append("returned")

    return act


@pytest.mark.behaviour("A45")
async def test_a_loser_that_does_not_stop_is_given_up_named_and_the_run_goes_on() -> None:
    clock, release, ran = StepClock(), anyio.Event(), list[str]()
    told: list[Event] = []
    fan = parallel("fan", leaf("a", waiting(clock, 1.0, adds("a"))), leaf("b", stubborn(release, ran)), join="any")
    result = await finished(around(fan), Page(), clock, grace=2.0, observers=[told.append])
    asked = ran.count("asked")
    release.set()
    await passes()
    assert (result.status, result.trace.path) == ("completed", "fan(a) > end")
    assert result.stragglers == ("fan#1/b#1",)
    assert result.usage.seconds == 3.0
    assert 1 <= asked < 40
    check_events(told)
    assert ran[-1] == "returned"
    assert len(result.trace) == 4


async def test_what_a_given_up_branch_does_later_is_refused() -> None:
    clock, release, ran = StepClock(), anyio.Event(), list[str]()
    kept: list[Any] = []

    async def act(step: Any) -> None:
        await stubborn(release, ran)(step)
        for attempt in (lambda: step.scope.charge(requests=1), lambda: step.emit("late", 1)):
            try:
                kept.append(attempt())
            except BaseException as error:
                kept.append(type(error).__name__)

    async def slowly(step: Any) -> None:
        await clock.sleep(1.0)
        release.set()
        await passes()

    fan = parallel(
        "fan", leaf("a", waiting(clock, 1.0)), leaf("b", act).on_error(leaf("h", adds("h"))), join="any"
    )
    after, end = leaf("after", slowly), last()
    result = await finished(Flow("f", fan.to(after), after.to(end), end), Page(), clock, grace=2.0)
    assert result.status == "completed"
    assert result.usage.requests == 0
    assert not any(note.event.__name__ == "Custom" for note in result.trace.notes)
    assert "h" not in [visit.node for visit in result.trace]
    assert kept[0] in ("CancelledError", "Cancelled")


@pytest.mark.behaviour("A45")
async def test_cancelling_a_run_gives_up_the_branch_that_does_not_stop_and_only_that_one() -> None:
    clock, release, ran = StepClock(), anyio.Event(), list[str]()

    async def cancel(run: Run[Any]) -> None:
        await passes(5)
        await run.cancel()

    fan = parallel("fan", leaf("a", waiting(clock, 100.0)), leaf("b", stubborn(release, ran)))
    result = await finished(around(fan), Page(), clock, grace=2.0, meanwhile=cancel)
    release.set()
    await passes()
    assert (result.status, result.stragglers) == ("cancelled", ("fan#1/b#1",))
    assert result.usage.seconds == 2.0


@pytest.mark.parametrize("how", ["swallows", "fails", "answers late"])
async def test_a_loser_that_was_asked_to_stop_starts_retries_routes_and_pays_nothing(how: str) -> None:
    clock = StepClock()
    ran: list[str] = []

    async def lose(step: Any) -> None:
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            if how == "answers late":
                with anyio.CancelScope(shield=True):
                    await clock.sleep(0.3)
        if how == "fails":
            raise Boom("in cleanup")
        step.state.text = "late"

    def mark(id: str, **options: Any) -> Any:
        return does(lambda step: ran.append(id), id, Page, **options)

    following, inner_end = mark("following", starts_round=True), ends(Page)
    loser = leaf("loser", lose).using(retry=Retry(attempts=3)).to(following)
    sub = Flow("sub", loser, following.to(inner_end), inner_end)
    plain = leaf("plain", lose).on_error(mark("h", starts_round=True))
    fan = parallel("fan", leaf("win", waiting(clock, 1.0)), sub.as_node("sub"), plain, join="any")
    result = await finished(around(fan), Page(), clock)
    assert (result.status, result.trace.path) == ("completed", "fan(win) > end")
    assert ran == []
    assert result.usage.rounds == 0
    assert result.stragglers == ()
    kinds = {visit.path: visit.kind for visit in result.trace if visit.node in ("sub", "loser", "plain")}
    assert set(kinds.values()) == {"unfinished"}
    assert {visit.attempts for visit in result.trace if visit.node == "loser"} == {1}


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("at_once", [False, True])
async def test_losers_are_named_in_the_text_however_far_they_got(order: int, *, at_once: bool) -> None:
    clock = StepClock()
    win = leaf("win", adds("w") if at_once else waiting(clock, 1.0, adds("w")))
    lose = leaf("lose", waiting(clock, 5.0))
    branches = [win, lose] if order == 0 else [lose, win]
    result = await finished(around(parallel("fan", *branches, join="any")), Page(), clock)
    assert "    lose  [not finished]\n" in result.trace.to_text()
    assert result.trace.path == "fan(win) > end"
