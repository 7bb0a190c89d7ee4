"""`flowcore run`: what is printed, what is written, and how it ends."""

from __future__ import annotations

import fcntl
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]
FILES = ["answers.jsonl", "flow.mmd", "flow.svg", "run.html", "trace.json", "trace.txt"]
PATH = "  round 1  draft > check\n  round 2  draft > check > deliver\n  used 2 rounds\n"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_answer_comes_first_and_then_the_path_with_its_rounds(call: Call, here: Path) -> None:
    called = call("run", ".", "hello")
    assert (called.code, called.err) == (0, "")
    assert called.out == f"HELLO\n\n{PATH}"


ASKING = """
from dataclasses import dataclass

from flowcore import App, Complete, Flow, Step, node
from flowcore.messages import ToolCall
from flowcore.tools import Ask, ToolCatalog, ToolExecutor


@dataclass
class Desk:
    text: str


def lend(title: str) -> str:
    return title


executor = ToolExecutor(ToolCatalog([lend]), policy=lambda proposal: Ask("May it?", expires=1))


@node
async def desk(step: Step[Desk]) -> Complete[str]:
    results = await executor.run([ToolCall("1", "lend", '{"title": "Dune"}')])
    return Complete(results[0].text)


app = App(flows=[Flow("desk", desk)], state=Desk)
"""


@pytest.mark.parametrize("is_terminal", [False, True])
def test_who_waits_for_a_person_says_so_since_a_command_takes_no_answers(
    call: Call, here: Path, monkeypatch: pytest.MonkeyPatch, is_terminal: bool
) -> None:
    (here / "asking.py").write_text(ASKING)
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda stream: is_terminal)
    called = call("run", "asking.py", "hello")
    assert called.code == 0
    assert called.out.startswith("Denied: nobody agreed to it within 1 s.")
    line = "flowcore: desk#1: lend waits for a person; nobody can answer here, so in 1 s it is a no\n"
    assert called.err.count(line) == 1
    assert (called.err == line) is not is_terminal


MANY = """
from pydantic import BaseModel

from flowcore import App, Complete, Continue, Flow, Step, each, node, parallel


class Ask(BaseModel):
    text: str
    lengths: list[int] = []


@node(starts_round=False)
async def measure(step: Step[Ask]) -> Complete[int]:
    return Complete(len(step.state.text))


@node
async def left(step: Step[Ask]) -> Continue:
    return Continue()


@node
async def tell(step: Step[Ask]) -> Complete[int]:
    return Complete(sum(step.state.lengths))


def words(ask: Ask) -> list[Ask]:
    return [Ask(text=word) for word in ask.text.replace("-", "").split()]


def keep(ask: Ask, lengths: list[int]) -> Continue:
    ask.lengths = lengths
    return Continue()


both = parallel("both", left, left.named("right"))
count = each("count", over=words, do=Flow("counting", measure), collect=keep)
app = App(flows=[Flow("many", both.to(count), count.to(tell), tell)], state=lambda text: Ask(text=text))
"""


@pytest.mark.parametrize(
    ("text", "items"), [("a bb ccc", "count/measure (3 times) > "), ("a", "count/measure > "), ("-", "")]
)
def test_the_path_counts_the_items_of_an_each(call: Call, here: Path, text: str, items: str) -> None:
    (here / "many.py").write_text(MANY)
    path = f"both/left > both/right > {items or 'count > '}tell"
    called = call("run", "many.py", text)
    assert (called.code, called.err) == (0, "")
    assert called.out.splitlines()[2] == f"  before round 1  {path}"


def test_json_is_the_result_and_nothing_else(call: Call, here: Path) -> None:
    called = call("run", ".", "hello", "--json")
    assert (called.code, called.err) == (0, "")
    data = json.loads(called.out)
    assert data.pop("usage")["rounds"] == 2
    assert data == {
        "flow": "echo",
        "status": "completed",
        "value": "HELLO",
        "failure": None,
        "exhausted": None,
        "reason": "",
        "stragglers": [],
        "path": "draft > check > draft > check > deliver",
        "rounds": 2,
    }


def test_a_failed_run_is_told_with_its_place_and_shows_how_far_it_came(call: Call, here: Path) -> None:
    called = call("run", ".", "burst")
    assert called.code == 1
    assert called.out == "  round 1  draft!\n  used 1 round\n"
    line = (here / "app.py").read_text().splitlines().index('        raise LookupError("nothing there")') + 1
    assert called.err == (
        f"flowcore: the run failed: draft#1: LookupError: nothing there, raised at app.py:{line}\n"
    )


def test_a_failed_run_is_a_result_too(call: Call, here: Path) -> None:
    called = call("run", ".", "burst", "--json")
    assert called.code == 1
    data = json.loads(called.out)
    assert (data["status"], data["value"]) == ("failed", None)
    assert data["failure"] == {
        "path": "draft#1",
        "type": "LookupError",
        "code": data["failure"]["code"],
        "message": "nothing there",
        "attempts": 1,
    }


def test_the_budget_is_the_apps_unless_another_is_given(call: Call, here: Path) -> None:
    never = call("run", ".", "never")
    assert "3 of 3 used" in never.err
    assert never.out.endswith("  used 3 rounds, ran out of rounds\n")
    called = call("run", ".", "hello", "--rounds", "1", "--json")
    assert called.code == 1
    assert json.loads(called.out)["exhausted"] == "rounds"
    assert json.loads(call("run", ".", "hello", "--seconds", "0", "--json").out)["exhausted"] == "seconds"


def test_a_folder_gets_diagram_trace_and_answers(call: Call, here: Path) -> None:
    assert call("run", ".", "hello", "--out", "a/b").code == 0
    folder = here / "a" / "b"
    assert names(folder) == FILES
    assert (folder / "flow.mmd").read_text() == call("render", ".").out
    assert (folder / "trace.txt").read_text().startswith("flow echo\nresult completed\n")
    (run,) = json.loads((folder / "trace.json").read_text())["runs"]
    assert [visit["path"] for visit in run["visits"]] == ["draft#1", "check#1", "draft#2", "check#2", "deliver#1"]
    assert run["visits"][1]["why"] == {"tries": "1"}
    assert json.loads((folder / "answers.jsonl").read_text()) == {
        "id": "1",
        "answers": [{"text": "HELLO", "citations": [], "status": "answered"}],
    }


def test_a_failed_run_is_written_down_too(call: Call, here: Path) -> None:
    assert call("run", ".", "burst", "--out", "out").code == 1
    assert names(here / "out") == FILES
    assert "[failed]" in (here / "out" / "trace.txt").read_text()


def test_each_question_is_a_run_of_its_own_and_one_that_fails_stops_no_other(call: Call, here: Path) -> None:
    lines = [{"id": "q1", "question": "hello"}, {"id": "q2", "question": "burst"}, {"id": "q3", "question": "bye"}]
    (here / "q.jsonl").write_text("\n\n".join(map(json.dumps, lines)) + "\n")
    called = call("run", ".", "--questions", "q.jsonl", "--out", "out")
    assert called.code == 1
    assert called.err.splitlines()[0] == "[1/3] q1: completed, used 2 rounds"
    assert called.err.splitlines()[1].startswith("[2/3] q2: no answer: draft#1: LookupError: nothing there")
    assert called.out.startswith(f"q1: hello\n\nHELLO\n\n{PATH}\nq2: burst\n\n(no answer: ")
    answers = [json.loads(line) for line in (here / "out" / "answers.jsonl").read_text().splitlines()]
    assert [answer["id"] for answer in answers] == ["q1", "q2", "q3"]
    assert [answer["answers"][0]["status"] for answer in answers] == ["answered", "blocked", "answered"]
    blocked = answers[1]["answers"][0]
    assert (blocked["text"], blocked["citations"]) == ("", [])
    assert blocked["reason"].startswith("draft#1: LookupError: nothing there")
    trace = (here / "out" / "trace.txt").read_text()
    assert [line for line in trace.splitlines() if line.startswith("question ")] == [
        "question q1",
        "question q2",
        "question q3",
    ]
    runs = json.loads((here / "out" / "trace.json").read_text())["runs"]
    assert [(run["name"], run["title"], run["status"]) for run in runs] == [
        ("q1", "hello", "completed"),
        ("q2", "burst", "failed"),
        ("q3", "bye", "completed"),
    ]
    pages = [name for name in names(here / "out") if name.endswith(".html")]
    assert pages == ["run-1.html", "run-2.html", "run-3.html", "runs.html"]
    assert "bye" in (here / "out" / "run-3.html").read_text()
    assert call("run", ".", "hello", "--out", "out").code == 0
    assert names(here / "out") == FILES


def test_json_of_many_questions_is_a_line_for_each(call: Call, here: Path) -> None:
    (here / "q.jsonl").write_text('\ufeff{"id": "q1", "question": "hello"}\r\n{"id": "é", "question": "bye"}\r\n')
    called = call("run", ".", "--questions", "q.jsonl", "--json")
    assert called.code == 0
    assert [json.loads(line)["id"] for line in called.out.splitlines()] == ["q1", "é"]


def test_a_folder_tells_of_one_command_and_keeps_what_is_not_its_own(call: Call, here: Path) -> None:
    out = here / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    assert call("run", ".", "hello", "--out", "out").code == 0
    first = (out / "trace.txt").read_text()
    assert call("run", ".", "other", "--out", "out").code == 0
    assert names(out) == sorted([*FILES, "notes.txt"])
    assert (out / "trace.txt").read_text() != first


def test_without_an_engine_the_rest_is_written_and_no_old_picture_stays(
    call: Call, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("run", ".", "hello", "--out", "out")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("flowcore.render.engine.files", lambda name: None)
    called = call("run", ".", "hello", "--out", "out")
    assert called.code == 0
    assert called.err.startswith("flowcore: flow.svg was left out: no layout engine")
    assert names(here / "out") == [name for name in FILES if name != "flow.svg"]


QUESTIONS = {
    b"": "q.jsonl: there is no question in it",
    b"\n \n": "q.jsonl: there is no question in it",
    b'{"id": "a", "question": "hello"}\n\xff\xfe\n': "q.jsonl:2: this is not UTF-8; save the file as UTF-8",
    b'{"id": "a", "question": "hello"}\n\n{oops\n': "q.jsonl:3: this is not JSON (Expecting property name",
    b'["a", "hello"]': 'q.jsonl:1: this is no object; write {"id": "...", "question": "..."}',
    b'{"question": "hello"}': "q.jsonl:1: 'id' is missing, empty or no text",
    b'{"id": 3, "question": "hello"}': "q.jsonl:1: 'id' is missing, empty or no text",
    b'{"id": "a", "question": " "}': "q.jsonl:1: 'question' is missing, empty or no text",
    b'{"id": "a", "question": "hello"}\n{"id": "a", "question": "bye"}': (
        "q.jsonl:2: the id 'a' is used already, at q.jsonl:1; give it its own"
    ),
    b'{"id": "a", "question": "hello"}\n{"id": "b", "question": "no"}': (
        "q.jsonl:2: the app makes no state of this: text: String should have at least 3 characters (given: 'no')"
    ),
    b"[" * 100_000: "q.jsonl:1: this JSON cannot be read",
}


@pytest.mark.parametrize("content", QUESTIONS, ids=range(len(QUESTIONS)))
def test_a_bad_file_of_questions_is_told_in_one_line_and_nothing_runs(
    call: Call, here: Path, content: bytes
) -> None:
    (here / "q.jsonl").write_bytes(content)
    called = call("run", ".", "--questions", "q.jsonl", "--out", "out")
    assert (called.code, called.out) == (2, "")
    assert called.err.startswith(f"flowcore: {QUESTIONS[content]}")
    assert called.err.count("\n") == 1
    assert not (here / "out").exists()


def test_every_fault_of_a_file_of_questions_is_told_at_once(call: Call, here: Path) -> None:
    (here / "q.jsonl").write_text('{"id": "a"}\n3\n{"id": "a", "question": "hello"}\n')
    called = call("run", ".", "--questions", "q.jsonl")
    assert [line.split(": ")[1] for line in called.err.splitlines()] == ["q.jsonl:1", "q.jsonl:2"]


def test_a_missing_file_of_questions_is_told(call: Call, here: Path) -> None:
    called = call("run", ".", "--questions", "none.jsonl")
    assert called.code == 2
    assert called.err == "flowcore: none.jsonl: cannot be read: No such file or directory; name another file\n"


def test_a_state_that_does_not_validate_is_told_in_one_line(call: Call, here: Path) -> None:
    called = call("run", ".", "no", "--out", "out")
    assert (called.code, called.out) == (2, "")
    assert called.err == (
        "flowcore: TEXT: the app makes no state of this: text: String should have at least 3 characters"
        " (given: 'no'); ask otherwise\n"
    )
    assert not (here / "out").exists()


def test_a_folder_that_cannot_be_written_is_told_before_anything_runs(call: Call, here: Path) -> None:
    for place in ("app.py", "app.py/out"):
        called = call("run", ".", "hello", "--out", place)
        assert (called.code, called.out) == (2, "")
        assert called.err.startswith(f"flowcore: {place}: cannot be written: ")
        assert called.err.count("\n") == 1


def test_a_run_wants_an_app(call: Call, here: Path) -> None:
    called = call("run", "app:echo", "hello")
    assert called.code == 2
    assert called.err.startswith("flowcore: app:echo: this is a flow, and a run needs an app")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "run wants one of TEXT and --questions"),
        (["hello", "--questions", "q.jsonl"], "run wants one of TEXT and --questions"),
        (["hello", "--rounds", "-1"], "argument --rounds: '-1' is no whole number of zero or more"),
        (["hello", "--rounds", "many"], "argument --rounds: 'many' is no whole number of zero or more"),
        (["hello", "--seconds", "nan"], "argument --seconds: 'nan' is no number of seconds"),
    ],
)
def test_wrong_options_are_told_in_one_line(call: Call, here: Path, words: list[str], message: str) -> None:
    called = call("run", ".", *words)
    assert called.code == 2
    assert called.err == f"flowcore: {message}; see `flowcore run --help`\n"


def changed(here: Path, **options: str) -> None:
    text = (here / "app.py").read_text()
    more = "".join(f", {name}={value}" for name, value in options.items())
    (here / "app.py").write_text(text.replace("budget=Budget(rounds=3)", f"budget=Budget(rounds=3){more}"))


def test_an_app_says_how_its_answers_look(call: Call, here: Path) -> None:
    changed(here, present='lambda value: f"<{value}>"', line='lambda id, value: {"id": id, "said": value}')
    called = call("run", ".", "hello", "--out", "out")
    assert called.out == f"<HELLO>\n\n{PATH}"
    assert json.loads((here / "out" / "answers.jsonl").read_text()) == {"id": "1", "said": "HELLO"}


@pytest.mark.parametrize("option", ["present", "line"])
def test_an_app_that_cannot_show_its_value_has_no_answer(call: Call, here: Path, option: str) -> None:
    changed(here, **{option: "lambda *values: 1 / 0"})
    called = call("run", ".", "hello", "--out", "out")
    assert called.code == 1
    assert "the run completed, but the app cannot show it: ZeroDivisionError" in called.err
    blocked = json.loads((here / "out" / "answers.jsonl").read_text())["answers"][0]
    assert blocked["status"] == "blocked"


def test_deps_are_made_once_for_all_questions(call: Call, here: Path) -> None:
    changed(here, deps='lambda: print("made")')
    (here / "q.jsonl").write_text('{"id": "a", "question": "hello"}\n{"id": "b", "question": "bye"}\n')
    assert call("run", ".", "--questions", "q.jsonl").out.count("made\n") == 1
    assert call("check", ".").out.count("made\n") == 0


def test_deps_that_cannot_be_made_are_bad_input(call: Call, here: Path) -> None:
    changed(here, deps="lambda: 1 / 0")
    called = call("run", ".", "hello", "--out", "out")
    assert (called.code, called.out) == (2, "")
    assert called.err.startswith(
        "flowcore: the deps of the app cannot be made: ZeroDivisionError: division by zero"
    )
    assert not (here / "out").exists()


def test_deps_may_say_themselves_what_is_wrong(call: Call, here: Path) -> None:
    (here / "app.py").write_text(
        (here / "app.py").read_text()
        + "\nfrom flowcore.errors import TargetError\n"
        + "def deps() -> None:\n    raise TargetError('index.db: is broken; delete it')\n"
    )
    changed(here, deps="deps")
    text = (here / "app.py").read_text()
    head, app = text.split("\napp = ")
    line, rest = app.split("\n", 1)
    (here / "app.py").write_text(f"{head}\n{rest}\napp = {line}\n")
    called = call("run", ".", "hello")
    assert (called.code, called.err) == (2, "flowcore: index.db: is broken; delete it\n")


def test_the_text_may_stand_behind_an_option(call: Call, here: Path) -> None:
    called = call("run", ".", "--json", "hello")
    assert (called.code, json.loads(called.out)["value"]) == (0, "HELLO")


def test_a_folder_where_a_file_belongs_is_told_before_anything_runs_and_nothing_is_written(
    call: Call, here: Path
) -> None:
    (here / "out" / "trace.txt").mkdir(parents=True)
    called = call("run", ".", "hello", "--out", "out")
    assert (called.code, called.out) == (2, "")
    assert called.err == (
        "flowcore: out/trace.txt: cannot be written: there is a folder of this name; move it away,"
        " or choose another place\n"
    )
    assert names(here / "out") == ["trace.txt"]


def test_a_file_that_cannot_be_put_in_its_place_leaves_all_as_it_was(
    call: Call, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call("run", ".", "hello", "--out", "out").code == 0
    before = {path.name: path.read_bytes() for path in (here / "out").iterdir()}
    replace = os.replace

    def refuse(source: Path, place: Path) -> None:
        if place == Path("out/trace.json") and source.name == place.name:
            raise PermissionError(1, "Operation not permitted")
        replace(source, place)

    monkeypatch.setattr("os.replace", refuse)
    called = call("run", ".", "other", "--out", "out")
    assert called.code == 2
    assert called.err == (
        "flowcore: out/trace.json: cannot be written: Operation not permitted; choose another place\n"
    )
    assert {path.name: path.read_bytes() for path in (here / "out").iterdir()} == before


def test_a_folder_that_cannot_be_made_leaves_none_of_those_around_it(call: Call, here: Path) -> None:
    called = call("run", ".", "hello", "--out", f"a/b/{'x' * 300}")
    assert called.code == 2
    assert "cannot be written: File name too long" in called.err
    assert not (here / "a").exists()


def test_what_a_killed_command_left_is_taken_away_and_what_a_living_one_works_with_is_not(
    call: Call, here: Path
) -> None:
    (here / "out" / ".flowcore-dead").mkdir(parents=True)
    handle = os.open(here / "out", os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_SH)  # as another command at work holds it
    assert call("run", ".", "hello", "--out", "out").code == 0
    assert names(here / "out") == [".flowcore-dead", *FILES]
    os.close(handle)
    assert call("run", ".", "hello", "--out", "out").code == 0
    assert names(here / "out") == FILES


def test_no_terminal_obeys_what_stands_in_an_answer_or_an_error(call: Call, here: Path) -> None:
    text = (here / "app.py").read_text()
    (here / "app.py").write_text(text.replace('"nothing there"', '"\\x1b[31mnothing"'))
    (here / "q.jsonl").write_text(
        '{"id": "a", "question": "x\\u001b[2Jy\\tz\\nnext"}\n{"id": "b", "question": "burst"}\n'
    )
    called = call("run", ".", "--questions", "q.jsonl", "--out", "out")
    assert "\nX\\x1b[2JY\tZ\nNEXT\n" in called.out
    assert "(no answer: draft#1: LookupError: \\x1b[31mnothing" in called.out
    assert "\x1b" not in called.out + called.err + (here / "out" / "trace.txt").read_text()
    first = json.loads((here / "out" / "answers.jsonl").read_text().splitlines()[0])
    assert first["answers"][0]["text"] == "X\x1b[2JY\tZ\nNEXT"


def test_an_app_may_colour_what_it_presents(call: Call, here: Path) -> None:
    changed(here, present='lambda value: "\\x1b[1m" + value')
    assert call("run", ".", "hello").out.startswith("\x1b[1mHELLO\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", ".", ""], "TEXT is empty; ask something"),
        (["run", ".", " \n"], "TEXT is empty; ask something"),
        (["run", "", "hello"], "TARGET is empty; name a flow or an app, as in flows.py:name"),
        (
            ["run", ".", "--questions", ""],
            "argument --questions: this is empty; name a place; see `flowcore run --help`",
        ),
        (
            ["run", ".", "hello", "--out", ""],
            "argument --out: this is empty; name a place; see `flowcore run --help`",
        ),
        (
            ["render", ".", "-o", ""],
            "argument -o/--output: this is empty; name a place; see `flowcore render --help`",
        ),
        (
            ["render", ".", "-o", ".", "--format", "svg"],
            ".: cannot be written: Is a directory; choose another place",
        ),
    ],
)
def test_what_is_empty_is_refused(call: Call, here: Path, words: list[str], message: str) -> None:
    called = call(*words)
    assert (called.code, called.out, called.err) == (2, "", f"flowcore: {message}\n")
    assert [name for name in names(here) if name != "__pycache__"] == ["app.py"]


def test_a_line_is_made_only_where_it_is_written_and_its_failure_loses_no_answer(call: Call, here: Path) -> None:
    changed(here, line="lambda *values: 1 / 0")
    assert (call("run", ".", "hello").code, call("run", ".", "hello", "--json").code) == (0, 0)
    called = call("run", ".", "hello", "--out", "out")
    assert (called.code, called.out) == (1, f"HELLO\n\n{PATH}")
    assert "the app cannot show it: ZeroDivisionError" in called.err


def test_an_answer_is_presented_only_where_somebody_reads_it(call: Call, here: Path) -> None:
    changed(here, present="lambda *values: 1 / 0")
    assert call("run", ".", "hello", "--json").code == 0


@pytest.mark.parametrize(
    ("made", "given"), [("lambda text: text", "a str"), ("int", "an int"), ("asked", "a coroutine")]
)
def test_a_state_of_a_wrong_type_is_bad_input(call: Call, here: Path, made: str, given: str) -> None:
    text = (here / "app.py").read_text().replace("state=lambda text: Ask(text=text)", f"state={made}")
    (here / "app.py").write_text(
        text.replace("\napp =", "\n\nasync def asked(text: str) -> str:\n    return text\napp =")
    )
    called = call("run", ".", "123", "--out", "out")
    assert (called.code, called.out) == (2, "")
    assert called.err == (
        f"flowcore: TEXT: the app makes {given} of this, and its flow wants an Ask; mend state= of the app\n"
    )
    assert not (here / "out").exists()


def test_deps_that_do_not_fit_are_bad_input(call: Call, here: Path) -> None:
    text = (here / "app.py").read_text().replace("deliver(step: Step[Ask])", "deliver(step: Step[Ask, int])")
    (here / "app.py").write_text(text)
    changed(here, deps="str")
    called = call("run", ".", "hello")
    assert (called.code, called.out) == (2, "")
    assert called.err.startswith("flowcore: the app cannot run: deliver wants deps of type int, not str")


MUTE = """
class Mute(Exception):
    def __str__(self):
        raise ValueError("no")
def mute(*values):
    raise Mute
def leave(*values):
    raise SystemExit(3)
def stop(*values):
    raise KeyboardInterrupt
"""


@pytest.mark.parametrize("option", ["state", "deps", "present", "line"])
@pytest.mark.parametrize(("way", "said"), [("mute", "Mute, raised at"), ("leave", "SystemExit: 3, raised at")])
def test_whatever_an_app_raises_is_told_in_one_line(
    call: Call, here: Path, option: str, way: str, said: str
) -> None:
    text = (here / "app.py").read_text().replace("\napp =", f"{MUTE}\napp =")
    if option == "state":
        text = text.replace("state=lambda text: Ask(text=text)", f"state={way}")
    (here / "app.py").write_text(text)
    if option != "state":
        changed(here, **{option: way})
    called = call("run", ".", "hello", "--out", "out")
    assert called.code == (2 if option in ("state", "deps") else 1)
    assert said in called.err
    assert called.err.count("\n") == 1


@pytest.mark.parametrize(
    ("way", "code", "said"),
    [
        ("mute", 1, "the run failed: draft#1: Mute, raised at app.py:"),
        ("leave", 1, "the run failed: SystemExit: 3, raised at app.py:"),
        ("stop", 130, "interrupted: nothing was written"),
    ],
)
def test_whatever_a_node_raises_is_told_in_one_line(
    call: Call, here: Path, way: str, code: int, said: str
) -> None:
    text = (here / "app.py").read_text().replace('raise LookupError("nothing there")', f"{way}()")
    (here / "app.py").write_text(text.replace("\nclass Ask", f"{MUTE}\nclass Ask"))
    called = call("run", ".", "burst", "--out", "out")
    assert called.code == code
    assert called.err.startswith(f"flowcore: {said}")
    assert called.err.count("\n") == 1
    assert (here / "out").exists() == (code == 1)


def test_the_place_of_a_broken_promise_is_said_once(call: Call, here: Path) -> None:
    text = (here / "app.py").read_text()
    (here / "app.py").write_text(text.replace('raise LookupError("nothing there")', "return None"))
    assert call("run", ".", "burst").err.startswith("flowcore: the run failed: draft#1 returned None: ")
