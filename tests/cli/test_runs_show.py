"""`flowcore runs list` and `show`: what is kept can be looked at, without the code that made it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from pathlib import Path

import pytest

from flowcore.recording import load_runs
from flowcore.render import run_page

from .conftest import Call
from .desk import DESK, FLOWCORE, kill, let_lease_end, start, wait_for

RICH = """
from enum import Enum
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from flowcore import App, Complete, Continue, Flow, Log, Retry, Step, each, node, parallel


class Colour(Enum):
    RED = 1
    BLUE = 2


class Note(BaseModel, frozen=True):
    text: str
    colour: Colour = Colour.RED


class Desk(BaseModel):
    n: int = 0
    notes: list[Note] = []
    log: Log[Note] = Log()
    names: list[str] = []


@dataclass
class Item:
    x: int
    seen: bool = False


@node(starts_round=True)
async def write(step: Step[Desk]) -> Continue[Literal["more", "done"]]:
    step.state.n += 1
    step.state.log.append(Note(text=str(step.state.n)))
    step.state.notes.append(Note(text=str(step.state.n), colour=Colour.BLUE))
    step.emit("said", Note(text="x"))
    return Continue("more" if step.state.n < 3 else "done", why={"note": Note(text="y")})


@node
async def look(step: Step[Item]) -> Continue:
    step.state.seen = True
    return Continue()


@node
async def make(step: Step[Item]) -> Complete[Note]:
    if step.state.x == 2:
        raise KeyError("two")
    return Complete(Note(text=str(step.state.x)))


def over(desk: Desk) -> list[Item]:
    return [Item(x) for x in range(4)]


def collect(desk: Desk, results: list[object]) -> Continue:
    desk.names = [getattr(result, "text", "failed") for result in results]
    return Continue()


items = each("items", over=over, do=Flow("item", look.to(make), make), collect=collect, on_item_error="collect")


@node
async def left(step: Step[Desk]) -> Continue:
    step.state.n += 100
    return Continue()


@node
async def right(step: Step[Desk]) -> Continue:
    step.state.log.append(Note(text="branch"))
    return Continue()


@node
async def inner(step: Step[Desk]) -> Continue:
    step.state.names.append("sub")
    step.state.log.append(Note(text="sub"))
    return Continue()


@node
async def out(step: Step[Desk]) -> Complete[None]:
    return Complete(None)


@node
async def end(step: Step[Desk]) -> Complete[Note]:
    if step.attempt == 1:
        raise ValueError("once")
    return Complete(Note(text=f"{step.state.n} {len(step.state.log)} {step.state.names}"))


sides = parallel("sides", left, right)
sub = Flow("sub", inner.to(out), out).as_node("sub")
rich = Flow(
    "rich",
    write.to(more=write, done=items),
    items.to(sides),
    sides.to(sub),
    sub.to(end),
    end.using(retry=Retry(attempts=2, wait=0.0)),
)
app = App(flows=[rich], state=lambda text: Desk())
"""


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder in which there is no code."""
    place = tmp_path / "elsewhere"
    place.mkdir()
    return place


def run(here: Path, *words: object) -> subprocess.CompletedProcess[str]:
    command = [FLOWCORE, *map(str, words)]
    return subprocess.run(command, cwd=here, capture_output=True, text=True, timeout=30, check=False)


def test_a_run_says_the_same_without_its_code_as_when_it_was_live(here: Path, elsewhere: Path) -> None:
    (here / "rich.py").write_text(RICH)
    made = run(here, "run", "rich.py", "hello", "--store", "runs.db", "--run-id", "r", "--out", "out")
    assert made.returncode == 0, made.stderr
    shown = run(elsewhere, "runs", "show", "r", "--store", here / "runs.db")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.partition("\n\n")[2] == (here / "out" / "trace.txt").read_text()
    (live,) = load_runs((here / "out" / "trace.json").read_text())
    told = run(elsewhere, "runs", "show", "r", "--store", here / "runs.db", "--json")
    (stored,) = load_runs(told.stdout)
    assert stored.name == "r"
    same = stored.model_copy(update={"name": live.name})
    assert same == live
    assert run_page(same) == (here / "out" / "run.html").read_text()


def test_the_page_is_written_and_opens_without_the_code(here: Path, elsewhere: Path) -> None:
    (here / "rich.py").write_text(RICH)
    run(here, "run", "rich.py", "hello", "--store", "runs.db", "--run-id", "r")
    called = run(elsewhere, "runs", "show", "r", "--store", here / "runs.db", "--html", "r.html")
    assert (called.returncode, called.stdout, called.stderr) == (0, "", "")
    page = (elsewhere / "r.html").read_text()
    assert "Note(text=" in page
    assert "<title>" in page


@pytest.mark.parametrize("name", ["runs.db#b", "runs.db#first", "runs.db"])
def test_a_kept_run_stands_where_a_recorded_one_may(here: Path, call: Call, name: str) -> None:
    call("run", ".", "hello", "--store", "runs.db", "--run-id", "first")
    call("run", ".", "hello", "--store", "runs.db", "--run-id", "b")
    assert call("diff", "runs.db#first", name).out.startswith("run ")
    assert call("diff", "runs.db#first", name).code == 0
    assert call("render", name, "-o", "run.html").code == 0
    assert "draft#2" in call("export", name).out
    assert (here / "run.html").exists()


def test_a_store_of_any_name_is_known_by_what_it_holds(here: Path, call: Call) -> None:
    call("run", ".", "hello", "--store", "runs.kept", "--run-id", "a")
    assert call("render", "runs.kept#a", "-o", "run.html").code == 0


def test_the_list_has_a_line_for_each_run_the_latest_first(here: Path, call: Call) -> None:
    call("run", ".", "hello", "--store", "runs.db", "--run-id", "first")
    call("run", ".", "burst", "--store", "runs.db", "--run-id", "second")
    head, *lines = call("runs", "list", "--store", "runs.db").out.splitlines()
    assert head.split() == ["RUN", "FLOW", "STATUS", "WHO", "BEGAN", "TOOK", "VISITS", "SPENT", "TITLE"]
    words = [line.split() for line in lines]
    assert [line[:4] for line in words] == [
        ["second", "echo", "failed", "-"],
        ["first", "echo", "completed", "-"],
    ]
    assert [line[-4:] for line in words] == [["1", "1", "round", "burst"], ["5", "2", "rounds", "hello"]]


def test_the_list_can_be_narrowed_and_printed_as_json(here: Path, call: Call) -> None:
    for number, text in enumerate(["hello", "burst", "hello", "never"]):
        call("run", ".", text, "--store", "runs.db", "--run-id", f"r{number}")

    def ids(*words: str) -> list[str]:
        return [
            entry["run_id"]
            for entry in json.loads(call("runs", "list", "--store", "runs.db", "--json", *words).out)
        ]

    assert ids() == ["r3", "r2", "r1", "r0"]
    assert ids("--limit", "2") == ["r3", "r2"]
    assert ids("--status", "completed") == ["r2", "r0"]
    assert ids("--status", "completed", "--status", "failed", "--limit", "3") == ["r3", "r2", "r1"]
    assert ids("--flow", "other") == ids("--user", "ann") == ids("--status", "interrupted") == []
    assert call("runs", "list", "--store", "runs.db", "--flow", "other").out == "no runs\n"


@pytest.mark.behaviour("CLI-2")
def test_a_run_whose_process_was_killed_is_interrupted_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "desk.py").write_text(DESK)
    process = start(tmp_path, "run", "desk.py:slow_app", "tea", "--store", "runs.db", "--run-id", "t")
    wait_for(process.stdout, "slow")
    assert " running " in run(tmp_path, "runs", "list", "--store", "runs.db").stdout
    kill(process)
    let_lease_end(tmp_path / "runs.db")
    listed = run(tmp_path, "runs", "list", "--store", "runs.db", "--status", "interrupted")
    assert " interrupted " in listed.stdout
    shown = run(tmp_path, "runs", "show", "t", "--store", "runs.db", "--detail", "path").stdout
    assert shown.startswith("run t of patient: interrupted\n")
    assert "had by  nobody: go on with `flowcore runs resume TARGET t`" in shown


def test_a_file_that_is_not_there_is_not_made(here: Path, call: Call) -> None:
    for words in (("list",), ("show", "a"), ("prune", "--before", "1d"), ("answer", "a", "yes"), ("stop", "a")):
        called = call("runs", *words, "--store", "none.db")
        assert (called.code, called.out, called.err.count("\n")) == (2, "", 1)
        assert called.err.startswith("flowcore: none.db: there is no such file; name another file")
    assert call("render", "none.db#a").code == 2
    assert not list(here.glob("none.db*"))


def test_what_is_no_store_is_told_in_one_line(here: Path, call: Call) -> None:
    (here / "empty.db").touch()
    (here / "text.db").write_text("no database " * 100)
    (here / "folder.db").mkdir()
    for name, write in (("other.db", "CREATE TABLE a (b)"), ("newer.db", "PRAGMA user_version = 99")):
        if name == "newer.db":
            call("run", ".", "hello", "--store", name)
        connection = sqlite3.connect(here / name)
        connection.execute(write)
        connection.commit()
        connection.close()
    told = {
        "empty.db": "this file is empty, and holds no runs",
        "text.db": "it is not a database",
        "folder.db": "this is a folder",
        "other.db": "this database is another program's",
        "newer.db": "written by a newer flowcore",
    }
    for name, words in told.items():
        before = (here / name).stat().st_size
        called = call("runs", "list", "--store", name)
        assert (called.code, called.out, called.err.count("\n")) == (2, "", 1), called.err
        assert f"{name}: " in called.err
        assert words in called.err
        assert (here / name).stat().st_size == before


def test_an_unknown_run_is_told_with_those_that_are_near(here: Path, call: Call) -> None:
    for name in ("monday-1", "monday-2", "other"):
        call("run", ".", "hello", "--store", "runs.db", "--run-id", name)
    near = call("runs", "show", "munday-1", "--store", "runs.db")
    assert near.code == 2
    assert near.err.startswith("flowcore: runs.db: there is no run munday-1; near are monday-1, monday-2")
    several = call("runs", "show", "monday", "--store", "runs.db")
    assert several.err.startswith("flowcore: runs.db: 2 runs begin with monday: monday-2, monday-1; name one")
    far = call("runs", "show", "xyz", "--store", "runs.db")
    assert "; the latest are other, monday-2, monday-1; `flowcore runs list` tells of all" in far.err
    assert call("runs", "show", "oth", "--store", "runs.db").out.startswith("run other of echo: completed")
    assert call("runs", "show", "last", "--store", "runs.db").out.startswith("run other of echo: completed")


def test_without_a_store_it_is_said_how_to_name_one(here: Path, call: Call) -> None:
    assert "name its file with --store FILE, or an app that has one" in call("runs", "list").err
    assert "the app keeps no runs; name its file with --store FILE" in call("runs", "list", "--app", ".").err


@pytest.mark.parametrize(
    "action", ["list", "show", "resume", "pause", "stop", "answer", "fork", "export", "test", "prune"]
)
def test_each_action_has_help_that_says_how_to_begin(call: Call, action: str) -> None:
    called = call("runs", action, "--help")
    assert called.code == 0
    assert f"usage: flowcore runs {action}" in called.out
    assert "flowcore runs list --store runs.db" in called.out
    assert "exit codes: 0 it worked" in called.out


def test_a_title_cannot_obey_the_terminal(here: Path, call: Call) -> None:
    call("run", ".", "never \x1b[31m", "--store", "runs.db", "--run-id", "a")
    assert "\x1b" not in call("runs", "list", "--store", "runs.db").out
    assert "\x1b" not in call("runs", "show", "a", "--store", "runs.db").out


EFFECTS = (
    DESK
    + """

@node(effects=True)
async def charge(step: Step[Order]) -> Continue:
    print("charging", flush=True)
    await anyio.sleep(60)
    return Continue()


charging = Flow("charging", draft.to(charge), charge.to(send), send)
effects_app = App(flows=[charging], state=lambda text: Order(text=text))
"""
)


def test_work_of_which_nobody_knows_whether_it_was_done_is_named(tmp_path: Path) -> None:
    (tmp_path / "desk.py").write_text(EFFECTS)
    process = start(tmp_path, "run", "desk.py:effects_app", "tea", "--store", "runs.db", "--run-id", "t")
    wait_for(process.stdout, "charging")
    kill(process)
    let_lease_end(tmp_path / "runs.db")
    assert run(tmp_path, "runs", "stop", "t", "--store", "runs.db").returncode == 0
    shown = run(tmp_path, "runs", "show", "t", "--store", "runs.db").stdout
    assert "what became of these is unknown; they may have done their work:\n  charge#1  node charge" in shown
