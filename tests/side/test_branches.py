"""Branches: joins, drafts of their own, what is merged and what is dropped; branches inside branches."""

from __future__ import annotations

import sys
import threading
from contextvars import ContextVar
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from tests.stepping import StepClock, passes

from flowcore import (
    Budget,
    Complete,
    Continue,
    ContractError,
    Flow,
    Log,
    Merge,
    Retry,
    Run,
    Step,
    each,
    node,
    parallel,
)
from flowcore.events import Event

from ..core.runs import Boom, does, ends, raising
from .branching import ORDERS, adds, leaf, waiting, writes
from .moving import finished
from .states import Item, Page, around, item_flow, last

# ---- Joins -------------------------------------------------------------------------------------------------


@ORDERS
@pytest.mark.behaviour("A67", "A73")
async def test_all_waits_for_each_branch_and_merges_in_declared_order(waits: tuple[float, ...]) -> None:
    clock = StepClock()
    fan = parallel("fan", *(leaf(id, waiting(clock, s, adds(id))) for id, s in zip("abc", waits, strict=True)))
    result = await finished(around(fan), Page(), clock)
    assert result.state.words == ["a", "b", "c"]
    assert result.trace.path == "fan(a | b | c) > end"
    assert result.usage.seconds == 3.0
    assert [visit.kind for visit in result.trace] == ["next", "join", "join", "join", "complete"]
    assert result.trace.to_text() == (
        'flow f\nresult completed\nvalue ""\n\nbefore round 1\n  fan\n'
        '    a\n      + words = ["a"]\n    b\n      + words = ["b"]\n    c\n      + words = ["c"]\n'
        '    + words = ["a", "b", "c"]\n    -> end\n  end\n    -> end\n\nused 0 rounds\n'
    )


@ORDERS
async def test_any_takes_the_first_success_and_drops_the_others(waits: tuple[float, ...]) -> None:
    clock = StepClock()
    fan = parallel(
        "fan", *(leaf(id, waiting(clock, s, adds(id))) for id, s in zip("abc", waits, strict=True)), join="any"
    )
    result = await finished(around(fan), Page(), clock)
    winner = "abc"[waits.index(1.0)]
    assert result.state.words == [winner]
    assert result.trace.path == f"fan({winner}) > end"
    assert result.usage.seconds == 1.0
    lost = [visit for visit in result.trace if visit.kind == "unfinished"]
    assert sorted(visit.node for visit in lost) == [id for id in "abc" if id != winner]
    assert {visit.failure.type for visit in lost if visit.failure} == {"Cancelled"}
    losers = [f"    {id}  [not finished]\n" for id in "abc" if id != winner]
    assert all(line in result.trace.to_text() for line in losers)


@ORDERS
async def test_a_number_waits_for_that_many(waits: tuple[float, ...]) -> None:
    clock = StepClock()
    fan = parallel(
        "fan", *(leaf(id, waiting(clock, s, adds(id))) for id, s in zip("abc", waits, strict=True)), join=2
    )
    result = await finished(around(fan), Page(), clock)
    winners = [id for id, seconds in zip("abc", waits, strict=True) if seconds < 3]
    assert result.state.words == winners
    assert result.usage.seconds == 2.0


@pytest.mark.parametrize(("join", "path"), [("any", "fan(b) > end"), (2, "fan(b | d) > end")])
async def test_a_branch_that_fails_does_not_matter_where_others_are_enough(join: Any, path: str) -> None:
    branches = [leaf("a", raising()), leaf("b", adds("b")), leaf("c", raising()), leaf("d", adds("d"))]
    clock = StepClock()
    branches[3] = leaf("d", waiting(clock, 1.0, adds("d")))
    result = await finished(around(parallel("fan", *branches, join=join)), Page(), clock)
    assert (result.status, result.trace.path) == ("completed", path)
    assert "a  [not finished]" in result.trace.to_text()


@pytest.mark.parametrize("join", ["any", 1, 2])
async def test_where_too_few_succeed_the_lowest_failure_is_raised_with_the_others(join: Any) -> None:
    clock = StepClock()
    late = leaf("a", waiting(clock, 2.0, raising(error=Boom("late"))))
    fan = parallel("fan", late, leaf("b", raising(error=KeyError("early"))), join=join)
    result = await finished(around(fan), Page(), clock)
    assert result.status == "failed"
    assert result.failure is not None
    assert (result.failure.path, str(result.failure.exception)) == ("fan#1/a#1", "late")
    assert result.failure.exception is not None
    assert "also failed: fan#1/b#1: KeyError: 'early'" in result.failure.exception.__notes__
    assert sorted(visit.path for visit in result.trace if visit.failure) == ["fan#1", "fan#1/a#1", "fan#1/b#1"]


@pytest.mark.parametrize("join", ["all", "any"])
async def test_one_branch_is_enough_of_a_parallel(join: Any) -> None:
    result = await finished(around(parallel("fan", leaf("a", adds("a")), join=join)), Page())
    assert (result.state.words, result.trace.path) == (["a"], "fan(a) > end")


@pytest.mark.behaviour("A67")
async def test_a_join_waits_for_the_longer_way() -> None:
    b2 = leaf("b2", adds("b2"))
    end = ends(Page)
    longer = Flow("longer", leaf("b", adds("b")).to(b2), b2.to(end), end)
    c = leaf("c", writes("text", "once"))
    fan = parallel("fan", leaf("a", adds("a")), longer.as_node("longer"))
    final = last()
    result = await finished(Flow("f", fan.to(c), c.to(final), final), Page())
    assert result.trace.path == "fan(a | longer(b > b2 > end)) > c > end"
    assert result.state.words == ["a", "b", "b2"]


@pytest.mark.behaviour("A65")
async def test_joins_in_a_chain_lose_nothing() -> None:
    steps = [leaf(f"s{number}", adds(f"s{number}")) for number in range(3)]
    inner = parallel("inner", *steps)
    outer = parallel("outer", inner, leaf("other", adds("other")))
    result = await finished(around(outer), Page())
    assert result.state.words == ["s0", "s1", "s2", "other"]
    assert result.trace.path == "outer(inner(s0 | s1 | s2) | other) > end"


# ---- Drafts and merging ------------------------------------------------------------------------------------


async def test_a_branch_sees_neither_its_siblings_nor_changes_what_they_see() -> None:
    clock = StepClock()
    seen: list[Any] = []

    def look(step: Any) -> None:
        seen.append((list(step.state.plain), step.state.text, list(step.state.log)))

    def spoil(step: Any) -> None:
        step.state.plain.append("spoilt")
        step.state.text = "spoilt"
        step.state.log.append("spoilt")

    fan = parallel("fan", leaf("first", spoil), leaf("second", waiting(clock, 1.0, look)))
    page = Page(plain=["before"], log=Log(["before"]))
    result = await finished(around(fan), page, clock)
    assert seen == [(["before"], "", ["before"])]
    assert (result.state.plain, list(result.state.log)) == (["before", "spoilt"], ["before", "spoilt"])
    assert page == Page(plain=["before"], log=Log(["before"]))


async def test_the_state_changes_at_the_join_in_one_patch() -> None:
    clock = StepClock()
    told: list[Event] = []
    fan = parallel("fan", leaf("a", writes("text", "A")), leaf("b", waiting(clock, 1.0, writes("title", "B"))))
    states: list[Any] = []

    async def look(run: Run[Any]) -> None:
        await passes(5)
        states.append([visit.path for visit in run.trace])

    result = await finished(around(fan), Page(), clock, meanwhile=look, observers=[told.append])
    fan_visit = next(visit for visit in result.trace if visit.path == "fan#1")
    assert fan_visit.patch == {"text": "A", "title": "B"}
    assert states == [["fan#1/a#1"]]
    patched = [(event.path, sorted(event.patch)) for event in told if event.kind == "state.patched"]
    assert patched == [("fan#1/a#1", ["text"]), ("fan#1/b#1", ["title"]), ("fan#1", ["text", "title"])]


@pytest.mark.parametrize(
    ("field", "values", "wanted"),
    [
        ("words", [["0", "a"], ["0", "b", "c"]], ["0", "a", "b", "c"]),
        ("words", [["0"], ["0", "b"]], ["0", "b"]),
        ("most", [3, 7], 7),
        ("most", [7, 3], 7),
        ("log", [Log(["x"]), None], ["x"]),
    ],
)
async def test_a_field_that_two_branches_wrote_is_merged_by_its_rule(field: str, values: Any, wanted: Any) -> None:
    branches = [
        leaf(f"n{number}", writes(field, value) if value is not None else lambda step: None)
        for number, value in enumerate(values)
    ]
    result = await finished(around(parallel("fan", *branches)), Page(words=["0"], log=Log(["0"])))
    assert result.status == "completed", result.failure
    value = getattr(result.state, field)
    assert (list(value) if isinstance(value, Log) else value) == wanted


@ORDERS
async def test_logs_are_joined_without_a_rule(waits: tuple[float, ...]) -> None:
    clock = StepClock()
    branches = (leaf(id, waiting(clock, s, adds(id, "log"))) for id, s in zip("abc", waits, strict=True))
    result = await finished(around(parallel("fan", *branches)), Page(log=Log(["0"])), clock)
    assert list(result.state.log) == ["0", "a", "b", "c"]
    assert '    + log += ["a", "b", "c"]\n' in result.trace.to_text()


async def test_what_several_visits_of_a_branch_appended_is_told_as_a_whole() -> None:
    b, end = leaf("b", adds("b", "log")), ends(Page)
    inner = Flow("inner", leaf("a", adds("a", "log")).to(b), b.to(end), end)
    result = await finished(around(parallel("fan", inner.as_node("in"))), Page(log=Log(["0"])))
    assert list(result.state.log) == ["0", "a", "b"]
    assert "  fan\n    in\n" in result.trace.to_text()
    assert '\n    + log += ["a", "b"]\n    -> end\n' in result.trace.to_text()


async def test_branches_that_wrote_one_field_without_a_rule_are_both_named() -> None:
    inner = item_flow(writes("text", "B"), Page, str).as_node("b")
    fan = parallel("fan", leaf("a", writes("text", "A")), leaf("c", adds("c")), inner)
    result = await finished(around(fan, caught=True), Page(title="kept"))
    assert result.status == "failed"
    assert result.failure is not None
    assert result.failure.code == ContractError.code
    assert "fan#1/a" in result.failure.message
    assert "fan#1/b" in result.failure.message
    assert "fan#1/c" not in result.failure.message
    assert "'text'" in result.failure.message
    assert result.state == Page(title="kept")


async def test_the_same_value_from_two_branches_is_still_written_twice() -> None:
    fan = parallel("fan", leaf("a", writes("text", "A")), leaf("b", writes("text", "A")))
    result = await finished(around(fan), Page())
    assert result.failure is not None
    assert result.failure.code == ContractError.code


async def test_what_a_loser_wrote_collides_with_nothing() -> None:
    clock = StepClock()
    lost = leaf("b", waiting(clock, 5.0, writes("text", "B")))
    fan = parallel("fan", leaf("a", writes("text", "A")), lost, join="any")
    result = await finished(around(fan), Page(), clock)
    assert (result.status, result.state.text) == ("completed", "A")


@pytest.mark.parametrize("error", [ValueError("bad rule"), ContractError("bad rule")])
async def test_a_merge_rule_that_raises_is_a_failure_of_the_parallel(error: Exception) -> None:
    def rule(before: int, values: Any) -> int:
        raise error

    class Ruled(BaseModel):
        number: Annotated[int, Merge(rule)] = 0

    def branch(id: str) -> Any:
        return does(lambda step: setattr(step.state, "number", 1), id, Ruled)

    end = ends(Ruled)
    result = await finished(Flow("f", parallel("fan", branch("a"), branch("b")).to(end), end), Ruled())
    assert result.failure is not None
    assert (result.failure.path, result.failure.type) == ("fan#1", type(error).__name__)
    assert "bad rule" in result.failure.message


async def test_a_merge_rule_whose_value_does_not_fit_names_the_field() -> None:
    class Ruled(BaseModel):
        number: Annotated[int, Merge(lambda before, values: "many")] = 0

    def branch(id: str) -> Any:
        return does(lambda step: setattr(step.state, "number", 1), id, Ruled)

    end = ends(Ruled)
    result = await finished(Flow("f", parallel("fan", branch("a"), branch("b")).to(end), end), Ruled())
    assert result.failure is not None
    assert result.failure.code == ContractError.code
    assert "fan#1" in result.failure.message
    assert "Ruled.number" in result.failure.message


# ---- Nested ------------------------------------------------------------------------------------------------


async def test_branches_inside_items_inside_a_sub_flow() -> None:
    class Shared(Item):
        seen: Annotated[list[str], Merge.append] = Field(default_factory=list)

    def mark(id: str) -> Any:
        return does(lambda step: step.state.seen.append(f"{id}{step.state.index}"), id, Shared)

    end = ends(Shared, lambda step: ",".join(step.state.seen))
    item = Flow("item", parallel("fan", mark("a"), mark("b")).to(end), end.on_error(None))

    def over(page: Page) -> list[Shared]:
        return [Shared(index=index) for index in range(3)]

    def collect(draft: Page, results: list[Any]) -> Continue:
        draft.words += results
        return Continue()

    inner = around(each("map", over=over, do=item, collect=collect, limit=2))
    result = await finished(around(inner.as_node("sub")), Page())
    assert result.state.words == ["a0,b0", "a1,b1", "a2,b2"]
    one = "fan(a | b) > end"
    assert result.trace.path == f"sub(map({one} | {one} | {one}) > end) > end"
    assert {visit.path for visit in result.trace if visit.node == "a"} == {
        f"sub#1/map#1[{index}]/fan#1/a#1" for index in range(3)
    }


async def test_each_path_names_one_visit_and_branches_count_their_visits_by_themselves() -> None:
    def spin(name: str) -> Any:
        end = ends(Page)
        step = does(
            lambda step: Continue("more" if step.visit < 3 else "done"),
            "spin", Page, Continue[Literal["more", "done"]], starts_round=True,
        )  # fmt: skip
        return Flow(name, step.to(more=step, done=end), end).as_node(name)

    result = await finished(around(parallel("fan", spin("a"), spin("b"))), Page())
    paths = [visit.path for visit in result.trace]
    assert len(paths) == len(set(paths))
    assert {f"fan#1/{name}#1/spin#{n}" for name in "ab" for n in (1, 2, 3)} <= set(paths)
    assert result.usage.rounds == 6
    assert sorted(visit.round for visit in result.trace if visit.node == "spin") == [1, 2, 3, 4, 5, 6]


async def test_rounds_of_branches_are_paid_from_the_one_budget() -> None:
    paying = [does(lambda step: None, id, Page, starts_round=True) for id in "abc"]
    fan = parallel("fan", *paying)
    enough = await finished(around(fan), Page(), budget=Budget(rounds=3))
    assert (enough.status, enough.usage.rounds) == ("completed", 3)
    short = await finished(around(fan, caught=True), Page(), budget=Budget(rounds=2))
    assert (short.status, short.exhausted, short.usage.rounds) == ("failed", "rounds", 2)


@pytest.mark.parametrize("join", ["all", "any", 2])
async def test_visits_that_ran_out_in_a_branch_lead_to_the_finish_of_the_flow(join: Any) -> None:
    end, inner_end = last(), ends(Page)
    spin = does(lambda step: Continue("more"), "spin", Page, Continue[Literal["more", "done"]], starts_round=True)
    stuck = Flow("stuck", spin.using(max_visits=2).to(more=spin, done=inner_end), inner_end)
    fin = does(lambda step: Complete(f"finish after {step.exhausted}"), "fin", Page, Complete[str])
    waits = leaf("waits", waiting(StepClock(), 100.0))
    fan = parallel("fan", stuck.as_node("stuck"), waits, join=join)
    flow = Flow("f", fan.to(end).on_error(end), end, fin, finish=fin)
    result = await finished(flow, Page())
    assert (result.status, result.exhausted) == ("completed", "visits")
    assert result.value == "finish after visits"


# ---- Context, threads, retries -----------------------------------------------------------------------------

colour: ContextVar[str] = ContextVar("colour", default="none")


async def test_what_a_branch_sets_in_its_context_stays_in_it() -> None:
    clock = StepClock()
    seen: dict[str, str] = {}

    def paints(id: str, seconds: float) -> Any:
        async def act(step: Any) -> None:
            seen[f"{id} before"] = colour.get()
            colour.set(id)
            await clock.sleep(seconds)
            seen[f"{id} after"] = colour.get()

        return leaf(id, act)

    def look(step: Any) -> None:
        seen["next"] = colour.get()

    def set_outside(step: Any) -> None:
        colour.set("outside")

    second = leaf("second", lambda step: seen.update(second=colour.get()))
    h, inner_end = second, ends(Page)
    inner = Flow("inner", paints("c", 0.5).to(h), h.to(inner_end), inner_end)
    fan = parallel("fan", paints("a", 2.0), paints("b", 1.0), inner.as_node("in"))
    look_at, end = leaf("look", look), last()
    first = leaf("first", set_outside)
    flow = Flow("f", first.to(fan), fan.to(look_at), look_at.to(end), end)
    await finished(flow, Page(), clock)
    assert seen == {
        "a before": "outside", "b before": "outside", "c before": "outside", "a after": "a", "b after": "b",
        "c after": "c", "second": "c", "next": "outside",
    }  # fmt: skip
    assert colour.get() == "none"


async def test_plain_functions_as_branches_work_side_by_side_in_threads() -> None:
    barrier = threading.Barrier(2, timeout=10)

    def made(id: str) -> Any:
        @node(id=id)
        def function(step: Step[Page]) -> Continue:
            barrier.wait()
            step.state.words.append(id)
            return Continue()

        return function

    result = await finished(around(parallel("fan", made("a"), made("b"))), Page())
    assert result.state.words == ["a", "b"]


async def test_a_retry_in_one_branch_runs_only_that_branch_again() -> None:
    clock = StepClock()
    ran: list[str] = []

    def act(step: Any) -> None:
        ran.append(f"{step.path}.{step.attempt}")
        if step.path == "fan#1/a#1" and step.attempt < 3:
            raise Boom

    fan = parallel("fan", leaf("a", act).using(retry=Retry(attempts=3, wait=1)), leaf("b", act))
    result = await finished(around(fan), Page(), clock)
    assert sorted(ran) == ["fan#1/a#1.1", "fan#1/a#1.2", "fan#1/a#1.3", "fan#1/b#1.1"]
    assert (result.status, result.usage.seconds) == ("completed", 3.0)


@pytest.mark.behaviour("A77")
async def test_everything_is_named_by_its_path_and_never_by_the_order_of_endings() -> None:
    told: list[list[tuple[str, Any]]] = []
    for waits in ((1.0, 2.0, 3.0), (3.0, 2.0, 1.0)):
        clock = StepClock()

        def keeps(step: Any) -> None:
            step.state.words.append(step.idempotency_key)

        branches = [leaf(id, waiting(clock, s, keeps)) for id, s in zip("abc", waits, strict=True)]
        fan = parallel("fan", *branches)
        result = await finished(around(fan), Page(), clock, run_id="r")
        told.append([*sorted((visit.path, visit.kind) for visit in result.trace), ("words", result.state.words)])
    assert told[0] == told[1]


async def test_many_joins_one_after_the_other_cost_the_same_each() -> None:
    """Work is counted in records that are read, not in seconds."""

    async def calls(rounds: int) -> int:
        again = does(
            lambda step: Continue("more" if step.visit < rounds else "done"),
            "again", Page, Continue[Literal["more", "done"]], starts_round=True,
        )  # fmt: skip
        fan, end = parallel("fan", leaf("a"), leaf("b")), last()
        flow = Flow("f", again.to(more=fan, done=end), fan.to(again), end)
        lines = 0

        def count(frame: Any, event: str, argument: Any) -> Any:
            nonlocal lines
            lines += event == "line"
            return count if frame.f_code.co_filename.endswith(("record.py", "frame.py", "gather.py")) else None

        sys.settrace(count)
        try:
            await flow.run(Page(), budget=Budget(rounds=None))
        finally:
            sys.settrace(None)
        return lines

    few, many = await calls(10), await calls(100)
    assert many < few * 15
