"""Snapshots in real runs of pytest: what is kept, what a failure says first, what it shows and leaves behind."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from flowcore.recording import read_runs

if TYPE_CHECKING:
    from .conftest import Project

DESK = """
from typing import Literal

from pydantic import BaseModel

from flowcore import Complete, Continue, Flow, Step, node, parallel


class Ticket(BaseModel):
    question: str = "?"
    token: str = "abc"
    draft: str = ""
    left: int = 0
    right: int = 0


@node
async def left(step: Step[Ticket]) -> Continue:
    step.state.left = 1
    return Continue()


@node
async def right(step: Step[Ticket]) -> Continue:
    step.state.right = 2
    return Continue()


@node
async def apologise(step: Step[Ticket]) -> Complete[str]:
    return Complete(f"Sorry: {step.error}")


def desk(today=""):
    @node(starts_round=False)
    async def read(step: Step[Ticket]) -> Continue:
        step.state.token = f"key {today}"
        return Continue(why={"today": 1})

    @node(starts_round=True)
    async def write(step: Step[Ticket]) -> Continue:
        if today == "failing" and step.visit == 1:
            raise ValueError("no words")
        step.state.draft += "ab" if today == "value" else "abc"
        return Continue()

    @node
    async def check(step: Step[Ticket]) -> Continue[Literal["good", "poor", "best"]]:
        length = len(step.state.draft)
        if today == "route" and length > 5:
            return Continue("best", why={"length": length})
        return Continue("good" if length > 3 else "poor", why={"length": length})

    @node
    async def end(step: Step[Ticket]) -> Complete[str]:
        if today == "broken":
            raise ValueError("no end")
        return Complete("other" if today == "result" else step.state.draft)

    fan = parallel("fan", right, left) if today == "order" else parallel("fan", left, right)
    rows = [] if today == "missing" else [fan.to(write)]
    return Flow(
        "desk",
        read.to(write if today == "missing" else fan),
        *rows,
        write.to(check).on_error(apologise),
        check.to(good=end, poor=write, best=end),
        end,
        apologise,
    )
"""
TESTS = """
import os

import pytest
from desk import Ticket, desk

TODAY = os.environ.get("TODAY", "")


def test_desk(flow_runner, trace_snapshot):
    result = flow_runner(desk(TODAY), Ticket(token=TODAY))
    assert result == trace_snapshot(mask={"state.token": "secret"})


def test_path(flow_runner, trace_snapshot):
    assert flow_runner(desk(TODAY), Ticket()).trace == trace_snapshot("way", detail="path")


def test_diagram(diagram_snapshot):
    assert desk(TODAY) == diagram_snapshot
"""
CHANGED = """
@pytest.mark.parametrize("change", ["value", "route", "order", "missing", "failing", "broken", "result"])
def test_change(change, flow_runner, trace_snapshot):
    assert flow_runner(desk(change if TODAY else ""), Ticket()) == trace_snapshot(mask={"state.token": "secret"})
"""
TEXT = """\
flow desk
result completed
value "abcabc"

before round 1
  read
    + token = <secret>
    -> fan  (today = 1)
  fan
    left
      + left = 1
    right
      + right = 2
    + left = 1
    + right = 2
    -> write
round 1
  write
    + draft = "abc"
    -> check
  check
    -> write  (poor: length = 3)
round 2
  write#2
    + draft = "abcabc"
    -> check
  check#2
    -> end  (good: length = 6)
  end
    -> end

used 2 rounds
"""
PATH = """\
flow desk
result completed

before round 1
  read
  fan
    left
    right
round 1
  write
  check
round 2
  write#2
  check#2
  end
"""


@pytest.fixture(scope="module")
def desk(new_project: Callable[[], Project]) -> Project:
    """A project whose snapshots were kept."""
    made = new_project()
    made.write("desk.py", DESK)
    made.write("test_desk.py", TESTS + CHANGED)
    ran = made.pytest("--snapshot-update")
    assert ran.code == 0, ran.text
    assert "10 snapshots generated" in ran.text
    assert "9 traces: 9 new" in ran.text
    return made


@pytest.fixture
def small(project: Project) -> Project:
    """A project that has no snapshots yet."""
    project.write("desk.py", DESK)
    project.write("test_desk.py", TESTS)
    return project


def test_what_is_kept_is_the_text_of_the_run_and_the_diagram_of_the_flow(desk: Project) -> None:
    assert desk.read("__snapshots__/test_desk/test_desk.trace.txt") == TEXT
    assert desk.read("__snapshots__/test_desk/test_path[way].trace.txt") == PATH
    assert desk.read("__snapshots__/test_desk/test_diagram.mmd").startswith("flowchart TB\n")
    ran = desk.pytest()
    assert ran.code == 0, ran.text
    assert "10 snapshots passed" in ran.text
    assert "traces:" not in ran.text


CHANGES = {
    "value": 'same path, values differ: state.draft at write: was "abc", now "ab"',
    "route": "same path, another route at check#2: was end (good), now end (best)",
    "order": "order changed at step 3: was fan/left, now fan/right",
    "missing": "node fan missing: it was step 2",
    "failing": "path changed at step 5: was write, now write [failed]",
    "broken": "path changed at step 9: was end, now end [failed]",
    "result": 'result changed: value was "abcabc", now "other"',
}


@pytest.mark.behaviour("TEST-2")
def test_the_first_line_of_a_failure_says_what_kind_of_change_it_is(desk: Project) -> None:
    ran = desk.pytest("-k", "test_change", TODAY="1")
    assert ran.first_lines == list(CHANGES.values())
    assert ran.text.count(" flowcore trace diff -") == len(CHANGES)
    assert ran.code == 1


def test_the_first_line_of_another_diagram_counts_its_lines(desk: Project) -> None:
    ran = desk.pytest("-k", "test_diagram", TODAY="missing")
    assert len(ran.first_lines) == 1
    assert re.fullmatch(r"diagram changed: (1 line|\d+ lines) added, \d+ removed", ran.first_lines[0])
    assert " flowcore diagram diff -" in ran.text


@pytest.mark.behaviour("TEST-2")
def test_a_failure_shows_the_whole_difference_and_keeps_the_run(desk: Project) -> None:
    ran = desk.pytest("-k", "test_desk and not test_change", TODAY="value")
    assertion, section = ran.text.split(" flowcore trace diff -")
    assert "Full output truncated" in assertion
    lines = section.split("\n---------")[0].partition("+++ now\n")[2].splitlines()
    assert [line for line in lines if line[:1] in ("+", "-")] == [
        '-value "abcabc"',
        '+value "abab"',
        '-    + draft = "abc"',
        '+    + draft = "ab"',
        "-    -> write  (poor: length = 3)",
        "+    -> write  (poor: length = 2)",
        '-    + draft = "abcabc"',
        '+    + draft = "abab"',
        "-    -> end  (good: length = 6)",
        "+    -> end  (good: length = 4)",
    ]
    kept = read_runs(desk.folder / ".flowcore" / "failed" / "test_desk.py-test_desk.json")
    assert [(run.run_id, run.status, run.value) for run in kept] == [("test_desk", "completed", '"abab"')]
    for kind in ("json", "html"):
        assert f"\n.flowcore/failed/test_desk.py-test_desk.{kind}\n" in ran.text
    page = desk.read(".flowcore/failed/test_desk.py-test_desk.html")
    assert page.startswith("<!doctype html>")
    assert "abab" in page
    assert "\n\nIf this is as it should be, --snapshot-update keeps it.\n" in section
    assert desk.pytest("-k", "test_desk and not test_change").code == 0
    assert list((desk.folder / ".flowcore" / "failed").glob("test_desk.py-test_desk.*")) == []


@pytest.mark.behaviour("TEST-3")
def test_there_is_no_snapshot_yet_and_none_is_made_unasked(small: Project) -> None:
    ran = small.pytest(CI="true")
    assert ran.first_lines == ["no snapshot yet: run with --snapshot-update"] * 3
    assert not (small.folder / "__snapshots__").exists()


@pytest.mark.behaviour("TEST-3")
def test_an_update_says_what_it_changed(small: Project) -> None:
    assert "2 traces: 2 new" in small.pytest("--snapshot-update").text
    ran = small.pytest("--snapshot-update", TODAY="value")
    assert (ran.code, "1 trace: 1 values" in ran.text) == (0, True)
    ran = small.pytest("--snapshot-update", TODAY="order")
    assert "2 traces: 2 order changed" in ran.text
    assert "1 failed" in small.pytest("--snapshot-update-new-only", "-k", "test_path").text


def test_workers_share_the_tests_out_and_tell_of_failures_and_updates(small: Project) -> None:
    assert "2 traces: 2 new" in small.pytest("--snapshot-update", "-n2", plugins=XDIST).text
    ran = small.pytest("-n2", plugins=XDIST, TODAY="value")
    assert ran.first_lines == [CHANGES["value"]]
    assert "flowcore trace diff" in ran.text


def test_a_snapshot_that_no_test_uses_is_reported(small: Project) -> None:
    assert small.pytest("--snapshot-update").code == 0
    small.write("test_desk.py", TESTS.replace('trace_snapshot("way", ', 'trace_snapshot("other", '))
    folder = small.folder / "__snapshots__" / "test_desk"
    (folder / "test_path[other].trace.txt").write_text(PATH, "utf-8")
    ran = small.pytest("--snapshot-details")
    assert (ran.code, "1 snapshot unused" in ran.text) == (1, True)
    assert "test_path[way]" in ran.text
    assert small.pytest("--snapshot-warn-unused").code == 0
    assert "1 unused snapshot deleted" in small.pytest("--snapshot-update").text
    assert not (folder / "test_path[way].trace.txt").exists()


def test_a_long_difference_is_cut(project: Project) -> None:
    project.write(
        "test_long.py",
        """
import os
from dataclasses import dataclass
from flowcore import Budget, Complete, Continue, Flow, Step, node
from typing import Literal

@dataclass
class Count:
    number: int = 0

@node
async def count(step: Step[Count]) -> Continue[Literal["more", "enough"]]:
    step.state.number += int(os.environ.get("BY", "1"))
    return Continue("more" if step.visit < 3000 else "enough")

@node
async def end(step: Step[Count]) -> Complete[int]:
    return Complete(step.state.number)

flow = Flow("long", count.to(more=count, enough=end), end)

def test_long(flow_runner, trace_snapshot):
    assert flow_runner(flow, Count(), budget=Budget(rounds=None)) == trace_snapshot
""",
    )
    assert project.pytest("--snapshot-update").code == 0
    ran = project.pytest(BY="2")
    assert ran.first_lines == ["same path, values differ: state.number at count: was 1, now 2"]
    section = ran.text.split(" flowcore trace diff -")[1].split("\n-----")[0].splitlines()
    assert len(section) == 404
    assert "more lines: see the page of the run" in section[-3]


XDIST = ("syrupy", "xdist.plugin")
INLINE_SNAPSHOT = ("inline_snapshot.pytest_plugin",)
WRONG = {
    "1 == trace_snapshot": "trace_snapshot compares a RunResult or a Trace, not a int",
    "result == trace_snapshot(detail='all')": "detail='all': give one of path, routes, state, full",
    "result == trace_snapshot(mask={'tokn': 'x'})": "mask='tokn': a place begins with artifact, emit, state",
    "1 == diagram_snapshot": "diagram_snapshot compares a Flow, not a int",
}


def test_what_cannot_be_compared_is_one_clear_error(small: Project) -> None:
    lines = ["from desk import Ticket, desk"]
    for number, assertion in enumerate(WRONG):
        lines += [f"def test_{number}(flow_runner, trace_snapshot, diagram_snapshot):"]
        lines += ["    result = flow_runner(desk(), Ticket())", f"    assert {assertion}"]
    small.write("test_desk.py", "\n".join(lines))
    ran = small.pytest()
    assert [message for message in WRONG.values() if f"Error: {message}" not in ran.text] == []
    assert "4 failed" in ran.text
    kept = read_runs(small.folder / ".flowcore" / "failed" / "test_desk.py-test_0.json")
    assert [run.value for run in kept] == ['"abcabc"']


INLINE = """
from desk import Ticket, desk
from inline_snapshot import snapshot


def test(flow_runner):
    assert flow_runner(desk("{}"), Ticket()).path == snapshot()
"""


def test_an_inline_snapshot_needs_a_path_alone(small: Project) -> None:
    small.write("test_desk.py", INLINE.format(""))
    small.pytest("--inline-snapshot=create", plugins=INLINE_SNAPSHOT)
    written = small.read("test_desk.py")
    assert "snapshot('read > fan(left | right) > write > check > write > check > end')" in written
    assert small.pytest(plugins=INLINE_SNAPSHOT).code == 0
    small.write("test_desk.py", written.replace('desk("")', 'desk("missing")'))
    assert small.pytest(plugins=INLINE_SNAPSHOT).code == 1


@pytest.mark.behaviour("TEST-7")
def test_without_syrupy_the_error_names_what_to_install(small: Project) -> None:
    ran = small.pytest(plugins=())
    assert ran.text.count('trace_snapshot needs syrupy: pip install "flowcore[test]"') >= 2
    assert 'diagram_snapshot needs syrupy: pip install "flowcore[test]"' in ran.text


LISTS = "import sys; import pytest; pytest.main(['-q', '-p', 'no:cacheprovider', '.']); print(sorted(sys.modules))"


@pytest.mark.behaviour("TEST-7")
def test_pytest_starts_without_flowcore(project: Project) -> None:
    project.write("test_plain.py", "def test(): pass\n")
    done = subprocess.run(
        [sys.executable, "-c", LISTS], cwd=project.folder, capture_output=True, text=True, timeout=50, check=True
    )
    assert "1 passed" in done.stdout
    loaded = done.stdout.split("'")
    assert "_flowcore_pytest" in loaded
    assert [name for name in loaded if name.partition(".")[0] == "flowcore"] == []
