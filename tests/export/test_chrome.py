"""The Chrome trace of a run: what Perfetto shows of it is what happened."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flowcore.export import chrome_trace
from flowcore.recording import Recording, dump_runs

from .runs import by_hand, of_flow, of_nest

Events = list[dict[str, Any]]
NUMBER = (int, float)
REMEDY = "name one after a #, by its place from 1 to 2 or as one of a, b"
KEYS = {
    "X": {"name": str, "cat": str, "pid": int, "tid": int, "ts": NUMBER, "dur": NUMBER, "args": dict},
    "i": {"name": str, "cat": str, "pid": int, "tid": int, "ts": NUMBER, "s": str, "args": dict},
    "C": {"name": str, "pid": int, "ts": NUMBER, "args": dict},
    "M": {"name": str, "pid": int, "args": dict},
}


def events_of(run: Recording) -> Events:
    data = json.loads(chrome_trace(run))
    assert set(data) == {"traceEvents", "displayTimeUnit", "otherData"}
    return list(data["traceEvents"])


def slices(events: Events, kind: str) -> Events:
    return [event for event in events if event["ph"] == "X" and event["cat"] == kind]


def tracks(events: Events) -> dict[int, str]:
    return {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}


def check(run: Recording) -> None:
    """Holds a trace to its format, to its run, and to what can be drawn on one line."""
    events = events_of(run)
    named = tracks(events)
    for event in events:
        for key, kind in KEYS[event["ph"]].items():
            assert isinstance(event[key], kind), event
        assert event["pid"] == 1
        assert event.get("tid", 1) in named
        assert event.get("ts", 0) >= 0
        assert event.get("dur", 0) >= 0
    made = [visit for visit in run.visits if visit.kind != "over_limit"]
    assert sorted(event["args"]["path"] for event in slices(events, "visit")) == sorted(v.path for v in made)
    assert len(slices(events, "model")) == sum(len(visit.calls) for visit in run.visits)
    assert len(slices(events, "round")) == run.spent.rounds
    check_lines(events)


def check_lines(events: Events) -> None:
    """Holds that of two slices of one line that overlap one lies in the other, and belongs to it."""
    open_on: defaultdict[int, Events] = defaultdict(list)
    for event in (event for event in events if event["ph"] == "X"):
        above = open_on[event["tid"]]
        while above and end(above[-1]) <= event["ts"]:
            above.pop()
        if above:
            outer = above[-1]
            assert end(event) <= end(outer), (event, outer)
            inner_path, outer_path = event["args"].get("path", ""), outer["args"]["path"]
            assert event["cat"] == "model" or inner_path.startswith((f"{outer_path}/", f"{outer_path}["))
        above.append(event)


def end(event: dict[str, Any]) -> float:
    return round((event["ts"] + event["dur"]) * 1000) / 1000  # to the nanosecond


@pytest.mark.behaviour("EXP-1")
@pytest.mark.parametrize("chunk", range(4))
async def test_whatever_happened_no_two_slices_of_a_line_overlap_in_part(chunk: int) -> None:
    branched = 0
    for seed in range(chunk * 12, chunk * 12 + 12):
        run = await of_nest(seed)
        check(run)
        branched += any(visit.branch for visit in run.visits)
    assert branched
    for seed in range(chunk * 40, chunk * 40 + 40):
        check(await of_flow(seed))


def test_a_run_by_hand_is_shown_as_it_was() -> None:
    run = by_hand()
    check(run)
    events = events_of(run)
    assert tracks(events) == {
        1: "rounds",
        2: "desk",
        3: "fan/web",
        4: "fan/docs",
        5: "fan/web, beside",
    }
    told = [(event["name"], event["tid"], event["ts"], event["dur"]) for event in slices(events, "visit")]
    assert told == [
        ("search", 2, 0, 10_000),
        ("fan", 2, 20_000, 180_000),
        ("web", 3, 30_000, 150_000),
        ("docs!", 4, 30_000, 70_000),
        ("answer", 2, 200_000, 10_000),
    ]
    requests = [(event["tid"], event["ts"], event["dur"], event["args"]) for event in slices(events, "model")]
    assert requests == [
        (3, 50_000, 100_000, {"tokens": 120, "cost": 0.5}),
        (5, 60_000, 10_000, {"failure": "TimeoutError: busy"}),
    ]
    assert [(event["name"], event["ts"], event["dur"]) for event in slices(events, "round")] == [
        ("round 1", 0, 250_000)
    ]


def test_what_happened_at_a_moment_stands_at_that_moment() -> None:
    events = events_of(by_hand())
    assert [
        (event["name"], event["cat"], event["tid"], event["ts"]) for event in events if event["ph"] == "i"
    ] == [
        ("retry", "retry", 2, 5_000),
        ("found", "custom", 3, 160_000),
        ("page", "artifact", 3, 170_000),
        ("out of rounds", "budget", 2, 200_000),
        ("out of rounds", "budget", 1, 250_000),
        ("completed", "run", 1, 250_000),
    ]
    counters = [(event["ts"], event["args"]) for event in events if event["ph"] == "C"]
    assert counters[-1] == (210_000, {"rounds": 1, "requests": 2, "tokens": 120, "cost": 0.5})


@pytest.mark.behaviour("EXP-1")
def test_a_visit_says_by_which_route_it_was_left_why_and_what_it_changed() -> None:
    args = [event["args"] for event in slices(events_of(by_hand()), "visit")]
    assert args[0] == {"path": "search#1", "round": 1, "route": "next -> fan", "attempts": 2}
    assert args[3] == {
        "path": "fan#1/docs#1",
        "round": 1,
        "route": "failed",
        "failure": "LookupError: nothing there",
        "not needed": True,
    }
    assert args[4]["why"] == {"n": "3"}
    assert args[4]["changes"] == [
        "plain: '' -> 'x'",
        "+ log += ['y']",
        "- facts['z'] (was 'w')",
        "+ words[0] = 'v'",
    ]


def test_items_share_as_many_lines_as_ran_at_a_time() -> None:
    run = by_hand()
    items = [
        run.visits[2].model_copy(
            update={"path": f"fan#1[{n}]/web#1", "branch": f"[{n}]", "seq": 10 + n, "calls": (), "said": ()}
            | {"started": 0.03 + 0.05 * (n // 2), "ended": 0.08 + 0.05 * (n // 2)}
        )
        for n in range(6)
    ]
    events = events_of(run.model_copy(update={"visits": (*run.visits[:2], *items, run.visits[4])}))
    assert list(tracks(events).values()) == ["rounds", "desk", "fan, item 1", "fan, item 2"]
    lines = [(event["name"], event["tid"]) for event in slices(events, "visit") if "[" in event["args"]["path"]]
    assert lines == [(f"web [{n}]", 3 + n % 2) for n in range(6)]


def test_a_run_that_goes_on_is_shown_as_far_as_it_went() -> None:
    run = by_hand()
    open_ended = [visit.model_copy(update={"ended": None, "kind": "running"}) for visit in run.visits[1:3]]
    so_far = run.model_copy(update={"status": "running", "visits": (run.visits[0], *open_ended)})
    events = events_of(so_far)
    assert [(event["name"], end(event)) for event in slices(events, "visit")] == [
        ("search", 10_000),
        ("fan", 250_000),
        ("web", 250_000),
    ]


async def test_equal_recordings_give_equal_text() -> None:
    assert chrome_trace(by_hand()) == chrome_trace(by_hand())
    run = await of_nest(3)
    assert chrome_trace(run) == chrome_trace(run.model_copy(update={"visits": run.visits[::-1]}))


@pytest.fixture
def recorded(here: Path) -> Path:
    """A trace file of two runs."""
    runs = [by_hand().model_copy(update={"name": name, "run_id": f"r-{name}"}) for name in ("a", "b")]
    (here / "trace.json").write_text(dump_runs(runs))
    return here


def test_the_command_writes_the_run_that_is_named(call: Callable[..., Any], recorded: Path) -> None:
    assert call("export", "trace.json#b", "-o", "b.perfetto.json").code == 0
    data = json.loads((recorded / "b.perfetto.json").read_text())
    assert (data["otherData"]["flow"], data["otherData"]["name"]) == ("desk", "b")
    for same in ("#2", "#r-b"):
        assert call("export", f"trace.json{same}").out == (recorded / "b.perfetto.json").read_text()


def test_what_cannot_be_exported_is_told_in_one_line(call: Callable[..., Any], recorded: Path) -> None:
    targets = ("trace.json", "trace.json#c", "app.py", "no.json")
    which, none, flow, missing = (call("export", target) for target in targets)
    assert [told.code for told in (which, none, flow, missing)] == [2, 2, 2, 2]
    assert which.err == f"flowcore: trace.json: there are 2 runs in it; {REMEDY}\n"
    assert none.err == f"flowcore: trace.json: there is no run c in it; {REMEDY}\n"
    assert flow.err.startswith("flowcore: app.py: this is no trace file, and only a run is exported: run the flow")
    assert missing.err == "flowcore: no.json: cannot be read: No such file or directory; name another file\n"
