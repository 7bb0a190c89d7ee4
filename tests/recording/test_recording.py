"""A recording is the run, whole, as plain data; its file gives the same back."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel

from flowcore import Budget, Complete, Continue, Flow, Log, Retry, Step, current_scope, each, node, parallel
from flowcore.errors import RecordingError
from flowcore.recording import (
    Recorded,
    Recording,
    VisitData,
    dump_runs,
    flow_data,
    load_runs,
    read_runs,
    recording_of,
)
from flowcore.testing import FakeClock


class Line(BaseModel):
    text: str
    tags: list[str] = []


class Anything(BaseModel):
    it: Any = None


class Desk(BaseModel):
    lines: list[Line] = []
    notes: dict[str, int] = {}
    heard: Log[str] = Log()
    at: datetime | None = None


@node(starts_round=True)
async def write(step: Step[Desk]) -> Continue:
    step.state.lines.append(Line(text="one"))
    step.state.notes["a"] = 1
    step.state.heard.append("hello")
    step.emit("seen", {"lines": 1})
    step.artifact("draft", "one", "text/plain")
    return Continue(why={"lines": 1})


@node
async def mend(step: Step[Desk]) -> Continue:
    step.state.lines[0].tags = ["mended"]
    step.state.notes = {"b": 2}
    step.state.at = datetime(2026, 1, 2, tzinfo=UTC)
    async with current_scope().request("small-1") as request:
        request.used(tokens=7, cost=0.5)
    return Continue()


@node
async def hand_in(step: Step[Desk]) -> Complete[str]:
    return Complete(step.state.lines[0].text)


@node
async def sorry(step: Step[Desk]) -> Complete[str]:
    return Complete("sorry")


desk: Flow[Desk, object, str] = Flow("desk", write.to(mend), mend.to(hand_in), hand_in)


async def recorded(flow: Flow[Any, Any, Any], state: Any, **options: Any) -> Recording:
    result = await flow.run(state, check=False, clock=FakeClock(), run_id="r1", **options)
    return recording_of(result.trace, name="q1", title="What?")


def places(visit: VisitData) -> list[tuple[str, str, str, str]]:
    return [(change.kind, change.place, change.was, change.now) for change in visit.changes]


async def test_a_run_is_recorded_with_what_each_visit_changed_told_and_asked() -> None:
    run = await recorded(desk, Desk(), budget=Budget(rounds=3, tokens=100))
    assert (run.name, run.title, run.run_id, run.status, run.value) == ("q1", "What?", "r1", "completed", '"one"')
    assert run.flow.name == "desk"
    assert run.signature == desk.signature
    assert run.budget == {"rounds": 3, "tokens": 100}
    assert run.state == {"lines": "[]", "notes": "{}", "heard": "Log([])", "at": "None"}
    first, second, third = run.visits
    assert places(first) == [
        ("appended", "heard", "", '["hello"]'),
        ("added", "lines[0]", "", 'Line(text="one", tags=[])'),
        ("added", 'notes["a"]', "", "1"),
    ]
    assert first.why == {"lines": "1"}
    assert [(said.kind, said.name, said.text) for said in first.said] == [
        ("custom", "seen", '{"lines": 1}'),
        ("artifact", "draft", 'text/plain "one"'),
    ]
    assert places(second) == [
        ("changed", "at", "None", "<2026-01-02 00:00:00+00:00>"),
        ("added", "lines[0].tags[0]", "", '"mended"'),
        ("removed", 'notes["a"]', "1", ""),
        ("added", 'notes["b"]', "", "2"),
    ]
    assert [(call.model, call.tokens, call.cost, call.failure) for call in second.calls] == [
        ("small-1", 7, 0.5, None)
    ]
    assert [(visit.kind, visit.edge, visit.target) for visit in run.visits] == [
        ("next", 0, "mend"),
        ("next", 0, "hand_in"),
        ("complete", -1, ""),
    ]
    assert [visit.spent.tokens for visit in run.visits] == [0, 7, 7]
    assert third.declared == "hand_in"
    assert run.spent.requests == 1


async def test_a_failed_request_is_recorded_with_its_visit() -> None:
    @node
    async def ask(step: Step[Desk]) -> Continue:
        async with step.scope.request("big-2"):
            raise ConnectionError("reset")

    run = await recorded(Flow("asks", ask.to(hand_in).on_error(sorry), hand_in, sorry), Desk())
    (call,) = run.visits[0].calls
    assert (call.model, call.tokens, str(call.failure)) == ("big-2", 0, "ConnectionError: reset")
    assert call.ended is not None


@dataclass
class Count:
    value: int = 0
    seen: list[int] = field(default_factory=list)


@node(starts_round=True)
async def step_up(step: Step[Count]) -> Continue:
    if step.attempt == 1:
        raise ValueError("again")
    step.state.value += 1
    return Continue()


@node
async def tell(step: Step[Count]) -> Complete[int]:
    if step.state.value > 5:
        raise KeyError("too many")
    return Complete(step.state.value)


@node
async def give_up(step: Step[Count]) -> Complete[int]:
    return Complete(-1)


count = Flow(
    "count", step_up.to(tell).using(retry=Retry(attempts=2)), tell.on_error(give_up, LookupError), give_up
)


def halves(state: Count) -> list[Count]:
    return [Count(1), Count(9)]


def sums(state: Count, results: list[int]) -> Continue:
    state.seen = results
    return Continue()


async def test_what_runs_inside_composites_knows_its_place_and_its_own_state() -> None:
    apart = each("apart", over=halves, do=count, collect=sums)
    left, right = step_up.named("left").using(retry=Retry(attempts=2)), tell_nothing.named("right")
    beside = parallel("beside", left, right)
    run = await recorded(Flow("whole", apart.to(beside), beside.to(tell), tell), Count())
    by_path = {visit.path: visit for visit in run.visits}
    second = by_path["apart#1[1]/tell#1"]
    assert (second.declared, second.around, second.branch) == ("apart/tell", "apart#1", "[1]")
    assert (second.kind, second.label, second.edge, second.target) == ("error", "KeyError", 0, "give_up")
    assert places(by_path["apart#1[1]/step_up#1"]) == [("changed", "value", "9", "10")]
    assert [str(fault) for _, fault in by_path["apart#1[0]/step_up#1"].retried] == ["ValueError: again"]
    assert places(by_path["apart#1"]) == [("added", "seen[0]", "", "2"), ("added", "seen[1]", "", "-1")]
    assert by_path["beside#1/left#1"].branch == "left"
    assert by_path["beside#1/left#1"].around == "beside#1"
    assert by_path["beside#1"].around == ""


@node
async def tell_nothing(step: Step[Count]) -> Continue:
    return Continue()


async def test_a_trace_file_gives_back_the_very_same_runs() -> None:
    runs = [await recorded(desk, Desk()), await recorded(count, Count(), budget=Budget(rounds=0))]
    assert load_runs(dump_runs(runs)) == runs


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"here:1: this is not JSON \(Expecting value\); name a trace file"),
        ("[1, 2]", r"here: this is no trace file; `flowcore run TARGET TEXT --out DIR` writes one"),
        (
            '{"format": "flowcore trace", "version": 2}',
            r"version 2, and this flowcore reads 1; use a newer flowcore",
        ),
        (
            '{"format": "flowcore trace", "version": 0}',
            r"version 0, and this flowcore reads 1; run the flow again",
        ),
        ('{"format": "flowcore trace", "version": 1, "flows": {}, "runs": [{}]}', r"damaged \('signature'\)"),
        ('{"format" "flowcore trace", "version": 1}', r"here:1: this is not JSON"),
    ],
)
def test_what_is_no_trace_file_is_one_clear_line(text: str, message: str) -> None:
    with pytest.raises(RecordingError, match=message) as caught:
        load_runs(text, "here")
    assert "\n" not in str(caught.value)


async def test_a_file_cut_anywhere_is_told_as_cut(tmp_path: Any) -> None:
    text = dump_runs([await recorded(desk, Desk())])
    for end in range(1, len(text) - 1, 97):
        with pytest.raises(RecordingError, match="cut off after"):
            load_runs(text[:end])
    (tmp_path / "trace.json").write_text(text[: len(text) // 2])
    with pytest.raises(RecordingError, match=r"trace\.json: cut off after [\d,]+ characters"):
        read_runs(tmp_path / "trace.json")
    with pytest.raises(RecordingError, match=r"nothing\.json: cannot be read: No such file"):
        read_runs(tmp_path / "nothing.json")


def _in(data: Any, *place: str | int) -> Any:
    """Return what stands at a place; "*" is the only key."""
    for part in place:
        data = next(iter(data.values())) if part == "*" else data[part]
    return data


FIRST = ("runs", 0, "visits", 0)


@pytest.mark.parametrize(
    ("place", "key", "value", "message"),
    [
        (("flows", "*"), "nodes", [], "hand_in is named and not declared"),
        (("flows", "*", "nodes", 0), "id", "mend", "write is named and not declared"),
        (("flows", "*", "nodes", 0), "id", "a/b", "write is named and not declared"),
        (("flows", "*", "routes", 0), "to", "no\nwhere", r"no\\nwhere is named and not declared"),
        (("flows", "*"), "finish", "nowhere", "nowhere is named and not declared"),
        (FIRST, "started", float("nan"), "a number too long"),
        (FIRST, "ended", float("inf"), "a number too long"),
        (FIRST, "started", 1e308, "a number too long"),
        (FIRST, "started", 10**308, "a number too long"),
        ((), "runs", {}, "the runs in it are damaged"),
        ((), "runs", "", "the runs in it are damaged"),
    ],
)
async def test_a_file_that_was_changed_by_hand_is_one_clear_line(
    place: tuple[str | int, ...], key: str, value: Any, message: str
) -> None:
    data = json.loads(dump_runs([await recorded(desk, Desk())]))
    _in(data, *place)[key] = value
    with pytest.raises(RecordingError, match=message) as caught:
        load_runs(json.dumps(data), "here")
    assert "\n" not in str(caught.value)


async def test_of_a_failure_that_has_much_to_say_the_beginning_is_kept() -> None:
    @node
    async def dump(step: Step[Anything]) -> Complete[int]:
        raise ValueError("x\n" * 1_000_000)

    run = await recorded(Flow("dump", dump.using(retry=Retry(2))), Anything())
    (visit,) = run.visits
    for fault in (run.failure, visit.failure, *(fault for _, fault in visit.retried)):
        assert fault is not None
        assert fault.message.startswith("x\nx\n")
        assert "... (2000000 characters, " in fault.message
        assert len(fault.message) < 4_100


async def test_a_value_that_cannot_be_looked_into_hides_no_change() -> None:
    class Torn(dict[str, int]):
        def get(self, *key: Any) -> Any:
            raise RuntimeError("no")

    @node
    async def tear(step: Step[Anything]) -> Continue:
        step.state.it = Torn(a=step.visit)
        return Continue()

    @node
    async def again(step: Step[Anything]) -> Complete[int]:
        step.state.it = Torn(a=2)
        return Complete(1)

    run = await recorded(Flow("torn", tear.to(again), again), Anything())
    assert [change.now for visit in run.visits for change in visit.changes] == ['{"a": 1}', '{"a": 2}']


async def test_a_run_is_recorded_bit_by_bit_while_it_goes_on() -> None:
    async with desk.start(Desk(), run_id="r1", clock=FakeClock()) as run:
        bit_by_bit = Recorded(run.trace)
        seen: list[VisitData] = []
        async for _ in run.events():
            seen += bit_by_bit.ended()
        await run.wait()
    assert [visit.path for visit in seen] == ["write#1", "mend#1", "hand_in#1"]
    assert bit_by_bit.ended() == []
    assert bit_by_bit.whole("", "", seen) == recording_of(run.trace)


@dataclass
class Heap:
    items: list[int] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)
    kinds: set[int] = field(default_factory=set)


async def test_of_very_many_items_the_first_are_kept_and_the_number_of_the_rest() -> None:
    @node
    async def pile(step: Step[Heap]) -> Complete[None]:
        step.state.items = list(range(100_000))
        step.state.names = {str(number): number for number in range(300)}
        step.state.kinds = set(range(201))
        return Complete(None)

    run = await recorded(Flow("pile", pile), Heap())
    items, kinds, names = run.visits[0].changes
    assert items.now.endswith("198, 199, ... and 99,800 more]")
    assert kinds.now.endswith(", ... and 1 more}")
    assert names.now.endswith('"199": 199, ... and 100 more}')
    assert sum(map(len, (items.now, names.now, kinds.now))) < 6_000


def test_flows_in_flows_without_end_are_told_in_one_line() -> None:
    @node
    async def last(step: Step[Desk]) -> Complete[str]:
        return Complete("")

    deep = Flow("deep", last)
    for _ in range(140):
        deep = Flow("deep", deep.as_node("inner").to(last), last)
    with pytest.raises(RecordingError, match=r"flows stand in flows too deeply to be shown \(about 100 levels\)"):
        flow_data(deep.plan)
