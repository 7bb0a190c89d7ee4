"""Composites that were interrupted and go on in another process: branches, items, people, limits, failures."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import permutations
from typing import Annotated, Any, Literal

import anyio
import anyio.lowlevel
import pytest
from tests.stepping import StepClock, passes

from flowcore import (
    Approval,
    Budget,
    Complete,
    Continue,
    Flow,
    ItemFailure,
    Log,
    Merge,
    Reserve,
    Retry,
    Run,
    RunResult,
    Step,
    approve,
    ask,
    each,
    node,
    parallel,
)
from flowcore.store import MemoryRunStore

from .lives import ended
from .mortal import MortalStore

RUN_ID = "run"


@dataclass
class State:
    n: int = 0
    log: Log[str] = field(default_factory=Log)
    words: Annotated[list[str], Merge.append] = field(default_factory=list)


class Stage:
    """What the nodes of one process see. Where one of them never ends the process is killed; others may wait."""

    def __init__(self, until: str = "", waiting: Collection[str] = ()) -> None:
        self.until = until
        self.waiting = waiting
        self.began: list[str] = []
        self.reached = anyio.Event()

    async def at(self, step: Step[Any, Any]) -> None:
        self.began.append(step.path)
        if step.path == self.until:
            self.reached.set()
        if step.path == self.until or step.path in self.waiting:
            await anyio.sleep_forever()


class Story:
    """One run in one store, from process to process."""

    def __init__(self, flow: Flow[Any, Any, Any], state: Any = None, **options: Any) -> None:
        self.flow = flow
        self.state = State() if state is None else state
        self.options = options
        self.store = MemoryRunStore()
        self.clock = StepClock()
        self.lives = 0

    def run(self, store: Any, stage: Stage) -> Run[Any]:
        self.lives += 1
        if self.lives == 1:
            options = {**self.options, "run_id": RUN_ID}
            return self.flow.start(self.state, store=store, clock=self.clock, deps=stage, **options)
        return self.flow.reopen(RUN_ID, store=store, clock=self.clock, deps=stage)

    async def killed_at(
        self, path: str, waiting: Collection[str] = (), *, meanwhile: float = 31.0, before: float = 0.0
    ) -> list[str]:
        """Lives until a visit is under way and `before` seconds more; then is dead. Returns what began."""
        stage, mortal = Stage(path, waiting), MortalStore(self.store, 1_000_000)
        async with self.run(mortal, stage):
            while not stage.reached.is_set():
                await passes()
                self.clock.tick() if not stage.reached.is_set() else None
            await passes()
            self.clock.leap(before)
            await passes()
            mortal.die()
        self.clock.leap(meanwhile)
        return stage.began

    async def to_the_end(self) -> tuple[RunResult[Any], list[str]]:
        """Lives to the end. Returns how it ended, and what began."""
        stage = Stage()
        return await ended(self.run(self.store, stage), self.clock), stage.began


def does(id: str, starts_round: bool = False) -> Any:
    @node(id=id, starts_round=starts_round)
    async def function(step: Step[Any, Any]) -> Continue:
        await step.deps.at(step)
        step.state.log.append(step.path)
        return Continue()

    return function


@node(starts_round=False)
async def end(step: Step[State, Stage]) -> Complete[list[str]]:
    await step.deps.at(step)
    return Complete([*step.state.log, *step.state.words])


def three(join: Any = "all") -> Any:
    return parallel(
        "fan", does("a"), Flow("b", does("b1").to(end), end).as_node("b", state=State), does("c"), join=join
    )


def around(row: Any, **options: Any) -> Flow[Any, Any, Any]:
    return Flow("f", row.to(end), end, **options)


# ---- Branches ----------------------------------------------------------------------------------------------


@pytest.mark.behaviour("A79")
@pytest.mark.parametrize("last", ["fan#1/a#1", "fan#1/c#1", "fan#1/b#1/b1#1", "fan#1/b#1/end#1"])
async def test_a_join_fires_once_with_all_that_arrived_before(last: str) -> None:
    story = Story(around(three()))
    began = await story.killed_at(last)
    result, after = await story.to_the_end()
    assert result.value == ["fan#1/a#1", "fan#1/b#1/b1#1", "fan#1/c#1"]
    assert last in began
    assert set(began) & set(after) == {last}
    assert result.trace.path == "fan(a | b(b1 > end) | c) > end"


@pytest.mark.behaviour("A77")
async def test_the_order_of_arrival_may_be_another_one_each_time() -> None:
    branches = ("fan#1/a#1", "fan#1/b#1/b1#1", "fan#1/c#1")
    for order in permutations(branches):
        story = Story(around(three()))
        for arrived, path in enumerate(order):
            began = await story.killed_at(path, order[arrived + 1 :])
            assert path in began
            assert set(began).isdisjoint(order[: max(0, arrived - 1)])
        result, _ = await story.to_the_end()
        assert result.value == list(branches)


async def test_one_that_arrived_before_counts_among_the_two_that_are_wanted() -> None:
    story = Story(around(parallel("fan", does("a"), does("b"), does("c"), join=2)))
    await story.killed_at("fan#1/b#1", ["fan#1/c#1"])
    await story.killed_at("fan#1/c#1", ["fan#1/b#1"])
    result, began = await story.to_the_end()
    assert len(result.value) == 2
    assert result.value[0] == "fan#1/a#1"
    assert "fan#1/a#1" not in began


@pytest.mark.behaviour("A95")
async def test_a_flow_used_twice_and_names_alike_keep_their_states_apart() -> None:
    def enter(state: State) -> State:
        return State(n=state.n + 1)

    def leave(draft: State, result: list[str]) -> Continue:
        draft.words.append(" ".join(result))
        return Continue()

    kit = Flow("kit", does("child").to(end), end)
    first, second = (kit.as_node(id, state=State, enter=enter, leave=leave) for id in ("child", "child_subgraph"))
    flow = Flow("f", first.to(second), second.to(end), end)
    story = Story(flow)
    await story.killed_at("child#1/child#1")
    await story.killed_at("child_subgraph#1/end#1")
    result, began = await story.to_the_end()
    assert result.value == ["child#1/child#1", "child_subgraph#1/child#1"]
    assert began == ["child_subgraph#1/end#1", "end#1"]


# ---- Items -------------------------------------------------------------------------------------------------


@dataclass
class Item:
    index: int
    log: Log[str] = field(default_factory=Log)


def mapping(count: int, failing: int = -1, limit: int = 2, retry: Retry | None = None) -> Any:
    @node(starts_round=False)
    async def work(step: Step[Item, Stage]) -> Complete[int]:
        await step.deps.at(step)
        if step.state.index == failing or (retry is not None and step.attempt == 1):
            raise ValueError(f"item {step.state.index}")
        return Complete(step.state.index)

    def over(state: State) -> list[Item]:
        return [Item(index) for index in range(count)]

    def collect(draft: State, results: list[Any]) -> Continue:
        draft.words += [
            f"{one.failure.type} {one.failure}" if isinstance(one, ItemFailure) else str(one) for one in results
        ]
        return Continue()

    flow = Flow("item", work.using(retry=retry))
    return each("map", over=over, do=flow, collect=collect, limit=limit, on_item_error="collect")


async def test_an_item_that_failed_and_was_collected_stays_failed_and_is_not_done_again() -> None:
    story = Story(around(mapping(4, failing=1)))
    began = await story.killed_at("map#1[3]/work#1")
    result, after = await story.to_the_end()
    assert result.value == ["0", "ValueError ValueError: item 1", "2", "3"]
    assert [path for path in after if path in began] == ["map#1[3]/work#1"]


@pytest.mark.behaviour("A75")
async def test_ten_items_that_each_fail_once_go_on_one_at_a_time() -> None:
    story = Story(around(mapping(10, limit=1, retry=Retry(attempts=2, wait=1.0))))
    await story.killed_at("map#1[4]/work#1")
    result, began = await story.to_the_end()
    assert result.value == [str(number) for number in range(10)]
    assert {began.count(f"map#1[{number}]/work#1") for number in range(10)} <= {0, 2}


# ---- People ------------------------------------------------------------------------------------------------


def question(id: str) -> Any:
    def show(state: State) -> str:
        return f"{state.n}?"

    def take(draft: State, answer: str) -> None:
        draft.words.append(answer)

    return ask(id, show=show, form=str, take=take, expires=10_000)


def asking(*ids: str) -> Flow[Any, Any, Any]:
    rows = [question(id) for id in ids]
    ways = zip(rows, [*rows[1:], end], strict=True)
    return Flow("asking", *(row.to(answered=following, expired=end) for row, following in ways), end)


async def answered(story: Story, *answers: str) -> tuple[list[str], str]:
    """Lives until so many requests were answered and one more waits; returns the questions that were open."""
    stage, mortal, asked = Stage(), MortalStore(story.store, 1_000_000), list[str]()
    async with story.run(mortal, stage) as run:
        for answer in answers:
            while not run.requests:
                await anyio.lowlevel.checkpoint()
            asked.append(run.requests[0].path)
            await run.answer(None, answer, by="ann")
        while not run.requests or run.requests[0].path in asked:
            await anyio.lowlevel.checkpoint()
        pending = run.requests[0].path
        mortal.die()
    story.clock.leap(31.0)
    return asked, pending


@pytest.mark.behaviour("A83")
async def test_a_question_that_was_answered_is_not_asked_again() -> None:
    inner = asking("q1", "q2").as_node("inner", state=State)
    story = Story(around(inner))
    assert await answered(story, "one") == (["inner#1/q1#1"], "inner#1/q2#1")
    assert [row.path for row in await story.store.requests(RUN_ID)] == ["inner#1/q2#1"]
    assert await answered(story) == ([], "inner#1/q2#1")
    async with story.run(story.store, Stage()) as run:
        while not run.requests:
            await anyio.lowlevel.checkpoint()
        await run.answer(None, "two", by="ann")
        assert await run.result() == ["one", "two"]
    assert [row.status for row in await story.store.requests(RUN_ID, pending=False)] == ["answered", "answered"]


@pytest.mark.behaviour("A91")
async def test_three_levels_that_each_ask_complete_over_a_death_at_each_question() -> None:
    inside: Any = asking("ask low", "ask last").as_node("low", state=State)
    for id in ("middle", "top"):
        row = question(f"ask {id}").to(answered=inside, expired=end)
        inside = Flow(id, row, inside.to(end), end).as_node(id, state=State)
    story = Story(around(inside))
    places = ["ask top#1", "middle#1/ask middle#1", "middle#1/low#1/ask low#1", "middle#1/low#1/ask last#1"]
    asked: list[str] = []
    for number, place in enumerate(places):
        answers = [f"to {places[number - 1]}"] * (number > 0)
        assert await answered(story, *answers) == (asked[-1:], f"top#1/{place}")
        asked.append(f"top#1/{place}")
    async with story.run(story.store, Stage()) as run:
        while not run.requests:
            await anyio.lowlevel.checkpoint()
        await run.answer(None, f"to {places[-1]}", by="ann")
        result = await run.wait()
    assert result.value == [f"to {place}" for place in places]
    inner = "ask top > middle(ask middle > low(ask low > ask last > end) > end) > end"
    assert result.trace.path == f"top({inner}) > end"
    stored = await story.store.load(RUN_ID)
    assert [row.status for row in stored.requests] == ["answered"] * 4
    assert [row.node for row in stored.visits] == [visit.node for visit in result.trace]  # each of them once
    assert [row.node for row in stored.visits if row.node.startswith("ask")] == [
        *("ask top", "ask middle", "ask low", "ask last")
    ]


@pytest.mark.behaviour("A99")
async def test_a_parent_goes_on_when_what_its_items_asked_is_answered() -> None:
    def note(draft: State, answer: Approval[Any]) -> None:
        draft.words.append(f"{draft.n} {answer.approved}")

    def over(state: State) -> list[State]:
        return [State(n=number) for number in range(3)]

    def collect(draft: State, results: list[list[str]]) -> Continue:
        draft.words += [word for result in results for word in result]
        return Continue()

    agreed = approve("agreed", show=lambda state: "?", take=note, expires=10_000)
    row = each("map", over=over, do=Flow("item", agreed.to(approved=end, denied=end), end), collect=collect)
    story = Story(around(row))
    stage, mortal = Stage(), MortalStore(story.store, 1_000_000)
    async with story.run(mortal, stage) as run:
        while len(run.requests) < 3:
            await anyio.lowlevel.checkpoint()
        (second,) = (request for request in run.requests if request.path.startswith("map#1[1]/"))
        await run.answer(second.id, True, by="ann")
        while "map#1[1]/end#1" not in stage.began:
            await anyio.lowlevel.checkpoint()
        await passes()
        ids = {request.id for request in run.requests}
        mortal.die()
    story.clock.leap(31.0)
    async with story.run(story.store, Stage()) as run:
        while len(run.requests) < 2:
            await anyio.lowlevel.checkpoint()
        assert {request.id for request in run.requests} == ids
        for id in ids:
            await run.answer(id, False, by="bob")
        assert await run.result() == ["0 False", "1 True", "2 False"]


# ---- Limits ------------------------------------------------------------------------------------------------


def turns(id: str = "turn") -> Any:
    @node(id=id, starts_round=True)
    async def turn(step: Step[State, Stage]) -> Continue[Literal["more", "done"]]:
        await step.deps.at(step)
        step.state.n += 1
        step.scope.charge(requests=1)
        return Continue("more" if step.state.n < 100 else "done")

    return turn


@node(starts_round=False)
async def finish(step: Step[State, Stage]) -> Complete[list[str]]:
    await step.deps.at(step)
    return Complete([f"{step.exhausted} after {step.state.n}"])


def looping(**options: Any) -> Flow[Any, Any, Any]:
    turn = turns()
    return Flow("loop", turn.to(more=turn, done=end), end, finish, finish=finish, **options)


@pytest.mark.parametrize("budget", [Budget(rounds=5), Budget(rounds=None, requests=5)])
async def test_what_a_sub_flow_has_spent_of_its_own_budget_counts(budget: Budget) -> None:
    story = Story(around(looping().as_node("inner", state=State, budget=budget)), budget=Budget(rounds=50))
    await story.killed_at("inner#1/turn#3")
    await story.killed_at("inner#1/turn#5")
    result, began = await story.to_the_end()
    assert (result.status, result.state.n, result.usage.rounds) == ("completed", 5, 5 + (budget.rounds is None))
    assert began[-2:] == ["inner#1/finish#1", "end#1"]


@pytest.mark.parametrize("times", [1, 3])
async def test_a_finish_path_that_was_interrupted_is_walked_again_with_its_reserve(times: int) -> None:
    flow = looping(reserve=Reserve(requests=1))
    story = Story(flow, budget=Budget(rounds=3, requests=4))
    for _ in range(times):
        await story.killed_at("finish#1")
    result, began = await story.to_the_end()
    assert (result.status, result.exhausted, result.value) == ("completed", "rounds", ["rounds after 3"])
    assert began == ["finish#1"]
    assert "finish, since rounds ran out" in result.trace.to_text()


async def test_visits_are_counted_on() -> None:
    work = does("work", starts_round=True)
    flow = Flow("f", work.to(work).using(max_visits=4).over_limit(end), end)
    story = Story(flow)
    await story.killed_at("work#2")
    await story.killed_at("work#4")
    result, began = await story.to_the_end()
    assert result.value == ["work#1", "work#2", "work#3", "work#4"]
    assert began == ["work#4", "end#1"]


@pytest.mark.parametrize("timeout", [None, 1_000.0])
@pytest.mark.parametrize("deaths", [(), ("inner#1/work#2",), ("finish#1", "finish#1")])
async def test_visits_that_run_out_in_a_sub_flow_lead_to_the_finish_of_the_run(
    timeout: float | None, deaths: tuple[str, ...]
) -> None:
    work = does("work", starts_round=True)
    inner = Flow("inner", work.to(work).using(max_visits=3).on_error(end), end).as_node("inner", state=State)
    story = Story(Flow("f", inner.to(end).using(timeout=timeout), end, finish, finish=finish))
    for path in deaths:
        await story.killed_at(path)
    result, began = await story.to_the_end()
    assert (result.status, result.exhausted, result.value) == ("completed", "visits", ["visits after 0"])
    assert began[-1] == "finish#1"


def slow() -> Flow[Any, Any, Any]:
    a, b = does("a"), does("b")
    return Flow("slow", a.to(b), b.to(end), end)


async def test_seconds_are_those_in_which_somebody_walked() -> None:
    story = Story(slow(), budget=Budget(seconds=100))
    await story.killed_at("a#1", before=20, meanwhile=500)
    await story.killed_at("b#1", before=25, meanwhile=500)
    result, _ = await story.to_the_end()
    assert result.status == "completed"
    assert result.usage.seconds < 60


async def test_seconds_of_visits_that_ended_count_in_the_next_process() -> None:
    @node
    async def long(step: Step[State, Stage]) -> Continue:
        await step.deps.at(step)
        await story.clock.sleep(40)
        return Continue()

    again = long.named("again")
    story = Story(Flow("f", long.to(again), again.to(end), end), budget=Budget(seconds=70))
    await story.killed_at("again#1")
    result, _ = await story.to_the_end()
    assert (result.status, result.exhausted) == ("failed", "seconds")
    assert 70 <= result.usage.seconds < 71


async def test_a_deadline_is_a_time_of_day() -> None:
    story = Story(slow())
    story.options["deadline"] = story.clock.utcnow() + timedelta(seconds=60)
    await story.killed_at("a#1", meanwhile=61)
    result, _ = await story.to_the_end()
    assert (result.status, result.exhausted) == ("failed", "seconds")


# ---- Failures ----------------------------------------------------------------------------------------------


async def test_a_failure_of_the_dead_process_takes_the_routes_of_its_classes_and_is_told() -> None:
    class Odd(ValueError):
        """A class of our own."""

    @node
    async def fails(step: Step[State, Stage]) -> Continue:
        await step.deps.at(step)
        raise Odd("no")

    @node(starts_round=False)
    async def handler(step: Step[State, Stage]) -> Complete[str]:
        await step.deps.at(step)
        error = step.error
        assert error is not None
        return Complete(f"{error.path} {error.type} {error.code} {error} {error.attempts} {error.exception}")

    inner = Flow("inner", fails.using(retry=Retry(attempts=2)).to(end), end)
    flow = Flow(
        "f",
        inner.as_node("inner", state=State).to(end).on_error(end, KeyError).on_error(handler, ValueError),
        end,
        handler,
    )
    story = Story(flow)
    began = await story.killed_at("handler#1")
    assert began == ["inner#1/fails#1"] * 2 + ["handler#1"]
    result, after = await story.to_the_end()
    assert result.value == "inner#1/fails#1 Odd exception Odd: no 2 None"
    assert after == ["handler#1"]
