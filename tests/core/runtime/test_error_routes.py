"""Error routes: which failure takes which one, and what its target sees."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from flowcore import Budget, BudgetExhausted, Complete, Continue, ContractError, Flow, Step, node, result_of

from ..runs import Boom, does, raising
from ..states import Note


class Worse(Boom):
    pass


def failing(error: BaseException, **options: Any) -> Any:
    """Returns a node `bad` that changes the state and then raises."""

    def change(step: Any) -> None:
        step.state.number = 99
        step.state.words.append("lost")

    return does(raising(change, error), "bad", Note, **options)


def target(id: str) -> Any:
    """Returns a node that completes with its own id and what it sees."""
    return does(lambda step: Complete((id, step.state.number, step.error)), id, Note, Complete[Any])


first, second, third = target("first"), target("second"), target("third")


@pytest.mark.behaviour("S2-27")
async def test_the_target_runs_once_and_sees_the_error_and_the_state_from_before() -> None:
    error = Boom("no luck")
    ran: list[tuple[str, Any]] = []

    def rescue(id: str) -> Any:
        def act(step: Any) -> Complete[Any]:
            ran.append((step.path, step.error))
            return Complete((id, step.state.number, step.error))

        return does(act, id, Note, Complete[Any])

    first, second = rescue("first"), rescue("second")
    result = await Flow("f", failing(error).to(second).on_error(first), first, second).run(
        Note(number=3), check=False
    )
    assert result.value is not None
    assert ran == [("first#1", result.value[2])]
    name, number, failure = result.value
    assert (name, number, result.trace.path) == ("first", 3, "bad! > first")
    assert (failure.path, failure.type, failure.code) == ("bad#1", "Boom", "exception")
    assert (failure.message, failure.attempts, failure.exception) == ("no luck", 1, error)
    assert str(failure) == "Boom: no luck"
    assert result.state == Note(number=3)
    assert (result.trace[0].kind, result.trace[0].label, result.trace[0].target) == ("error", "Boom", "first")


@pytest.mark.behaviour("S2-27")
async def test_what_each_error_led_to_ran_once_and_only_there_is_the_error_seen() -> None:
    ran: list[tuple[str, str | None]] = []

    def look(step: Any) -> None:
        ran.append((step.path, step.error.message if step.error else None))

    def bad(step: Any) -> Any:
        look(step)
        if step.visit < 3:
            raise Boom(f"no {step.visit}")
        return Complete(None)

    x = does(bad, "x", Note, Continue | Complete[None], starts_round=True)
    rescue, back = does(look, "rescue", Note), does(look, "back", Note)
    await Flow("f", x.to(back).on_error(rescue), rescue.to(back), back.to(x)).run(Note())
    assert ran == [
        ("x#1", None),
        ("rescue#1", "no 1"),
        ("back#1", None),
        ("x#2", None),
        ("rescue#2", "no 2"),
        ("back#2", None),
        ("x#3", None),
    ]


@pytest.mark.parametrize(
    ("routes", "error", "taken"),
    [
        ([(first, ValueError), (second, Boom), (third,)], Worse(), "second"),
        ([(first, Worse), (second, Boom)], Worse(), "first"),
        ([(second, Boom), (first, Worse)], Worse(), "second"),
        ([(first,), (second, Boom)], Boom(), "first"),
        ([(first, KeyError, Boom), (second,)], Boom(), "first"),
        ([(first, LookupError)], KeyError(), "first"),
        ([(first, TimeoutError)], ValueError(), "default"),
        ([], ValueError(), "default"),
    ],
)
async def test_the_first_route_that_matches_wins(routes: list[Any], error: Exception, taken: str) -> None:
    default = target("default")
    row = failing(error).to(third)
    for where, *types in routes:
        row = row.on_error(where, *types)
    rows = {id(item): item for item in (first, second, third)}
    used = [item for item in rows.values() if item is third or any(item is route[0] for route in routes)]
    result = await Flow("f", row, *used, default, on_error=default).run(Note(), check=False)
    assert result.value is not None
    assert result.value[0] == taken


async def test_none_as_the_target_opts_out_of_the_default_route() -> None:
    row = failing(Boom()).to(first)
    for opted in (row.on_error(None), row.on_error(None, Boom)):
        with pytest.raises(Boom):
            await Flow("f", opted, first, on_error=first).run(Note())
    result = await Flow("f", row.on_error(None, KeyError), first, on_error=first).run(Note(), check=False)
    assert result.trace.path == "bad! > first"


async def test_the_default_route_is_not_for_its_own_target() -> None:
    bad_target = does(raising(error=Worse("target")), "rescue", Note, Complete[Any])
    with pytest.raises(Worse) as caught:
        await Flow("f", failing(Boom()).to(first), first, bad_target, on_error=bad_target).run(Note())
    result = result_of(caught.value)
    assert result.trace.path == "bad! > rescue!"
    assert result.failure is not None
    assert result.failure.path == "rescue#1"


async def test_the_default_route_is_not_for_what_stands_inside_a_sub_flow() -> None:
    seen: list[str] = []
    inner = Flow("inner", failing(Boom("deep")).to(second), second)
    rescue = does(lambda step: Complete(seen.append(step.error.path)), "rescue", Note, Complete[Any])
    flow = Flow("f", inner.as_node("in").to(third), third, rescue, on_error=rescue)
    result = await flow.run(Note(), check=False)
    assert (result.trace.path, seen) == ("in!(bad!) > rescue", ["in#1/bad#1"])


async def test_a_target_is_a_node_like_any_other_and_may_lead_back() -> None:
    def bad(step: Any) -> Any:
        if step.visit < 3:
            raise Boom(step.visit)
        return Complete(step.visit)

    start = does(bad, "bad", Note, Complete[Any])
    mend = does(lambda step: step.state.words.append(step.error.message), "mend", Note)
    result = await Flow("f", start.on_error(mend), mend.to(start)).run(Note(), check=False)
    assert (result.value, result.state.words) == (3, ["1", "2"])
    assert result.trace.path == "bad! > mend > bad! > mend > bad"


async def test_step_error_is_only_for_the_node_that_the_error_led_to() -> None:
    seen: list[Any] = []
    look = does(lambda step: seen.append(step.error), "look", Note)
    again = does(lambda step: seen.append(step.error), "again", Note)
    last = does(lambda step: Complete(seen.append(step.error)), "last", Note, Complete[Any])
    limited = again.to(last).using(max_visits=0).over_limit(last)
    await Flow("f", failing(Boom()).to(look).on_error(look), look.to(again), again.to(last), last).run(Note())
    assert [item is not None for item in seen] == [True, False, False]
    seen.clear()
    await Flow("f", failing(Boom()).to(again).on_error(again), limited, last).run(Note())
    assert seen == [None]


# ---- What no route takes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("wrapped", [lambda e: e, lambda e: ExceptionGroup("g", [e]), lambda e: group_of_two(e)])
async def test_a_contract_error_is_never_routed_at_any_level(wrapped: Any) -> None:
    inner = Flow("inner", failing(wrapped(ContractError("broken"))).to(second).on_error(second), second)
    flow = Flow("f", inner.as_node("in").to(first).on_error(first), first, on_error=first)
    result = await flow.run(Note(), check=False)
    assert result.failure is not None
    assert (result.status, result.trace.path, result.failure.path) == ("failed", "in!(bad!)", "in#1/bad#1")


def group_of_two(error: Exception) -> ExceptionGroup[Exception]:
    return ExceptionGroup("g", [ValueError("x"), error])


@pytest.mark.behaviour("S2-26")
async def test_running_out_on_entry_is_not_routed_at_any_level_and_no_handler_runs() -> None:
    ran: list[str] = []
    paid = does(lambda step: ran.append("paid"), "paid", Note, starts_round=True)
    inner = Flow("inner", paid.to(second).on_error(second), second)
    flow = Flow(
        "f", paid.to(inner.as_node("in")), inner.as_node("in").to(first).on_error(first), first, on_error=first
    )
    with pytest.raises(BudgetExhausted) as caught:
        await flow.run(Note(), budget=Budget(rounds=1))
    result = result_of(caught.value)
    assert (ran, result.exhausted, result.trace.path) == (["paid"], "rounds", "paid > in!")
    error = caught.value
    assert (error.dimension, error.limit, error.used, error.path) == ("rounds", 1, 1, "")


async def test_requests_that_run_out_in_a_handler_take_its_error_route() -> None:
    async def spend(step: Any) -> None:
        for _ in range(3):
            async with step.scope.request():
                pass

    bad = does(spend, "bad", Note)
    flow = Flow("f", bad.to(first).on_error(first), first)
    result = await flow.run(Note(), budget=Budget(requests=2), check=False)
    assert (result.status, result.trace.path, result.usage.requests) == ("completed", "bad! > first", 2)
    unrouted = await Flow("f", bad.to(first), first).run(Note(), budget=Budget(requests=2), check=False)
    assert (unrouted.status, unrouted.exhausted) == ("failed", "requests")


@pytest.mark.behaviour("S2-30")
async def test_a_cancellation_is_not_routed_and_leaves_no_trace_of_the_node() -> None:
    started = anyio.Event()

    async def wait(step: Any) -> None:
        step.state.number = 9
        started.set()
        await anyio.sleep_forever()

    flow = Flow("f", does(wait, "wait", Note).to(first).on_error(first), first, on_error=first)
    async with flow.start(Note()) as run:
        await started.wait()
        await run.cancel()
        result = await run.wait()
    assert (result.status, result.reason, result.state) == ("cancelled", "user", Note())
    assert [visit.kind for visit in result.trace] == ["unfinished"]


# ---- How it comes out --------------------------------------------------------------------------------------


async def test_the_users_own_exception_comes_out_with_its_path_as_a_note() -> None:
    error = Worse("mine")
    inner = Flow("inner", failing(error).to(second), second)
    with pytest.raises(Worse) as caught:
        await Flow("f", inner.as_node("in").to(first), first).run(Note())
    assert caught.value is error
    assert caught.value.__notes__ == ["at in#1/bad#1"]
    result = result_of(caught.value)
    assert (result.status, result.value, result.exhausted) == ("failed", None, None)
    assert result.failure is not None
    assert result.failure.exception is error


async def test_one_exception_raised_by_two_runs_has_the_result_of_the_last_one() -> None:
    error = Worse("shared")
    flow = Flow("f", failing(error).to(second), second)
    for run_id in ("one", "two"):
        with pytest.raises(Worse) as caught:
            await flow.run(Note(), run_id=run_id)
        assert result_of(caught.value).trace.run_id == run_id
    assert error.__notes__ == ["at bad#1"]


async def test_a_group_of_one_comes_out_unwrapped_however_deep() -> None:
    error = Boom("inside")
    nested = ExceptionGroup("a", [ExceptionGroup("b", [error])])
    with pytest.raises(Boom) as caught:
        await Flow("f", failing(nested).to(second), second).run(Note())
    assert caught.value is error
    result = await Flow("f", failing(nested).to(second).on_error(first, Boom), first, second).run(
        Note(), check=False
    )
    assert result.value is not None
    assert result.value[2].type == "Boom"


async def test_a_failing_task_group_in_a_node_is_an_ordinary_failure() -> None:
    async def groups(step: Any) -> None:
        async def fail() -> None:
            raise Boom("task")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fail)
            tasks.start_soon(anyio.sleep_forever)

    result = await Flow("f", does(groups, "bad", Note).to(first).on_error(first, Boom), first).run(
        Note(), check=False
    )
    assert result.trace.path == "bad! > first"


async def test_a_group_of_several_is_one_failure() -> None:
    pair = ExceptionGroup("two", [Boom("a"), KeyError("b")])
    result = await Flow("f", failing(pair).to(second).on_error(first), first, second).run(Note(), check=False)
    assert result.value is not None
    assert result.value[2].type == "ExceptionGroup"
    with pytest.raises(ExceptionGroup):
        await Flow("f", failing(pair).to(second), second).run(Note())


def test_result_of_an_error_that_no_run_raised_is_a_lookup_error() -> None:
    with pytest.raises(LookupError, match="ValueError was not raised by a run"):
        result_of(ValueError())


async def test_errors_that_resist_are_reported_all_the_same() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise KeyError("no message")

    class Stone(Exception):
        def __setattr__(self, name: str, value: object) -> None:
            raise AttributeError("set in stone")

    result = await Flow("f", failing(Mute()).to(second).on_error(first), first, second).run(Note(), check=False)
    assert result.value is not None
    assert result.value[2].type == "Mute"
    with pytest.raises(Stone) as caught:
        await Flow("f", failing(Stone()).to(second), second).run(Note())
    assert result_of(caught.value).status == "failed"


@node
def stops(step: Step[Note]) -> Continue:
    raise StopIteration("from a thread")


async def test_a_stop_iteration_is_a_failure_like_any_other() -> None:
    result = await Flow("f", stops.to(second).on_error(first), first, second).run(Note(), check=False)
    assert result.trace.path == "stops! > first"
