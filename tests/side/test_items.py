"""Items: one flow over many states, some at a time; results in item order; running out; what fails."""

from __future__ import annotations

import gc
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from tests.stepping import StepClock, passes

from flowcore import (
    Budget,
    Complete,
    Continue,
    ContractError,
    Flow,
    ItemFailure,
    Node,
    Reserve,
    Retry,
    Run,
    Unfinished,
    current_scope,
    each,
    parallel,
)
from flowcore.events import Event

from ..core.runs import Boom, does
from .moving import finished
from .states import Item, Page, around, item_flow, items, last, named


def tells(draft: Page, results: list[Any]) -> Continue:
    draft.plain = named(results)
    return Continue()


def takes_unfinished(draft: Page, results: list[int | Unfinished]) -> Continue:
    return tells(draft, results)


def mapped(do: Any, over: Any, collect: Any = tells, **options: Any) -> Node[Any, Any, Any, Any]:
    made: Any = each("map", over=over, do=do, collect=collect, **options)
    return made  # type: ignore[no-any-return]


def numbered(index: int) -> Item:
    return Item(index=index)


def nothing(step: Any) -> None: ...


# ---- How many ----------------------------------------------------------------------------------------------


@pytest.mark.behaviour("A63")
@pytest.mark.parametrize(("numbers", "total"), [([1, 2, 3], 6), ([], 0), ([5], 5)])
async def test_what_follows_runs_once_with_everything(numbers: list[int], total: int) -> None:
    ran: list[int] = []

    def over(page: Page) -> list[Item]:
        return [Item(index=number) for number in numbers]

    def collect(draft: Page, results: list[int]) -> Continue:
        draft.number = sum(results)
        return Continue()

    deliver = does(
        lambda step: ran.append(step.state.number) or Complete(step.state.number), "deliver", Page, Complete[int]
    )
    row = mapped(item_flow(nothing), over, collect)
    result = await finished(Flow("f", row.to(deliver), deliver), Page())
    assert (ran, result.value) == ([total], total)


async def test_no_items_pay_nothing_and_leave_a_line() -> None:
    result = await finished(around(mapped(item_flow(nothing, starts_round=True), items(0))), Page())
    assert (result.status, result.usage.rounds, result.trace.path) == ("completed", 0, "map > end")
    assert result.trace[0].kind == "next"


@pytest.mark.parametrize(
    "over",
    [
        lambda page: (Item(index=index) for index in range(3)),
        lambda page: tuple(Item(index=index) for index in range(3)),
        lambda page: dict.fromkeys(range(3)) and iter([Item(index=0), Item(index=1), Item(index=2)]),
        lambda page: map(numbered, range(3)),
    ],
    ids=["generator", "tuple", "iterator", "map"],
)
async def test_any_iterable_gives_items(over: Any) -> None:
    result = await finished(around(mapped(item_flow(nothing), over)), Page())
    assert result.state.plain == ["0", "1", "2"]


def test_a_hundred_thousand_items_come_to_an_end() -> None:
    count = 100_000
    row = mapped(item_flow(nothing), items(count), how_many, limit=10)
    result = around(row).run_sync(Page(), check=False, budget=Budget(rounds=None))
    assert (result.status, result.state.number) == ("completed", count)
    assert len(result.trace) == 2 * count + 2


async def test_what_is_kept_of_an_item_is_small() -> None:
    """A visit's record, the frame of the item, its state: nothing else stays."""
    row = mapped(item_flow(nothing), items(2000), how_many, limit=10)
    flow = around(row)
    await flow.run(Page(), budget=Budget(rounds=None))
    tracemalloc.start()
    try:
        result = await flow.run(Page(), check=False, budget=Budget(rounds=None))
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept / len(result.trace) < 1000


def how_many(draft: Page, results: list[int]) -> Continue:
    assert results == list(range(len(results)))
    draft.number = len(results)
    return Continue()


async def test_others_run_while_many_items_work_without_waiting() -> None:
    turns = 0
    over = False

    async def beside() -> None:
        nonlocal turns
        while not over:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        group.start_soon(beside)
        await around(mapped(item_flow(nothing), items(2000), limit=1)).run(Page())
        over = True
    assert turns > 10


# ---- What over gives ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [None, 5, object()], ids=["None", "5", "object"])
async def test_what_has_no_items_is_named(given: Any) -> None:
    result = await finished(around(mapped(item_flow(nothing), lambda page: given), caught=True), Page())
    assert result.status == "failed"
    assert result.failure is not None
    assert (result.failure.path, result.failure.code) == ("map#1", ContractError.code)
    assert "map#1: over returned" in result.failure.message
    assert "no items" in result.failure.message


@pytest.mark.parametrize("given", ["ab", [Item(), Page()], [Item(), None], {"a": Item()}], ids=str)
async def test_an_item_that_is_no_state_of_the_flow_is_named(given: Any) -> None:
    result = await finished(around(mapped(item_flow(nothing), lambda page: given), caught=True), Page())
    assert result.status == "failed"
    assert result.failure is not None
    assert result.failure.code == ContractError.code
    assert "map#1: item " in result.failure.message
    assert "Item" in result.failure.message
    assert [visit.path for visit in result.trace] == ["map#1"]


@pytest.mark.parametrize("error", [TypeError("mine"), Boom("mine")], ids=repr)
@pytest.mark.parametrize("late", [False, True])
async def test_an_error_of_over_is_the_failure_of_the_each(error: Exception, *, late: bool) -> None:
    def generated() -> Iterator[Item]:
        yield Item()
        raise error

    def over(page: Page) -> Any:
        if late:
            return generated()
        raise error

    result = await finished(around(mapped(item_flow(nothing), over), caught=True), Page())
    assert (result.status, result.trace.path) == ("completed", "map! > end")
    assert (result.value.path, result.value.type) == ("map#1", type(error).__name__)


async def test_over_gets_a_draft_whose_changes_are_dropped() -> None:
    def over(page: Page) -> list[Item]:
        page.text = "changed"
        page.plain.append("changed")
        return []

    result = await finished(around(mapped(item_flow(nothing), over)), Page())
    assert result.state == Page()


async def test_items_share_nothing_with_one_another() -> None:
    shared = Item(seen=["start"])

    def over(page: Page) -> list[Item]:
        return [shared, shared, shared]

    def act(step: Any) -> None:
        step.state.seen.append(step.path)

    flow = item_flow(act, value=lambda step: len(step.state.seen))
    result = await finished(around(mapped(flow, over)), Page())
    assert result.state.plain == ["2", "2", "2"]
    assert shared.seen == ["start"]


# ---- How many at a time, and in which order ----------------------------------------------------------------


@pytest.mark.parametrize("limit", [0, -1, True, 1.5, "4", None])
def test_a_limit_that_is_no_whole_number_above_zero_is_refused_at_once(limit: Any) -> None:
    with pytest.raises(ValueError, match=r"each\('map', limit="):
        mapped(item_flow(nothing), items(1), limit=limit)


@pytest.mark.parametrize("word", ["ignore", "", None, True])
def test_another_word_for_failing_items_is_refused(word: Any) -> None:
    with pytest.raises(ValueError, match=r"on_item_error="):
        mapped(item_flow(nothing), items(1), on_item_error=word)


@pytest.mark.parametrize(("limit", "seconds"), [(1, 10.0), (3, 4.0), (4, 3.0), (10, 1.0), (99, 1.0)])
async def test_so_many_work_at_a_time_and_never_more(limit: int, seconds: float) -> None:
    clock = StepClock()
    active, most = set[int](), 0

    async def act(step: Any) -> None:
        nonlocal most
        active.add(step.state.index)
        most = max(most, len(active))
        await clock.sleep(1)
        active.discard(step.state.index)

    result = await finished(around(mapped(item_flow(act), items(10), limit=limit)), Page(), clock)
    assert (most, result.usage.seconds) == (min(limit, 10), seconds)


@pytest.mark.parametrize("seed", range(6))
async def test_results_stand_in_item_order_whatever_finishes_first(seed: int) -> None:
    clock = StepClock()
    rng = Random(seed)
    waits = [rng.choice([0.0, 0.5, 1.0, 2.0]) for _ in range(12)]

    async def act(step: Any) -> None:
        await clock.sleep(waits[step.state.index])

    result = await finished(around(mapped(item_flow(act), items(12), limit=rng.randint(1, 12))), Page(), clock)
    assert result.state.plain == [str(index) for index in range(12)]
    assert {visit.path for visit in result.trace if visit.node == "work"} == {
        f"map#1[{index}]/work#1" for index in range(12)
    }


# ---- Retries and places ------------------------------------------------------------------------------------


@pytest.mark.behaviour("A75")
@pytest.mark.parametrize("wait", [0.0, 1.0])
@pytest.mark.parametrize("limit", [1, 2, 10])
async def test_a_parked_retry_holds_no_place(wait: float, limit: int) -> None:
    clock = StepClock()
    active, most = set[str](), 0
    order: list[tuple[int, int]] = []

    async def act(step: Any) -> None:
        nonlocal most
        active.add(step.path)
        most = max(most, len(active))
        order.append((step.state.index, step.attempt))
        await clock.sleep(0.25)
        active.discard(step.path)
        if step.attempt == 1:
            raise Boom

    work, end = flow_rows(act)
    flow = Flow("item", work.using(retry=Retry(attempts=2, wait=wait)).to(end), end)
    result = await finished(around(mapped(flow, items(10), limit=limit)), Page(), clock)
    assert result.state.plain == [str(index) for index in range(10)]
    assert most <= limit
    assert sorted(order) == [(index, attempt) for index in range(10) for attempt in (1, 2)]
    if limit == 1 and wait:
        assert order[1] == (1, 1)


def flow_rows(act: Any) -> Any:
    end = does(lambda step: Complete(step.state.index), "end", Item, Complete[int])
    return does(act, "work", Item, starts_round=False), end


async def test_a_place_that_nobody_takes_any_more_is_not_kept() -> None:
    """An item waits for its place, and is timed out there."""
    clock = StepClock()

    async def act(step: Any) -> None:
        if step.state.index == 0 and step.attempt == 1:
            raise Boom
        await clock.sleep(10)

    work, end = flow_rows(act)
    inner = Flow("inner", work.using(retry=Retry(attempts=2, wait=1)).to(end), end)
    final = does(lambda step: Complete(step.state.index), "final", Item, Complete[int])
    item = Flow("item", inner.as_node("in").using(timeout=3).to(final), final)
    row = mapped(item, items(4), limit=1, on_item_error="collect")
    result = await finished(around(row), Page(), clock)
    assert result.state.plain == ["ItemFailure"] * 4


class Watch:
    """Counts how many items are at work at the same time."""

    def __init__(self, clock: StepClock) -> None:
        self.clock = clock
        self.at_work: Counter[int] = Counter()
        self.most = 0

    async def work(self, item: Item, seconds: float) -> None:
        self.at_work[item.index] += 1
        self.most = max(self.most, len(+self.at_work))
        try:
            await self.clock.sleep(seconds)
        finally:
            self.at_work[item.index] -= 1

    def leaf(self, id: str, seconds: float, retry: Retry | None = None) -> Any:
        """Returns a node that works so long. With a retry its first attempt fails."""

        async def act(step: Any) -> None:
            await self.work(step.state, seconds)
            if retry is not None and step.attempt == 1:
                raise Boom

        row = does(act, id, Item, starts_round=False)
        return row if retry is None else row.using(retry=retry)


async def test_a_branch_that_is_parked_gives_no_place_away_while_its_sibling_works() -> None:
    watch = Watch(StepClock())
    final = does(lambda step: Complete(step.state.index), "final", Item, Complete[int])
    fan = parallel("fan", watch.leaf("flaky", 0.0, Retry(attempts=2, wait=1)), watch.leaf("long", 5.0))
    item = Flow("item", fan.to(final), final.on_error(None))
    result = await finished(around(mapped(item, items(4), limit=1)), Page(), watch.clock)
    assert (watch.most, result.usage.seconds) == (1, 20.0)


async def test_where_all_branches_of_an_item_are_parked_its_place_is_given_away_once() -> None:
    watch = Watch(StepClock())
    final = does(lambda step: Complete(step.state.index), "final", Item, Complete[int])
    flaky = [watch.leaf(id, 1.0, Retry(attempts=2, wait=3)) for id in "abc"]
    item = Flow("item", parallel("fan", *flaky).to(final), final)
    result = await finished(around(mapped(item, items(3), limit=1)), Page(), watch.clock)
    assert (watch.most, result.usage.seconds) == (1, 7.0)


async def test_an_item_whose_branch_won_keeps_its_place() -> None:
    watch = Watch(StepClock())
    after = watch.leaf("after", 5.0)
    final = does(lambda step: Complete(step.state.index), "final", Item, Complete[int])
    parked = watch.leaf("parked", 0.0, Retry(attempts=2, wait=50))
    fan = parallel("fan", watch.leaf("win", 1.0), parked, join="any")
    item = Flow("item", fan.to(after), after.to(final), final)
    result = await finished(around(mapped(item, items(3), limit=1)), Page(), watch.clock)
    assert (watch.most, result.usage.seconds) == (1, 18.0)


async def test_an_item_that_was_timed_out_while_parked_waits_for_its_place() -> None:
    watch = Watch(StepClock())
    inner_end = does(lambda step: Complete(0), "end", Item, Complete[int])
    flaky = watch.leaf("flaky", 0.5, Retry(attempts=2, wait=50))
    inner = Flow("inner", flaky.to(inner_end), inner_end)
    rescue = watch.leaf("rescue", 5.0)
    final = does(lambda step: Complete(step.state.index), "final", Item, Complete[int])
    row = inner.as_node("in").using(timeout=3).to(final).on_error(rescue)
    item = Flow("item", row, rescue.to(final), final)
    result = await finished(around(mapped(item, items(4), limit=1)), Page(), watch.clock)
    assert result.state.plain == ["0", "1", "2", "3"]
    assert watch.most == 1


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("seed", range(8))
async def test_places_are_neither_lost_nor_given_twice(limit: int, seed: int) -> None:
    """Items with branches that retry, nested items and timeouts: at most so many work, and all come to an end."""
    watch = Watch(StepClock())
    rng = Random(f"{limit} {seed}")

    async def act(step: Any) -> None:
        await watch.work(step.state, rng.choice([0.0, 0.1, 0.5, 2.0]))
        if rng.random() < 0.4:
            raise Boom

    def leaf(id: str) -> Any:
        row = does(act, id, Item, starts_round=False)
        return row.using(retry=Retry(attempts=3, wait=rng.choice([0.0, 0.3, 1.0])))

    end = does(lambda step: Complete(step.state.index), "end", Item, Complete[int])
    fan = parallel("fan", leaf("a"), leaf("b"), leaf("c"), join=rng.choice(["all", "any", 2]))

    def over(item: Item) -> list[Item]:
        return [Item(index=item.index) for _ in range(3)]

    def collect(draft: Item, results: list[Any]) -> Continue:
        return Continue()

    last_of_inner = does(lambda step: Complete(1), "end", Item, Complete[int])
    deep = does(act, "deep", Item, starts_round=False)
    inner = Flow("inner", deep.using(retry=Retry(attempts=3, wait=0.5)).to(last_of_inner), last_of_inner)
    nested = each(
        "nested", over=over, do=inner, collect=collect, limit=rng.choice([1, 3]), on_item_error="collect"
    )
    item = Flow("item", fan.using(timeout=rng.choice([None, 1.2])).to(nested), nested.to(end), end.on_error(None))
    row = mapped(item, items(8), limit=limit, on_item_error="collect")
    result = await finished(around(row), Page(), watch.clock, budget=Budget(rounds=None))
    assert result.status == "completed"
    assert len(result.state.plain) == 8
    assert set(result.state.plain) <= {*map(str, range(8)), "ItemFailure"}
    assert watch.most <= limit


# ---- Failing items -----------------------------------------------------------------------------------------


def fails_at(*indices: int) -> Any:
    def act(step: Any) -> None:
        if step.state.index in indices:
            raise Boom(f"item {step.state.index}")

    return act


async def test_the_first_item_that_fails_stops_the_others_and_fails_the_each() -> None:
    clock = StepClock()
    ends: list[int] = []

    async def act(step: Any) -> None:
        index = step.state.index
        try:
            await clock.sleep(2.0 if index == 1 else 9.0)
        finally:
            ends.append(index)
        raise Boom(f"item {index}")

    result = await finished(around(mapped(item_flow(act), items(9), limit=3), caught=True), Page(), clock)
    assert (result.value.path, result.value.message) == ("map#1[1]/work#1", "item 1")
    assert sorted(ends) == [0, 1, 2]
    assert result.usage.seconds == 2.0
    assert result.state == Page()
    assert result.trace.path == "map!(work!) > end"


async def test_with_collect_a_failed_item_is_told_in_its_place() -> None:
    got: list[Any] = []

    def collect(draft: Page, results: list[int | ItemFailure]) -> Continue:
        got.extend(results)
        return Continue()

    row = mapped(item_flow(fails_at(1, 3)), items(5), collect, on_item_error="collect", limit=2)
    result = await finished(around(row), Page())
    assert (result.status, result.failure) == ("completed", None)
    assert [one for one in got if isinstance(one, int)] == [0, 2, 4]
    failures = [one for one in got if isinstance(one, ItemFailure)]
    assert [(one.index, one.failure.path, one.failure.message) for one in failures] == [
        (1, "map#1[1]/work#1", "item 1"),
        (3, "map#1[3]/work#1", "item 3"),
    ]
    assert [type(one) for one in got] == [int, ItemFailure, int, ItemFailure, int]
    assert result.trace.path == "map(work > end | work! | work > end | work! | work > end) > end"


async def test_a_broken_contract_in_an_item_is_not_collected() -> None:
    wrong = item_flow(lambda step: "nonsense" if step.state.index == 1 else None)
    result = await finished(around(mapped(wrong, items(3), on_item_error="collect"), caught=True), Page())
    assert result.status == "failed"
    assert result.failure is not None
    assert (result.failure.path, result.failure.code) == ("map#1[1]/work#1", ContractError.code)


async def test_a_timeout_of_an_item_is_collected() -> None:
    clock = StepClock()

    async def act(step: Any) -> None:
        await clock.sleep(9.0 if step.state.index == 1 else 1.0)

    work, end = flow_rows(act)
    flow = Flow("item", work.using(timeout=2).to(end), end)
    result = await finished(around(mapped(flow, items(3), on_item_error="collect")), Page(), clock)
    assert result.state.plain == ["0", "ItemFailure", "2"]


async def test_an_item_may_take_an_error_route_of_its_own() -> None:
    work, end = flow_rows(fails_at(0))
    rescue = does(lambda step: Complete(-1), "rescue", Item, Complete[int])
    flow = Flow("item", work.to(end).on_error(rescue), end, rescue)
    result = await finished(around(mapped(flow, items(2))), Page())
    assert result.state.plain == ["-1", "1"]


@pytest.mark.parametrize("count", [0, 3])
async def test_a_collect_that_raises_fails_the_each_and_drops_what_it_changed(count: int) -> None:
    def collect(draft: Page, results: list[int]) -> Continue:
        draft.text = "half"
        raise Boom("collect")

    result = await finished(around(mapped(item_flow(nothing), items(count), collect), caught=True), Page())
    assert (result.value.path, result.value.type, result.value.message) == ("map#1", "Boom", "collect")
    assert result.state == Page()


@pytest.mark.parametrize("given", [None, "text", Continue("unknown"), Complete("no")], ids=repr)
async def test_a_collect_that_returns_what_it_did_not_promise_is_a_contract_error(given: Any) -> None:
    def collect(draft: Page, results: list[int]) -> Continue:
        return given  # type: ignore[no-any-return]

    result = await finished(around(mapped(item_flow(nothing), items(1), collect), caught=True), Page())
    assert result.status == "failed"
    assert result.failure is not None
    assert (result.failure.path, result.failure.code) == ("map#1", ContractError.code)


async def test_a_collect_that_spoils_a_field_is_a_contract_error_with_the_field() -> None:
    def collect(draft: Page, results: list[int]) -> Continue:
        draft.number = "many"  # type: ignore[assignment]
        return Continue()

    result = await finished(around(mapped(item_flow(nothing), items(1), collect), caught=True), Page())
    assert result.failure is not None
    assert "map#1: Page.number" in result.failure.message


# ---- Running out -------------------------------------------------------------------------------------------


def costs(requests: int, tokens: int = 0) -> Any:
    """Returns an act that sends so many requests, and says each time what it used."""

    async def act(step: Any) -> None:
        for _ in range(requests):
            async with current_scope().request() as request:
                await anyio.lowlevel.checkpoint()
                request.used(tokens=tokens)

    return act


def with_finish(row: Any, **reserve: int) -> Flow[Any, Any, Any]:
    """Returns a flow that delivers what it has, on its reserve if it must."""

    async def act(step: Any) -> Complete[tuple[Any, ...]]:
        async with current_scope().request() as request:
            request.used(tokens=5)
        return Complete((step.exhausted, tuple(step.state.plain)))

    deliver = does(act, "deliver", Page, Complete[Any])
    return Flow("f", row.to(deliver), deliver, finish=deliver, reserve=Reserve(**reserve))


@pytest.mark.behaviour("A147")
@pytest.mark.parametrize("limit", [1, 2, 4])
async def test_work_stops_at_the_reserve_and_the_finish_sees_what_is_done_and_what_is_not(limit: int) -> None:
    row = mapped(item_flow(costs(2)), items(4), takes_unfinished, limit=limit)
    result = await finished(with_finish(row, requests=1), Page(), budget=Budget(requests=6))
    exhausted, seen = result.value
    assert (result.status, result.exhausted, exhausted) == ("completed", "requests", "requests")
    assert result.usage.requests <= 6
    done = [word for word in seen if word != "Unfinished"]
    assert len(seen) == 4
    assert "Unfinished" in seen
    assert all(seen[int(word)] == word for word in done)
    if limit == 1:
        assert seen == ("0", "1", "Unfinished", "Unfinished")
        assert result.usage.requests == 6
    text = result.trace.to_text()
    assert "finish, since requests ran out" in text
    assert [note.event.__name__ for note in result.trace.notes].count("BudgetSpent") == 1


@pytest.mark.behaviour("A147")
async def test_work_stops_at_the_reserve_of_tokens_with_an_answer_that_overran() -> None:
    row = mapped(item_flow(costs(1, tokens=40)), items(4), takes_unfinished, limit=1)
    flow = with_finish(row, tokens=20, requests=1)
    result = await finished(flow, Page(), budget=Budget(requests=10, tokens=100))
    assert (result.status, result.exhausted) == ("completed", "tokens")
    assert result.value == ("tokens", ("0", "1", "Unfinished", "Unfinished"))
    assert result.usage.tokens == 85
    over = mapped(item_flow(costs(1, tokens=400)), items(4), takes_unfinished, limit=1)
    result = await finished(
        with_finish(over, tokens=20, requests=1), Page(), budget=Budget(requests=10, tokens=100)
    )
    assert result.value == ("tokens", ("0", "Unfinished", "Unfinished", "Unfinished"))
    assert result.usage.tokens == 405


@pytest.mark.behaviour("A147")
async def test_an_over_estimate_of_what_is_next_spends_nothing_and_leaves_the_reserve_whole() -> None:
    async def act(step: Any) -> None:
        current_scope().charge(tokens=50)

    row = mapped(item_flow(act), items(4), takes_unfinished, limit=1)
    flow = with_finish(row, tokens=20, requests=1)
    result = await finished(flow, Page(), budget=Budget(requests=10, tokens=100))
    assert result.value == ("tokens", ("0", "Unfinished", "Unfinished", "Unfinished"))
    assert result.usage.tokens == 55


async def test_what_ran_out_starts_no_further_item_and_lets_running_ones_end() -> None:
    clock = StepClock()
    begun: list[int] = []

    async def act(step: Any) -> None:
        begun.append(step.state.index)
        if step.state.index == 1:
            await clock.sleep(1.0)
            current_scope().charge(requests=5)
        elif step.state.index == 2:
            await clock.sleep(5.0)
            step.state.seen.append("done")

    row = mapped(item_flow(act), items(9), takes_unfinished, limit=3)
    result = await finished(around(row), Page(), clock, budget=Budget(requests=2))
    assert result.status == "failed"
    assert result.exhausted == "requests"
    assert result.state.plain[1] == "Unfinished"
    assert result.state.plain[2] == "2"
    assert result.usage.seconds == 5.0
    assert max(begun) < 9
    unfinished = [index for index, word in enumerate(result.state.plain) if word == "Unfinished"]
    assert set(range(9)) - set(begun) <= set(unfinished)


async def test_a_collect_that_raises_when_all_ran_out_is_the_failure() -> None:
    def collect(draft: Page, results: list[int | Unfinished]) -> Continue:
        raise Boom("collect")

    row = mapped(item_flow(costs(1)), items(4), collect, limit=1)
    result = await finished(around(row, caught=True), Page(), budget=Budget(requests=2))
    assert result.value is not None
    assert (result.value.path, result.value.message) == ("map#1", "collect")


async def test_a_collect_that_knows_no_unfinished_items_is_not_called_with_any() -> None:
    def collect(draft: Page, results: list[int]) -> Continue:
        raise AssertionError("it cannot take them")

    row = mapped(item_flow(costs(1)), items(4), collect, limit=1)
    result = await finished(around(row), Page(), budget=Budget(requests=2))
    assert (result.status, result.exhausted) == ("failed", "requests")
    assert result.failure is not None
    assert result.failure.type == "BudgetExhausted"


async def test_a_collect_whose_annotation_does_not_forbid_it_is_called_with_unfinished_items() -> None:
    def untold(draft: Page, results) -> Continue:  # type: ignore[no-untyped-def]
        return takes_unfinished(draft, results)

    def anything(draft: Page, results: list[Any]) -> Continue:
        return takes_unfinished(draft, results)

    for collect in (untold, anything):
        row = mapped(item_flow(costs(1)), items(3), collect, limit=1)
        result = await finished(with_finish(row, requests=1), Page(), budget=Budget(requests=2))
        assert (result.status, result.exhausted) == ("completed", "requests")
        assert result.value[1] == ("0", "Unfinished", "Unfinished")


async def test_rounds_that_ran_out_leave_items_unfinished_too() -> None:
    row = mapped(item_flow(nothing, starts_round=True), items(5), takes_unfinished, limit=2)
    result = await finished(with_finish(row, requests=1), Page(), budget=Budget(rounds=3, requests=1))
    assert (result.status, result.exhausted) == ("completed", "rounds")
    seen = result.value[1]
    assert seen.count("Unfinished") == 2
    assert all(word in (str(index), "Unfinished") for index, word in enumerate(seen))


# ---- Budgets of an each of its own -------------------------------------------------------------------------


async def test_a_budget_of_its_own_holds_for_all_items_together_and_the_flow_goes_on() -> None:
    row = mapped(item_flow(costs(1)), items(5), takes_unfinished, limit=1, budget=Budget(rounds=None, requests=3))
    result = await finished(around(row), Page(), budget=Budget(requests=50))
    assert (result.status, result.exhausted) == ("completed", None)
    assert result.state.plain == ["0", "1", "2", "Unfinished", "Unfinished"]
    assert result.usage.requests == 3


async def test_each_embedding_begins_its_budget_again() -> None:
    row = mapped(item_flow(costs(1)), items(3), takes_unfinished, limit=1, budget=Budget(rounds=None, requests=2))
    second, end = row.named("second"), last()
    result = await finished(Flow("f", row.to(second), second.to(end), end), Page())
    assert result.usage.requests == 4
    assert [visit.node for visit in result.trace if visit.kind == "next" and visit.path.count("/") == 0] == [
        "map",
        "second",
    ]


async def test_a_budget_of_its_own_without_unfinished_in_collect_fails_the_each_ordinarily() -> None:
    def knows_no(draft: Page, results: list[int]) -> Continue:
        raise AssertionError("it cannot take them")

    row = mapped(item_flow(costs(1)), items(5), knows_no, limit=1, budget=Budget(rounds=None, requests=3))
    result = await finished(around(row, caught=True), Page())
    assert result.value.type == "BudgetExhausted"
    assert result.exhausted is None


@pytest.mark.parametrize("takes", [True, False])
async def test_the_time_of_a_budget_of_its_own_leaves_items_unfinished(*, takes: bool) -> None:
    clock = StepClock()

    async def act(step: Any) -> None:
        await clock.sleep(1.0 + step.state.index)

    def knows_no(draft: Page, results: list[int]) -> Continue:
        return tells(draft, results)

    collect = takes_unfinished if takes else knows_no
    row = mapped(item_flow(act), items(5), collect, limit=5, budget=Budget(rounds=None, seconds=3.5))
    result = await finished(around(row, caught=True), Page(), clock)
    assert (result.usage.seconds, result.exhausted) == (3.5, None)
    if takes:
        assert result.state.plain == ["0", "1", "2", "Unfinished", "Unfinished"]
        assert result.trace.path == "map(work > end | work > end | work > end) > end"
    else:
        assert result.state.plain == []
        assert (result.value.type, result.value.path) == ("BudgetExhausted", "map#1")


async def test_a_timeout_of_the_each_stops_its_items() -> None:
    clock = StepClock()

    async def act(step: Any) -> None:
        await clock.sleep(1.0 + step.state.index)

    end = last()
    row = mapped(item_flow(act), items(5), limit=2)
    flow = Flow("f", row.using(timeout=2.5).to(end).on_error(end), end)
    result = await finished(flow, Page(), clock)
    assert (result.value.type, result.value.path, result.usage.seconds) == ("NodeTimeout", "map#1", 2.5)
    assert result.state == Page()


async def test_cancelling_the_run_stops_all_items() -> None:
    clock = StepClock()
    begun, ended = list[int](), list[int]()

    async def act(step: Any) -> None:
        begun.append(step.state.index)
        try:
            await clock.sleep(100)
        finally:
            ended.append(step.state.index)

    async def cancel(run: Run[Any]) -> None:
        await passes(5)
        await run.cancel()

    told: list[Event] = []
    row = mapped(item_flow(act), items(50), limit=7)
    result = await finished(around(row), Page(), clock, meanwhile=cancel, observers=[told.append])
    await passes()
    assert (result.status, result.stragglers) == ("cancelled", ())
    assert sorted(begun) == sorted(ended) == list(range(7))
    assert [event.seq for event in told] == list(range(1, len(told) + 1))
    started = [event.path for event in told if event.kind == "node.started"]
    over = [event.path for event in told if event.kind in ("node.finished", "node.failed")]
    assert sorted(started) == sorted(over)
    assert result.trace.path == f"map!({' | '.join(['work!'] * 7)})"


# ---- Many runs ---------------------------------------------------------------------------------------------


@pytest.mark.behaviour("A143")
async def test_fifty_runs_of_one_flow_at_once_share_nothing() -> None:
    clock = StepClock()

    async def act(step: Any) -> None:
        await clock.sleep(0.1 * (step.state.index % 7))
        step.state.seen.append(str(step.state.index))

    def over(page: Page) -> list[Item]:
        return [Item(index=page.number * 100 + index) for index in range(5)]

    flow = around(mapped(item_flow(act), over, limit=3))
    results: dict[int, Any] = {}

    async def one(number: int) -> None:
        results[number] = await flow.run(Page(number=number), clock=clock, check=False)

    async with anyio.create_task_group() as group:
        for number in range(50):
            group.start_soon(one, number)
        while len(results) < 50:
            await passes()
            clock.tick()
    for number, result in results.items():
        assert result.state.plain == [str(number * 100 + index) for index in range(5)]
        assert result.trace.path == f"map({' | '.join(['work > end'] * 5)}) > end"
