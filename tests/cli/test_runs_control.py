"""`flowcore runs`: resume, answer, pause, stop, fork, export, test and prune, on real files and processes."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import APP, Call, Called
from .desk import DESK, kill, let_lease_end, rows, start, wait_for

STORE = ("--store", "runs.db")


@pytest.fixture
def call(call: Call, tmp_path: Path) -> Call:
    """Calls the command as in a process of its own: it finds no module of the call before."""

    def apart(*words: object) -> Called:
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
                del sys.modules[name]
        return call(*words)

    return apart


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own current folder with an app that asks a person."""
    (tmp_path / "desk.py").write_text(DESK)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def waiting(desk: Path) -> Iterator[subprocess.Popen[str]]:
    """A process whose run waits for a person."""
    process = start(desk, "run", "desk.py", "tea", "--run-id", "t")
    wait_for(process.stderr, "waits for a person")
    yield process
    if process.poll() is None:
        kill(process)


def killed(desk: Path, process: subprocess.Popen[str]) -> None:
    kill(process)
    let_lease_end(desk / "runs.db")


def test_whoever_waits_is_told_how_to_answer(desk: Path) -> None:
    process = start(desk, "run", "desk.py", "tea", "--run-id", "t")
    line = wait_for(process.stderr, "waits for a person")
    ((request,),) = rows(desk / "runs.db", "SELECT id FROM requests")
    assert line.startswith("flowcore: consent#1: Send tea? waits for a person, ")
    assert line.endswith(f"`flowcore runs answer t {request} VALUE --store runs.db`\n")
    kill(process)


@pytest.mark.behaviour("CLI-3")
def test_a_run_is_answered_in_the_process_that_has_it(waiting: subprocess.Popen[str], call: Call) -> None:
    called = call("runs", "answer", "t", "yes", "--reason", "sunny", "--by", "ann", *STORE)
    assert (called.code, called.out) == (0, "run t: consent#1 is answered\n")
    out, _ = waiting.communicate(timeout=30)
    assert out.startswith("sent tea: draft, sunny\n")


def test_a_killed_run_is_answered_and_goes_on_where_it_was(
    desk: Path, waiting: subprocess.Popen[str], call: Call
) -> None:
    killed(desk, waiting)
    answered = call("runs", "answer", "t", "no", *STORE)
    assert answered.out == "run t: consent#1 is answered; go on with `flowcore runs resume TARGET t`\n"
    resumed = call("runs", "resume", "desk.py", "t", "--out", "out")
    assert (resumed.code, resumed.err) == (0, "")
    assert resumed.out == "dropped tea\n\n  round 1  draft > consent > drop\n  used 1 round\n"
    assert (desk / "ran.txt").read_text() == "draft\n"
    assert (desk / "out" / "run.html").exists()
    again = call("runs", "resume", "desk.py", "t")
    assert (again.code, again.err.count("\n")) == (2, 1)
    assert "'t' has ended: completed" in again.err


def test_an_answer_counts_once(desk: Path, waiting: subprocess.Popen[str], call: Call) -> None:
    killed(desk, waiting)
    call("runs", "answer", "t", "yes", "--by", "ann", *STORE)
    ((request,),) = rows(desk / "runs.db", "SELECT id FROM requests")
    for words in (("no",), (str(request), "no")):
        called = call("runs", "answer", "t", *words, *STORE)
        assert (called.code, called.out, called.err.count("\n")) == (2, "", 1)
        assert f"{request} was answered by ann at " in called.err
    assert rows(desk / "runs.db", "SELECT answer FROM requests") == [("true",)]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("maybe",), "maybe: this is no answer to consent#1; give yes, no or JSON"),
        (('{"hours": 3}',), "is answered by True, False or Approval"),
        (("nowhere", "yes"), "there is no request nowhere; these wait: "),
        (("a", "b", "c"), "answer wants [REQUEST] VALUE"),
        (("true", "--reason"), "expected one argument"),
    ],
)
def test_what_is_no_answer_leaves_the_request_open(
    waiting: subprocess.Popen[str], call: Call, words: tuple[str, ...], told: str
) -> None:
    called = call("runs", "answer", "t", *words, *STORE)
    assert (called.code, called.out, called.err.count("\n")) == (2, "", 1)
    assert told in called.err
    assert rows(Path("runs.db"), "SELECT status FROM requests") == [("pending",)]
    assert call("runs", "answer", "t", *STORE, "yes").code == 0


def test_a_form_is_answered_by_json(desk: Path, call: Call) -> None:
    process = start(desk, "run", "desk.py:roster_app", "tea", "--run-id", "t", *STORE)
    wait_for(process.stderr, "waits for a person")
    called = call("runs", "answer", "t", "three", *STORE)
    assert (called.code, called.err.count("\n")) == (2, 1)
    assert "give JSON that fits the form: hours (integer)" in called.err
    assert call("runs", "answer", "t", '{"hours": 3}', *STORE).code == 0
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out.splitlines()[0]) == (0, "sent tea: draft")


@pytest.mark.behaviour("A87")
def test_where_several_requests_wait_one_is_named(desk: Path, waiting: subprocess.Popen[str], call: Call) -> None:
    killed(desk, waiting)
    with sqlite3.connect(desk / "runs.db") as connection:
        names = [
            row[1] for row in connection.execute("PRAGMA table_info(requests)") if row[1] not in ("id", "key")
        ]
        columns = ", ".join(f'"{name}"' for name in names if name not in ("place", "position"))
        connection.execute(
            f"INSERT INTO requests (id, key, {columns}) SELECT 'second', 'other', {columns} FROM requests"
        )
    connection.close()
    called = call("runs", "answer", "t", "yes", *STORE)
    assert (called.code, called.err.count("\n")) == (2, 1)
    assert called.err.startswith("flowcore: run t: 2 requests wait, name one: ")
    assert "second (approve at consent#1: Send tea?)" in called.err
    assert call("runs", "answer", "t", "second", "yes", *STORE).code == 0
    assert "pending" in {row[0] for row in rows(desk / "runs.db", "SELECT status FROM requests")}


def test_a_run_that_another_process_has_is_not_taken(waiting: subprocess.Popen[str], call: Call) -> None:
    called = call("runs", "resume", "desk.py", "t")
    assert (called.code, called.out, called.err.count("\n")) == (2, "", 1)
    assert "run t is walked by " in called.err
    assert "wait with --wait" in called.err


def test_waiting_takes_the_run_when_its_process_is_heard_of_no_more(
    desk: Path, waiting: subprocess.Popen[str], call: Call
) -> None:
    call("runs", "answer", "t", "yes", *STORE)
    kill(waiting)
    soon = time.time() + 1.5
    with sqlite3.connect(desk / "runs.db") as connection:
        connection.execute("UPDATE runs SET lease = ? WHERE status = 'running'", (soon,))
    connection.close()
    called = call("runs", "resume", "desk.py", "t", "--wait")
    assert time.time() >= soon
    assert called.code == 0
    assert called.out.startswith("sent tea")


def test_a_run_of_a_user_obeys_nobody_else(desk: Path, waiting: subprocess.Popen[str], call: Call) -> None:
    killed(desk, waiting)
    with sqlite3.connect(desk / "runs.db") as connection:
        connection.execute("UPDATE runs SET user = 'ann'")
    connection.close()
    for words in (
        ("resume", "desk.py", "t"),
        ("answer", "t", "yes", *STORE),
        ("pause", "t", *STORE, "--by", "bob"),
        ("stop", "t", *STORE),
        ("fork", "desk.py", "t", "--at", "draft"),
    ):
        called = call("runs", *words)
        assert (called.code, called.out, called.err.count("\n")) == (2, "", 1)
        assert "run t belongs to 'ann'" in called.err
    assert call("runs", "answer", "t", "yes", "--by", "ann", *STORE).code == 0
    assert call("runs", "resume", "desk.py", "t", "--by", "ann").code == 0


def test_a_flow_that_has_changed_is_told_and_the_run_left_as_it_was(
    desk: Path, waiting: subprocess.Popen[str], call: Call
) -> None:
    killed(desk, waiting)
    changed = DESK.replace('approve("consent"', 'approve("agreement"')
    (desk / "changed.py").write_text(changed)
    called = call("runs", "resume", "changed.py", "t", *STORE)
    assert (called.code, called.out) == (2, "")
    assert "consent" in called.err
    assert rows(desk / "runs.db", "SELECT status, owner FROM runs") == [("running", "")]
    assert call("runs", "answer", "t", "yes", *STORE).code == 0
    assert call("runs", "resume", "desk.py", "t").code == 0


def test_a_run_of_another_flow_names_it(desk: Path, waiting: subprocess.Popen[str], call: Call) -> None:
    killed(desk, waiting)
    called = call("runs", "resume", "desk.py:slow_app", "t", *STORE)
    assert called.err == (
        "flowcore: run t is of the flow 'order', and desk.py:slow_app has patient; name the app of that flow\n"
    )
    call("runs", "answer", "t", "yes", *STORE)
    assert call("runs", "resume", "desk.py:order", "t", *STORE).out.startswith("sent tea")


@pytest.mark.behaviour("S1-18")
def test_a_run_is_paused_elsewhere_and_let_go_on_there(desk: Path, call: Call) -> None:
    process = start(desk, "run", "desk.py:slow_app", "tea", "--run-id", "t", *STORE)
    wait_for(process.stdout, "slow")
    assert call("runs", "pause", "t", *STORE).out == "run t is paused\n"
    assert " paused " in call("runs", "list", *STORE).out
    (desk / "quick").touch()
    assert (
        "run t goes on in the process that has it" in call("runs", "resume", "desk.py:slow_app", "t", *STORE).out
    )
    out, told = process.communicate(timeout=30)
    assert (process.returncode, "sent tea: draft" in out) == (0, True)
    assert "run t is paused; it goes on with `flowcore runs resume desk.py:slow_app t --store" in told
    assert (desk / "ran.txt").read_text() == "draft\n"


@pytest.mark.parametrize(("flag", "reason"), [((), "stop"), (("--interrupt",), "interrupt")])
def test_a_run_is_ended_whoever_has_it(desk: Path, call: Call, flag: tuple[str, ...], reason: str) -> None:
    process = start(desk, "run", "desk.py", "tea", "--run-id", "t")
    wait_for(process.stderr, "waits for a person")
    assert call("runs", "stop", "t", *STORE, *flag).out == f"run t is cancelled ({reason})\n"
    process.communicate(timeout=30)
    assert process.returncode == 1
    ended = call("runs", "stop", "t", *STORE)
    assert (ended.code, ended.err) == (
        2,
        "flowcore: run t has ended as cancelled: nothing can be asked of it any more\n",
    )


def test_a_run_that_nobody_has_is_paused_and_ended_at_once(
    desk: Path, waiting: subprocess.Popen[str], call: Call
) -> None:
    killed(desk, waiting)
    assert call("runs", "pause", "t", *STORE).out == "run t is paused\n"
    assert call("runs", "stop", "t", *STORE).out == "run t is cancelled (stop)\n"
    shown = call("runs", "show", "t", *STORE)
    assert shown.out.startswith("run t of order: cancelled (stop)\n")
    assert "spent   1 round\n" in shown.out


def test_ctrl_c_while_resuming_ends_the_run_and_a_signal_to_end_leaves_it(desk: Path, call: Call) -> None:
    for number, (asked, status) in enumerate([(signal.SIGTERM, "paused"), (signal.SIGINT, "cancelled")]):
        process = start(
            desk, *(("run", "desk.py:slow_app", "tea", "--run-id", "t") if not number else _RESUME), *STORE
        )
        wait_for(process.stdout, "slow")
        process.send_signal(asked)
        process.communicate(timeout=30)
        assert rows(desk / "runs.db", "SELECT status, owner FROM runs") == [(status, "")]


def test_a_signal_to_end_leaves_the_run_where_ctrl_c_is_ignored(desk: Path) -> None:
    process = start(desk, "run", "desk.py:slow_app", "tea", "--run-id", "t", *STORE, ignores_ctrl_c=True)
    wait_for(process.stdout, "slow")
    process.send_signal(signal.SIGINT)
    process.terminate()
    _, told = process.communicate(timeout=30)
    assert (process.returncode, "run t is paused; go on with" in told) == (143, True)
    assert rows(desk / "runs.db", "SELECT status, owner FROM runs") == [("paused", "")]


_RESUME = ("runs", "resume", "desk.py:slow_app", "t")


@pytest.mark.behaviour("A93")
def test_a_fork_begins_at_a_visit_and_the_first_run_stays(here: Path, call: Call) -> None:
    call("run", ".", "hello", *STORE, "--run-id", "t")
    before = rows(here / "runs.db", "SELECT * FROM runs")
    forked = call("runs", "fork", ".", "t", "--at", "check#2", "--id", "f", *STORE)
    assert (forked.code, forked.err) == (0, "")
    assert forked.out.splitlines() == [
        "run f is forked from t at check#2",
        "go on with: flowcore runs resume . f --store runs.db",
    ]
    resumed = call("runs", "resume", ".", "f", *STORE)
    assert resumed.out.startswith("HELLO\n")
    assert rows(here / "runs.db", "SELECT * FROM runs WHERE id = 't'") == before
    assert call("runs", "fork", ".", "t", "--at", "check#2", "--id", "g", "--rounds", "7", *STORE).code == 0
    budgets = {id: json.loads(str(text)) for id, text in rows(here / "runs.db", "SELECT id, budget FROM runs")}
    assert budgets["f"] == budgets["t"]
    assert budgets["g"] == budgets["t"] | {"rounds": 7}
    nowhere = call("runs", "fork", ".", "t", "--at", "nowhere", *STORE)
    assert (nowhere.code, nowhere.err.count("\n")) == (2, 1)


@pytest.mark.parametrize("text", ["hello", "burst", "a \"quoted\" \\ 'title' \u2028 with lines"])
def test_the_printed_test_passes_today_and_fails_when_the_flow_goes_elsewhere(
    here: Path, call: Call, text: str
) -> None:
    call("run", ".", text, *STORE, "--run-id", "t-1")
    printed = call("runs", "test", ".", "t-1", *STORE)
    assert (printed.code, printed.err) == (0, "")
    (here / "test_t.py").write_text(printed.out)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_t.py"]
    passed = subprocess.run(command, cwd=here, capture_output=True, text=True, timeout=60, check=False)
    assert (passed.returncode, "1 passed" in passed.stdout) == (0, True), passed.stdout
    changed = APP.replace("good=deliver, poor=draft", "good=draft, poor=deliver")
    (here / "app.py").write_text(
        changed if text != "burst" else APP.replace("draft.to(check)", "draft.to(check).on_error(deliver)")
    )
    failed = subprocess.run(command, cwd=here, capture_output=True, text=True, timeout=60, check=False)
    assert failed.returncode == 1
    assert "today" in failed.stdout


@pytest.mark.parametrize(("format", "word"), [("chrome", "traceEvents"), ("otel", "invoke_workflow echo")])
def test_a_run_is_exported(here: Path, call: Call, format: str, word: str) -> None:
    call("run", ".", "hello", *STORE, "--run-id", "t")
    assert word in call("runs", "export", "t", *STORE, "--format", format).out
    assert call("runs", "export", "t", *STORE, "--format", format, "-o", "t.json").out == ""
    assert word in (here / "t.json").read_text()


def test_old_runs_are_removed_and_a_dry_run_removes_nothing(here: Path, call: Call) -> None:
    for name, text in (("a", "hello"), ("b", "burst"), ("c", "hello")):
        call("run", ".", text, *STORE, "--run-id", name)
    with sqlite3.connect(here / "runs.db") as connection:
        connection.execute("UPDATE ends SET ended = 0 WHERE run IN (SELECT key FROM runs WHERE id <> 'c')")
    connection.close()

    def left() -> list[str]:
        return sorted(entry["run_id"] for entry in json.loads(call("runs", "list", "--json", *STORE).out))

    dry = call("runs", "prune", "--before", "30d", "--dry-run", *STORE)
    assert [line.split()[0] for line in dry.out.splitlines()] == ["b", "a", "2"]
    assert left() == ["a", "b", "c"]
    assert call("runs", "prune", "--before", "2000-01-01", "--status", "failed", *STORE).out == "1 run removed\n"
    assert left() == ["a", "c"]
    assert call("runs", "prune", "--before", "0s", *STORE).out == "2 runs removed\n"
    wrong = call("runs", "prune", "--before", "soon", *STORE)
    assert (wrong.code, wrong.err.count("\n")) == (2, 1)
    assert "give 30d, 12h or 90min, or 2026-01-31" in wrong.err


def test_a_run_is_resumed_with_the_options_of_its_app(
    desk: Path, waiting: subprocess.Popen[str], call: Call
) -> None:
    killed(desk, waiting)
    options = """

class Options(BaseModel):
    shout: bool = False


def make(options: Options) -> App:
    present = str.upper if options.shout else str
    return App(flows=[order], state=lambda text: Order(text=text), store="runs.db", present=present)


app = App(flows=[order], state=lambda text: Order(text=text), store="runs.db", options=make)
"""
    (desk / "desk.py").write_text(DESK + options)
    call("runs", "answer", "t", "yes", *STORE)
    assert "--shout" in call("runs", "resume", "desk.py", "--help").out
    assert call("runs", "resume", "desk.py", "t", "--sing").err.startswith(
        "flowcore: unrecognized arguments: --sing"
    )
    assert call("runs", "resume", "desk.py", "t", "--shout").out.startswith("SENT TEA")
