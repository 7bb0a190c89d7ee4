"""Scopes and budgets: one step checks and counts, and whatever stands inside spends from what is around it."""

from __future__ import annotations

import math
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from flowcore import Budget, BudgetExhausted, Reserve, Scope, Usage, current_scope

DIMENSIONS = ("rounds", "requests", "tool_calls", "tokens", "cost")


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_a_limit_refuses_what_would_go_over_it_and_counts_nothing(dimension: str) -> None:
    scope = Scope(Budget(**{dimension: 5}))
    scope.charge(**{dimension: 3})
    with pytest.raises(BudgetExhausted) as caught:
        scope.charge(**{dimension: 3})
    error = caught.value
    assert (error.dimension, error.limit, error.used, error.path) == (dimension, 5, 3, "")
    assert getattr(scope.used, dimension) == 3
    scope.charge(**{dimension: 2})
    assert scope.remaining[dimension] == 0


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_zero_refuses_the_first_use_and_none_refuses_nothing(dimension: str) -> None:
    with pytest.raises(BudgetExhausted):
        Scope(Budget(**{dimension: 0})).charge(**{dimension: 1})
    free = Scope(Budget(**{dimension: None}))
    free.charge(**{dimension: 10**6})
    assert free.remaining[dimension] is None


def test_a_charge_of_several_dimensions_is_one_step() -> None:
    scope = Scope(Budget(requests=5, tool_calls=1))
    with pytest.raises(BudgetExhausted):
        scope.charge(requests=1, tool_calls=2)
    assert scope.used == Usage()


def test_a_narrower_scope_spends_from_its_parents_and_can_only_be_tighter() -> None:
    run = Scope(Budget(requests=3))
    part = run.narrow(Budget(requests=10), path="part#1")
    inner = part.narrow(Budget(requests=2), path="part#1/inner#1")
    assert inner.remaining["requests"] == 2
    inner.charge(requests=2)
    with pytest.raises(BudgetExhausted) as caught:
        inner.charge(requests=1)
    assert (caught.value.path, caught.value.limit) == ("part#1/inner#1", 2)
    part.charge(requests=1)
    with pytest.raises(BudgetExhausted) as caught:
        part.charge(requests=1)
    assert (caught.value.path, caught.value.limit) == ("", 3)
    assert [scope.used.requests for scope in (run, part, inner)] == [3, 3, 2]


def test_what_a_parent_refuses_is_counted_nowhere() -> None:
    run = Scope(Budget(requests=1))
    part = run.narrow(Budget(requests=5))
    part.charge(requests=1)
    with pytest.raises(BudgetExhausted):
        part.charge(requests=1)
    assert (run.used.requests, part.used.requests) == (1, 1)


@pytest.mark.parametrize("amount", [-1, math.nan, math.inf, -math.inf])
def test_an_amount_that_is_no_amount_is_refused_and_spoils_nothing(amount: float) -> None:
    scope = Scope(Budget(tokens=5))
    for spend in (scope.charge, scope.add):
        with pytest.raises(ValueError, match="zero or more"):
            spend(tokens=amount)
    assert scope.used == Usage()


def test_a_dimension_that_is_none_is_refused() -> None:
    for spend in (Scope().charge, Scope().add):
        with pytest.raises(TypeError, match="'seconds' cannot be charged: use one of rounds, requests"):
            spend(seconds=1)


@pytest.mark.parametrize("limits", [{"rounds": -1}, {"cost": -0.5}, {"seconds": math.nan}, {"tokens": -1}])
def test_a_negative_limit_is_a_value_error(limits: Any) -> None:
    with pytest.raises(ValueError, match="give zero or more"):
        Budget(**limits)


def test_a_limit_without_end_is_none_and_cannot_be_held_back() -> None:
    assert Budget(cost=math.inf, seconds=math.inf) == Budget()
    with pytest.raises(ValueError, match=r"Reserve\(seconds=inf\): give a number that can be held back"):
        Reserve(seconds=math.inf)


@pytest.mark.parametrize("limits", [{"rounds": 1.5}, {"requests": True}, {"tokens": "5"}, {"seconds": "5"}])
def test_a_limit_of_the_wrong_type_is_a_type_error(limits: Any) -> None:
    with pytest.raises(TypeError, match="number, or None for no limit"):
        Budget(**limits)


# ---- Overruns ----------------------------------------------------------------------------------------------


async def test_an_answer_that_overran_is_kept_and_the_next_request_is_refused() -> None:
    scope = Scope(Budget(tokens=100))
    async with scope.request() as request:
        request.used(tokens=150)
    assert (scope.used.tokens, scope.remaining["tokens"]) == (150, 0)
    with pytest.raises(BudgetExhausted) as caught:
        async with scope.request():
            pass
    assert (caught.value.dimension, caught.value.used) == ("tokens", 150)
    assert scope.used.requests == 1


async def test_usage_is_added_once_for_each_request() -> None:
    scope = Scope()
    async with scope.request() as request:
        request.used(tokens=10, cost=0.5)
        request.used(tokens=10, cost=0.5)
    assert (scope.used.tokens, scope.used.cost) == (10, 0.5)


async def test_a_request_that_fails_was_still_sent() -> None:
    scope = Scope(Budget(requests=1))
    with pytest.raises(KeyError):
        async with scope.request():
            raise KeyError
    assert scope.used.requests == 1


# ---- Asking ------------------------------------------------------------------------------------------------


def test_can_invoke_reads_the_real_counters_each_time_and_spends_nothing() -> None:
    run = Scope(Budget(requests=2, rounds=1))
    part = run.narrow(Budget(requests=9, rounds=9))
    assert part.can_invoke()
    assert part.can_invoke(requests=2, rounds=1)
    assert not part.can_invoke(requests=3)
    assert not part.can_invoke(requests=0, rounds=2)
    run.charge(requests=2)
    assert not part.can_invoke()
    assert part.can_invoke(requests=0, rounds=1)
    assert part.can_invoke(requests=0)
    assert run.used == Usage(requests=2)


def test_can_invoke_says_no_after_an_overrun() -> None:
    scope = Scope(Budget(tokens=5))
    scope.add(tokens=5)
    assert not scope.can_invoke()
    assert scope.can_invoke(requests=0, rounds=1)


def test_what_remains_never_goes_up() -> None:
    scope = Scope(Budget(rounds=3, tokens=4))
    seen = [scope.remaining["tokens"]]
    for amount in (1, 0, 9, 0):
        scope.add(tokens=amount)
        seen.append(scope.remaining["tokens"])
    assert seen == [4, 3, 3, 0, 0]


# ---- At the same time --------------------------------------------------------------------------------------


def test_of_many_threads_exactly_as_many_get_through_as_are_left() -> None:
    for _ in range(20):
        run = Scope(Budget(requests=50))
        parts = [run.narrow(Budget(requests=40)) for _ in range(8)]
        ready = threading.Barrier(8)
        refused: list[int] = []

        def spend(part: Scope, ready: threading.Barrier = ready, refused: list[int] = refused) -> int:
            ready.wait()
            done = 0
            for _ in range(10):
                try:
                    part.charge(requests=1)
                except BudgetExhausted:
                    refused.append(1)
                else:
                    done += 1
            return done

        with ThreadPoolExecutor(8) as pool:
            done = list(pool.map(spend, parts))
        assert (sum(done), run.used.requests, len(refused)) == (50, 50, 30)


async def test_with_five_left_eight_tasks_start_five() -> None:
    scope = Scope(Budget(requests=5))
    started: list[int] = []

    async def work(number: int) -> None:
        try:
            async with scope.request():
                started.append(number)
                await anyio.lowlevel.checkpoint()
        except BudgetExhausted:
            return

    async with anyio.create_task_group() as tasks:
        for number in range(8):
            tasks.start_soon(work, number)
    assert (len(started), scope.used.requests) == (5, 5)


# ---- Finding it --------------------------------------------------------------------------------------------


async def test_a_scope_is_found_inside_of_its_block_and_not_outside() -> None:
    with pytest.raises(LookupError, match="no scope here"):
        current_scope()
    async with Scope(Budget(requests=3)) as outer:
        assert current_scope() is outer
        async with outer.narrow(Budget(requests=1)) as inner:
            assert current_scope() is inner
        assert current_scope() is outer
        async with outer:
            assert current_scope() is outer
        assert current_scope() is outer
    with pytest.raises(LookupError):
        current_scope()


async def test_a_scope_is_found_in_threads_and_tasks_beneath_it() -> None:
    found: list[Scope] = []

    async def look() -> None:
        found.append(current_scope())

    async with Scope() as scope:
        await anyio.to_thread.run_sync(lambda: found.append(current_scope()))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(look)
    assert found == [scope, scope]


def test_usage_says_what_was_spent() -> None:
    assert str(Usage()) == "used 0 rounds"
    assert (
        str(Usage(rounds=1, requests=2, tool_calls=1, tokens=1))
        == "used 1 round, 2 requests, 1 tool call, 1 token"
    )
