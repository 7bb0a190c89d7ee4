"""The diff of two runs: none between two schedules, and the first divergence first with what decided it."""

from __future__ import annotations

from random import Random
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.side.nests import Sheet, random_nest
from tests.side.test_against_reference import run_nest

from flowcore import Budget, Complete, Continue, Flow, RunResult, Step, each, node, parallel
from flowcore.diff import RunDiff, Turn, ValueChange, diff_runs, run_text
from flowcore.diff.run_drawing import run_drawing
from flowcore.diff.walks import Stop, align
from flowcore.recording import Recording, VisitData, recording_of

assert Sheet  # the state of the nests


class Ticket(BaseModel):
    question: str
    draft: str = ""
    limit: int = 20


@node(starts_round=True)
async def draft(step: Step[Ticket]) -> Continue:
    if step.state.question == "broken":
        raise LookupError("no such ticket")
    step.state.draft = step.state.question * step.visit
    return Continue()


@node
async def check(step: Step[Ticket]) -> Continue[Literal["good", "poor"]]:
    length = len(step.state.draft)
    return Continue("good" if length > step.state.limit else "poor", why={"length": length})


@node
async def deliver(step: Step[Ticket]) -> Complete[str]:
    return Complete(step.state.draft)


@node
async def apologise(step: Step[Ticket]) -> Complete[str]:
    return Complete(f"Sorry: {step.error}")


triage = Flow(
    "triage",
    draft.to(check).on_error(apologise),
    check.to(good=deliver, poor=draft),
    deliver,
    apologise,
)


def recorded(result: RunResult[Any], name: str = "") -> Recording:
    return recording_of(result.trace, name=name)


async def ran(question: str, name: str = "", flow: Any = triage, **options: Any) -> Recording:
    return recorded(await flow.run(Ticket(question=question), check=False, **options), name)


def facts(diff: RunDiff) -> list[str]:
    """Returns the lines of the text but for the summary and the time."""
    lines = run_text(diff).splitlines()
    assert lines[-1].startswith("  time: ")
    return lines[1:-1]


# ---- Walks -------------------------------------------------------------------------------------------------


def stops(names: list[int]) -> tuple[Stop, ...]:
    blank = VisitData.model_construct
    return tuple(Stop(blank(path=f"n{name}#1", node=f"n{name}", number=1), {}) for name in names)


def common_length(old: list[int], new: list[int]) -> int:
    """Returns the length of the longest common subsequence, by its definition."""
    row = [0] * (len(new) + 1)
    for a in old:
        before = row[:]
        for at, b in enumerate(new, 1):
            row[at] = before[at - 1] + 1 if a == b else max(before[at], row[at - 1])
    return row[-1]


unlike = st.lists(st.integers(0, 15), unique=True, max_size=12)


@given(unlike, unlike)
def test_aligned_walks_keep_their_order_and_have_as_much_in_common_as_can_be(
    old: list[int], new: list[int]
) -> None:
    before, after = stops(old), stops(new)
    pairs = align(before, after)
    assert tuple(was for was, _ in pairs if was is not None) == before
    assert tuple(now for _, now in pairs if now is not None) == after
    both = [(was, now) for was, now in pairs if was is not None and now is not None]
    assert all(was.key == now.key for was, now in both)
    assert len(both) == common_length(old, new)


# ---- Schedules ---------------------------------------------------------------------------------------------


@pytest.mark.behaviour("A73", "DIFF-5")
@pytest.mark.parametrize("chunk", range(3))
async def test_another_schedule_makes_no_difference(chunk: int) -> None:
    for seed in range(chunk * 6, (chunk + 1) * 6):
        nest = random_nest(seed)
        first, *others = [recorded(await run_nest(nest, schedule)) for schedule in range(3)]
        for other in others:
            diff = diff_runs(first, other)
            assert not diff.differs, f"seed {seed}: {nest}\n{run_text(diff)}"
            assert run_text(diff).splitlines()[0].endswith(": no difference")


async def test_the_order_in_which_visits_are_stored_makes_no_difference() -> None:
    run = await ran("what?")
    shuffled = list(run.visits)
    Random(1).shuffle(shuffled)
    assert not diff_runs(run, run.model_copy(update={"visits": tuple(shuffled)})).differs


# ---- Where runs part ---------------------------------------------------------------------------------------


@pytest.mark.behaviour("DIFF-4")
@pytest.mark.parametrize("swapped", [False, True])
async def test_the_first_divergence_comes_first_with_the_value_that_decided_it(swapped: bool) -> None:
    long, short = await ran("What is the opening hour?", "long"), await ran("Open today?", "short")
    diff = diff_runs(short, long) if swapped else diff_runs(long, short)
    if swapped:
        assert diff.turns == (Turn("check#1", "took 'good' where it took 'poor'", "length 25, was 11"),)
        assert (diff.only_old, diff.only_new) == (("draft#2", "check#2"), ())
    else:
        assert run_text(diff).splitlines()[0] == "run short, was long: they part at check#1"
        assert facts(diff)[0] == "first: check#1 took 'poor' where it took 'good': length 11, was 25"
        assert (diff.only_old, diff.only_new) == ((), ("draft#2", "check#2"))
        assert facts(diff)[1] == "+ visits of the new run only: draft#2, check#2"
        assert facts(diff)[-1] == "~ spent: 2 rounds, was 1"


@pytest.mark.behaviour("DIFF-4")
async def test_a_failure_says_itself_why_it_took_another_route() -> None:
    diff = diff_runs(await ran("What is the opening hour?"), await ran("broken"))
    assert facts(diff)[0] == (
        "first: draft#1 failed (LookupError: no such ticket) and went on to apologise where it went on to check"
    )
    assert diff.only_old == ("check#1", "deliver#1")
    assert diff.only_new == ("apologise#1",)


@pytest.mark.behaviour("DIFF-4")
async def test_without_a_reason_the_last_value_that_differs_is_named() -> None:
    @node(id="check")
    async def silent(step: Step[Ticket]) -> Continue[Literal["good", "poor"]]:
        return Continue("good" if len(step.state.draft) > 20 else "poor")

    flow = triage.replace(check=silent)
    diff = diff_runs(await ran("What is the opening hour?", flow=flow), await ran("Open today?", flow=flow))
    assert diff.turns[0].because == 'draft "Open today?", was "What is the opening hour?" (by draft#1)'


@pytest.mark.behaviour("DIFF-4")
async def test_a_budget_that_ran_out_is_what_decided() -> None:
    diff = diff_runs(await ran("Open?"), await ran("Open?", budget=Budget(rounds=2)))
    assert diff.turns == (
        Turn(
            "check#2",
            "was the last one (the run failed: BudgetExhausted: the rounds ran out: 2 of 2 used)"
            " where it was followed by draft#3",
            "a limit of rounds 2, was 25 (from the start)",
        ),
    )
    assert ValueChange("result", "", "ran out of", "", "rounds") in diff.values


async def test_runs_of_another_start_but_the_same_path_differ_in_values_alone() -> None:
    diff = diff_runs(await ran("What is the opening hour?", "a"), await ran("What is the opening day??", "b"))
    assert diff.turns == ()
    assert run_text(diff).splitlines()[0] == "run b, was a: the same path"
    assert [(value.kind, value.path, value.place) for value in diff.values] == [
        ("start", "", "question"),
        ("state", "draft#1", "draft"),
        ("result", "", "value"),
    ]
    assert facts(diff)[0] == ('~ the start: question "What is the opening day??", was "What is the opening hour?"')


async def test_runs_of_flows_that_differ_say_so_first() -> None:
    other = Flow(
        "triage", draft.to(check).on_error(apologise), check.to(good=deliver, poor=apologise), deliver, apologise
    )
    diff = diff_runs(await ran("Open?"), await ran("Open?", flow=other))
    assert facts(diff)[:2] == [
        "! runs of different flows; flow triage: 1 change; stored runs can go on",
        "first: check#1 took 'poor' to apologise where it took 'poor' to draft",
    ]


# ---- Inside ------------------------------------------------------------------------------------------------


class Basket(BaseModel):
    prices: list[int] = []
    total: int = 0


class Item(BaseModel):
    price: int


@node(starts_round=False)
async def look(step: Step[Item]) -> Complete[int]:
    return Complete(step.state.price * 2)


def items(basket: Basket) -> list[Item]:
    return [Item(price=price) for price in basket.prices]


def collect(draft: Basket, results: list[int]) -> Continue:
    draft.total = sum(results)
    return Continue()


@node
async def done(step: Step[Basket]) -> Complete[int]:
    return Complete(step.state.total)


lookup = Flow("look", look)
shop = Flow("shop", each("all", over=items, do=lookup, collect=collect).to(done), done)


async def shopped(*prices: int) -> Recording:
    return recorded(await shop.run(Basket(prices=list(prices)), check=False))


async def test_items_are_compared_one_by_one() -> None:
    diff = diff_runs(await shopped(1, 2, 3), await shopped(1, 2))
    assert (
        Turn("all#1", "kept 2 items where it kept 3 items", "prices [1, 2], was [1, 2, 3] (from the start)")
        in diff.turns
    )
    assert diff.only_old == ("all#1[2]/look#1",)


async def test_a_divergence_inside_comes_before_the_one_that_it_leads_to() -> None:
    inner = triage.as_node("sub", state=Ticket, enter=lambda ticket: ticket, leave=leave)
    outer = Flow("outer", inner.to(good=deliver, bad=apologise), deliver, apologise)
    diff = diff_runs(await ran("What is the opening hour?", flow=outer), await ran("broken", flow=outer))
    assert [turn.path for turn in diff.turns] == ["sub#1/draft#1", "sub#1"]
    assert facts(diff)[1].startswith("then: sub#1 took 'bad' where it took 'good'")


def leave(draft: Ticket, result: str) -> Continue[Literal["good", "bad"]]:
    return Continue("bad" if result.startswith("Sorry") else "good")


async def test_of_branches_what_was_dropped_is_not_compared() -> None:
    def branch(id: str, ends: bool) -> Any:
        async def function(step: Step[Basket]) -> Continue:
            if not ends:
                raise LookupError(id)
            return Continue()

        return node(id=id)(function)

    def flow(winner: str) -> Any:
        fan = parallel("fan", *(branch(id, id == winner) for id in "abc"), join="any")
        return Flow("fan", fan.to(done), done)

    runs = [recorded(await flow(winner).run(Basket(), check=False)) for winner in "ab"]
    assert diff_runs(*runs).turns == (Turn("fan#1", "kept b where it kept a"),)
    assert (diff_runs(*runs).only_old, diff_runs(*runs).only_new) == (("fan#1/a#1",), ("fan#1/b#1",))
    assert not diff_runs(runs[0], runs[0]).differs


# ---- Spending ----------------------------------------------------------------------------------------------


@pytest.mark.behaviour("DIFF-5")
async def test_time_alone_is_no_difference_and_all_else_that_was_spent_is() -> None:
    run = await ran("Open?")
    later = run.model_copy(update={"spent": run.spent.model_copy(update={"seconds": 99.0})})
    assert not diff_runs(run, later).differs
    assert run_text(diff_runs(run, later)).splitlines()[-1].startswith("  time: 99.00 s, was 0.0")
    dearer = run.model_copy(update={"spent": run.spent.model_copy(update={"tokens": 12, "requests": 3})})
    assert facts(diff_runs(run, dearer)) == ["~ spent: 3 requests, was 0", "~ spent: 12 tokens, was 0"]


async def test_attempts_count() -> None:
    run = await ran("Open?")
    first, *rest = run.visits
    twice = run.model_copy(update={"visits": (first.model_copy(update={"attempts": 2}), *rest)})
    assert facts(diff_runs(run, twice)) == ["~ draft#1: attempts 2, was 1"]


async def test_the_picture_shows_the_ways_of_both_and_of_each_alone() -> None:
    old, new = await ran("What is the opening hour?"), await ran("broken")
    drawing = run_drawing(diff_runs(old, new))
    names = {item.id: item.label or item.kind for item in drawing.nodes}
    marks = {names.get(id, id): (mark.kind, mark.note) for id, mark in drawing.marks.items() if id in names}
    ways = {
        f"{names[edge.source]} > {names[edge.target]}": drawing.marks[edge.id].kind
        for edge in drawing.edges
        if edge.id in drawing.marks
    }
    assert marks == {
        "draft": ("failed", "ran once, failed"),
        "check": ("other", "the old run only"),
        "deliver": ("other", "the old run only"),
        "apologise": ("ok", "ran once, ok, the new run only"),
    }
    assert ways == {
        "start > draft": "taken",
        "draft > check": "other",
        "draft > apologise": "added",
        "check > deliver": "other",
        "deliver > end": "other",
        "apologise > end": "added",
    }


async def test_a_sub_flow_that_one_run_never_went_into_is_told_so() -> None:
    inner = Flow("inner", draft.to(check), check.to(good=deliver, poor=draft), deliver)
    sub = inner.as_node("sub", state=Ticket, enter=entered, leave=leave)
    outer = Flow("outer", sub.to(good=deliver, bad=deliver).on_error(apologise), deliver, apologise)
    diff = diff_runs(await ran("What is the opening hour?", flow=outer), await ran("refused", flow=outer))
    assert diff.turns[0].words == "did nothing inside where it went inside"
    assert diff.turns[1].words == ("failed (LookupError: refused) and went on to apologise where it took 'good'")
    assert diff.only_old == ("sub#1/draft#1", "sub#1/check#1", "sub#1/deliver#1", "deliver#1")


def entered(ticket: Ticket) -> Ticket:
    if ticket.question == "refused":
        raise LookupError(ticket.question)
    return ticket
