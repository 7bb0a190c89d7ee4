"""Branches that fail: their error routes, whose failure is raised, and what becomes of the others."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from tests.stepping import StepClock, passes

from flowcore import (
    ContractError,
    Flow,
    Run,
    parallel,
    result_of,
)
from flowcore.events import Event

from ..core.runs import Boom, raising
from .branching import ORDERS, adds, leaf, waiting
from .moving import finished
from .states import Page, around, last

# ---- Error routes of branches ------------------------------------------------------------------------------


@pytest.mark.behaviour("A33")
@pytest.mark.parametrize("where", ["alone", "streaming", "inside a sub-flow"])
async def test_what_an_error_route_leads_to_goes_on_to_the_join(where: str) -> None:
    ran: list[Any] = []

    def handle(step: Any) -> None:
        ran.append(step.error)
        step.state.words.append("h")

    def spoiling(step: Any) -> None:
        step.state.words.append("spoilt")

    x = leaf("x", raising(spoiling)).on_error(leaf("h", handle))
    flow = around(parallel("fan", x, leaf("y", adds("y"))))
    if where == "inside a sub-flow":
        flow = around(flow.as_node("sub"))
    told: list[Event] = []

    async def follow(run: Run[Any]) -> None:
        told.extend([event async for event in run.events()])

    result = await finished(flow, Page(), meanwhile=follow if where == "streaming" else None)
    prefix = "sub#1/" if where == "inside a sub-flow" else ""
    assert result.status == "completed"
    assert [(error.path, error.type) for error in ran] == [(f"{prefix}fan#1/x#1", "Boom")]
    assert result.state.words == ["h", "y"]
    assert "fan(x! > h | y)" in result.trace.path
    assert result.failure is None
    paths = {visit.path: visit for visit in result.trace}
    assert (paths[f"{prefix}fan#1/x#1"].kind, paths[f"{prefix}fan#1/h#1"].kind) == ("error", "join")
    if where == "streaming":
        assert [event.seq for event in told] == list(range(1, len(told) + 1))
        assert told[-1].kind == "run.completed"


async def test_error_routes_of_a_branch_are_tried_in_order_and_one_handler_may_stand_in_two() -> None:
    h, other = leaf("h", adds("h")), leaf("other", adds("other"))
    x = (
        leaf("x", raising(error=KeyError("k")))
        .on_error(other, OSError)
        .on_error(h, ValueError)
        .on_error(h, KeyError)
    )
    result = await finished(around(parallel("fan", x)), Page())
    assert result.trace.path == "fan(x! > h) > end"


async def test_a_handler_may_have_an_error_route_of_its_own() -> None:
    second = leaf("second", adds("second"))
    h = leaf("h", raising(error=KeyError("k"))).on_error(second)
    result = await finished(around(parallel("fan", leaf("x", raising()).on_error(h))), Page())
    assert (result.trace.path, result.state.words) == ("fan(x! > h! > second) > end", ["second"])


async def test_the_default_route_of_the_flow_takes_the_parallel_and_not_its_branches() -> None:
    end, rescue = last(), leaf("rescue", adds("rescue"))
    fan = parallel("fan", leaf("x", raising()), leaf("y", adds("y")))
    flow = Flow("f", fan.to(end), rescue.to(end), end.on_error(None), on_error=rescue)
    result = await finished(flow, Page())
    assert (result.trace.path, result.state.words) == ("fan!(x!) > rescue > end", ["rescue"])


# ---- Failing -----------------------------------------------------------------------------------------------


async def test_where_one_of_all_fails_the_others_are_stopped_awaited_and_dropped() -> None:
    clock = StepClock()
    ends_of: list[str] = []

    async def long(step: Any) -> None:
        try:
            step.state.text = "half"
            await clock.sleep(100)
        finally:
            with anyio.CancelScope(shield=True):
                await clock.sleep(1.0)
            ends_of.append("cleaned")

    fan = parallel("fan", leaf("a", long), leaf("b", waiting(clock, 2.0, raising())), leaf("c", adds("c")))
    result = await finished(around(fan, caught=True), Page(), clock)
    assert ends_of == ["cleaned"]
    assert result.usage.seconds == 3.0
    assert (result.trace.path, result.value.path) == ("fan!(b!) > end", "fan#1/b#1")
    assert result.state == Page()
    assert result.stragglers == ()
    kinds = {visit.path: visit.kind for visit in result.trace}
    assert kinds == {
        "fan#1": "error", "fan#1/a#1": "unfinished", "fan#1/b#1": "failed", "fan#1/c#1": "join",
        "end#1": "complete",
    }  # fmt: skip


@ORDERS
async def test_of_several_failures_the_lowest_path_is_raised_and_the_others_are_attached(
    waits: tuple[float, ...],
) -> None:
    """Each fails while it is being stopped, whichever is first."""
    clock = StepClock()

    def failing(id: str, seconds: float) -> Any:
        async def act(step: Any) -> None:
            try:
                await clock.sleep(seconds)
            finally:
                raise Boom(id)

        return leaf(id, act)

    fan = parallel("fan", *(failing(id, s) for id, s in zip("abc", waits, strict=True)))
    result = await finished(around(fan), Page(), clock)
    assert result.status == "failed"
    assert result.failure is not None
    first = "abc"[waits.index(1.0)]
    assert result.failure.type == "Boom"
    failed = {visit.path: visit for visit in result.trace if visit.failure is not None}
    assert sorted(failed) == ["fan#1", "fan#1/a#1", "fan#1/b#1", "fan#1/c#1"]
    assert failed[f"fan#1/{first}#1"].kind == "failed"
    assert result.usage.seconds == 1.0


async def test_two_failures_in_the_same_moment_are_told_as_the_lowest_path_and_a_note() -> None:
    gate = anyio.Event()

    async def wait(step: Any) -> None:
        await gate.wait()
        raise Boom(step.path)

    async def open_gate(run: Run[Any]) -> None:
        await passes(5)
        gate.set()

    fan = parallel("fan", leaf("a", wait), leaf("b", wait))
    result = await finished(around(fan), Page(), meanwhile=open_gate)
    assert result.failure is not None
    assert result.failure.type == "Boom"
    assert isinstance(result.failure.exception, Boom)


@pytest.mark.behaviour("A59")
async def test_a_branch_that_fails_at_once_ends_the_stream_with_its_own_error() -> None:
    clock = StepClock()
    state: list[str] = []

    async def long(step: Any) -> None:
        state.append("begun")
        try:
            await clock.sleep(100)
        finally:
            state.append("ended")

    told: list[Event] = []
    fan = parallel("fan", leaf("guard", raising(error=ValueError("no"))), leaf("long", long))
    async with around(fan).start(Page(), clock=clock) as run:
        told = [event async for event in run.events()]
        with pytest.raises(ValueError, match="no") as caught:
            await run.result()
    assert "at fan#1/guard#1" in caught.value.__notes__
    assert told[-1].kind == "run.failed"
    assert state in (["begun", "ended"], [])
    assert clock.now == 0.0


async def test_a_contract_error_in_a_branch_takes_no_route_and_ends_any_join() -> None:
    wrong = leaf("wrong", lambda step: "nonsense")
    fan = parallel("fan", wrong, leaf("late", waiting(StepClock(), 1.0)), join="any")
    result = await finished(around(fan, caught=True), Page())
    assert result.status == "failed"
    assert result.failure is not None
    assert (result.failure.path, result.failure.code) == ("fan#1/wrong#1", ContractError.code)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
async def test_an_interrupt_in_a_branch_stops_its_siblings_and_is_raised(kind: type[BaseException]) -> None:
    clock = StepClock()
    cleaned: list[str] = []

    async def long(step: Any) -> None:
        try:
            await clock.sleep(100)
        finally:
            cleaned.append(step.path)

    fan = parallel("fan", leaf("a", long), leaf("b", waiting(clock, 0.0, raising(error=kind()))))
    raised: list[BaseException] = []

    async def run() -> None:
        try:
            await around(fan).run(Page(), clock=clock)
        except BaseException as error:
            raised.append(error)

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        while not raised:
            await passes()
            clock.tick()
    assert type(raised[0]) is kind
    assert (result_of(raised[0]).status, result_of(raised[0]).reason) == ("cancelled", "interrupt")
    assert cleaned == ["fan#1/a#1"]
