"""`flowcore run --store`: runs that are kept, what they are called, and how they end when the command is ended."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from .conftest import APP, Call
from .desk import DESK, rows, start, wait_for

KEPT = APP.replace("budget=Budget(rounds=3))", "budget=Budget(rounds=3), store={store})")
RUNS = "SELECT id, status, title, flow FROM runs ORDER BY began"


def test_a_run_is_kept_under_its_id_with_its_text_as_title(here: Path, call: Call) -> None:
    called = call("run", ".", "hello", "--store", "runs.db", "--run-id", "first")
    assert called.code == 0
    assert called.out.startswith("HELLO\n")
    assert called.err == "run first, kept in runs.db\n"
    assert rows(here / "runs.db", RUNS) == [("first", "completed", "hello", "echo")]
    assert rows(here / "runs.db", "SELECT source, user FROM runs") == [("direct", "")]


def test_without_an_id_it_gets_one_which_is_told(here: Path, call: Call) -> None:
    called = call("run", ".", "burst", "--store", "runs.db", "--json")
    assert called.code == 1
    data = json.loads(called.out)
    assert called.err.startswith(f"run {data['run_id']}, kept in runs.db\n")
    assert rows(here / "runs.db", RUNS) == [(data["run_id"], "failed", "burst", "echo")]


def test_each_question_is_a_run_of_its_own(here: Path, call: Call) -> None:
    (here / "q.jsonl").write_text('{"id": "a", "question": "hello"}\n{"id": "b", "question": "burst"}\n')
    called = call("run", ".", "--questions", "q.jsonl", "--store", "runs.db", "--run-id", "batch")
    assert called.code == 1
    assert rows(here / "runs.db", RUNS) == [
        ("batch-a", "completed", "hello", "echo"),
        ("batch-b", "failed", "burst", "echo"),
    ]
    assert "[1/2] a: run batch-a, kept in runs.db\n" in called.err


def test_an_id_that_is_there_already_is_told_before_anything_runs(here: Path, call: Call) -> None:
    call("run", ".", "hello", "--store", "runs.db", "--run-id", "batch-b")
    (here / "q.jsonl").write_text('{"id": "a", "question": "hello"}\n{"id": "b", "question": "hello"}\n')
    called = call("run", ".", "--questions", "q.jsonl", "--store", "runs.db", "--run-id", "batch")
    assert (called.code, called.out) == (2, "")
    assert called.err == (
        "flowcore: runs.db: there is a run batch-b already; go on with it by"
        " `flowcore runs resume . batch-b --store runs.db`, or give another --run-id\n"
    )
    assert len(rows(here / "runs.db", RUNS)) == 1


@pytest.mark.parametrize("words", [("--run-id", "a"), ("--run-id", ""), ("--run-id", "a\n", "--store", "runs.db")])
def test_an_id_that_is_none_or_has_no_store_is_refused(here: Path, call: Call, words: tuple[str, ...]) -> None:
    called = call("run", ".", "hello", *words)
    assert (called.code, called.out, called.err.count("\n")) == (2, "", 1)
    assert "--run-id" in called.err
    assert not (here / "runs.db").exists()


@pytest.mark.parametrize(
    "store", ['"own.db"', '__import__("pathlib").Path("own.db")', 'lambda: "own.db"', "lambda: make()"]
)
def test_an_app_may_have_a_store_or_make_one_once_for_a_command(here: Path, call: Call, store: str) -> None:
    made = '\n\ndef make():\n    from flowcore.store import SQLiteRunStore\n    print("made")\n'
    made += '    return SQLiteRunStore("own.db")\n'
    (here / "app.py").write_text(made + KEPT.replace("{store}", store))
    (here / "q.jsonl").write_text('{"id": "a", "question": "hello"}\n{"id": "b", "question": "hello"}\n')
    called = call("run", ".", "--questions", "q.jsonl")
    assert called.code == 0
    assert called.out.count("made") == ("make()" in store)
    assert len(rows(here / "own.db", RUNS)) == 2
    assert call("runs", "list", "--app", ".").out.count("completed") == 2


def test_the_option_goes_before_the_store_of_the_app(here: Path, call: Call) -> None:
    (here / "app.py").write_text(KEPT.replace("{store}", '"own.db"'))
    assert call("run", ".", "hello", "--store", "other.db").code == 0
    assert [file.name for file in here.glob("*.db")] == ["other.db"]


@pytest.mark.parametrize(
    ("store", "words"),
    [
        ("lambda: 1 / 0", "the store of the app cannot be made: ZeroDivisionError: division by zero"),
        ("lambda: 5", "store= of the app gives an int; let it give a store, or the path of a file"),
        ("7", "store= of the app gives an int"),
    ],
)
def test_an_app_that_makes_no_store_is_told_in_one_line(here: Path, call: Call, store: str, words: str) -> None:
    (here / "app.py").write_text(KEPT.replace("{store}", store))
    called = call("run", ".", "hello")
    assert (called.code, called.out, called.err.count("\n")) == (2, "", 1)
    assert words in called.err


def test_a_file_that_is_no_store_is_left_as_it_is(here: Path, call: Call) -> None:
    (here / "notes.txt").write_text("dear diary " * 100)
    called = call("run", ".", "hello", "--store", "notes.txt")
    assert (called.code, called.out, called.err.count("\n")) == (2, "", 1)
    assert "notes.txt: it is not a database" in called.err
    assert (here / "notes.txt").read_text() == "dear diary " * 100


def test_the_page_of_a_run_of_many_visits_tells_all_of_them(here: Path, call: Call) -> None:
    source = APP.replace("tries > 1", "tries > 1100").replace("rounds=3", "rounds=2000")
    (here / "app.py").write_text(source)
    assert call("run", ".", "hello", "--store", "runs.db", "--out", "out").code == 0
    (run,) = json.loads((here / "out" / "trace.json").read_text())["runs"]
    assert len(run["visits"]) == 2203


def test_ctrl_c_ends_the_run_and_says_what_is_kept(tmp_path: Path) -> None:
    (tmp_path / "desk.py").write_text(DESK)
    process = start(tmp_path, "run", "desk.py:slow_app", "tea", "--store", "runs.db", "--run-id", "t")
    wait_for(process.stdout, "slow")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "flowcore: interrupted: run t has ended as cancelled, and is kept: `flowcore runs show t --store" in err
    assert rows(tmp_path / "runs.db", "SELECT status, reason FROM runs, ends") == [("cancelled", "interrupt")]


@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGHUP])
def test_a_process_that_is_told_to_end_leaves_the_run_paused_for_anybody(
    tmp_path: Path, asked: signal.Signals
) -> None:
    (tmp_path / "desk.py").write_text(DESK)
    process = start(tmp_path, "run", "desk.py:slow_app", "tea", "--store", "runs.db", "--run-id", "t")
    wait_for(process.stdout, "slow")
    process.send_signal(asked)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 128 + asked
    command = "flowcore runs resume desk.py:slow_app t --store runs.db"
    assert err.endswith(f"run t is paused; go on with `{command}`\n")
    assert rows(tmp_path / "runs.db", "SELECT status, owner FROM runs") == [("paused", "")]
    (tmp_path / "quick").touch()
    again = start(tmp_path, *command.split()[1:])
    out, _ = again.communicate(timeout=30)
    assert (again.returncode, (tmp_path / "ran.txt").read_text()) == (0, "draft\n")
    assert "sent tea: draft" in out


def test_a_run_that_is_watched_is_kept_too(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    process = start(tmp_path, "watch", ".", "hello", "--exit", "--store", "runs.db", "--run-id", "w")
    out, err = process.communicate(timeout=50)
    assert (process.returncode, out.splitlines()[-1]) == (0, "HELLO")
    assert err == "flowcore: run w, kept in runs.db\n"
    assert rows(tmp_path / "runs.db", RUNS) == [("w", "completed", "hello", "echo")]
