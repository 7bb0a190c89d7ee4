"""`flowcore diff`: what can be compared, where it is looked for, and what a script is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import APP

Call = Callable[..., Any]

HELPER = "SECONDS = {seconds}\n"
FLOWS = """
from helper import SECONDS
from pydantic import BaseModel
from flowcore import Complete, Continue, Flow, Step, node

print("imported, and said so")


class State(BaseModel):
    text: str = ""


@node
async def first(step: Step[State]) -> Continue:
    return Continue()


@node
async def last(step: Step[State]) -> Complete[str]:
    return Complete(step.state.text)


flow = Flow("flow", first.to(last).using(timeout=SECONDS), last)
"""
CHANGE = "flow flow: 1 change; stored runs can go on\n~ first: timeout {} s to {} s\n"


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "init.defaultBranch=main")
    env = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", *who, *words], cwd=folder, env=env, check=True, capture_output=True)


def put(folder: Path, seconds: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "helper.py").write_text(HELPER.format(seconds=seconds))
    (folder / "flows.py").write_text(FLOWS)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a commit in which the timeout was 10 s, one with 20 s, and 30 s in the files of today."""
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init")
    for seconds in (10, 20):
        for folder in (root, root / "inner", root / "src"):
            put(folder, seconds)
        git(root, "add", ".")
        git(root, "commit", "-m", str(seconds))
    git(root, "tag", "v1.0", "HEAD~1")
    for folder in (root, root / "inner", root / "src"):
        put(folder, 30)
    monkeypatch.chdir(root)
    return root


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for temporary files, in which nothing is left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


# ---- What is compared --------------------------------------------------------------------------------------


def test_nothing_differs_between_a_flow_and_itself(call: Call, here: Path) -> None:
    called = call("diff", "app.py", "app:echo")
    assert (called.code, called.out, called.err) == (0, "flow echo: no difference\n", "")


def test_two_files_of_one_name_do_not_mix_nor_do_the_modules_that_they_import(call: Call, here: Path) -> None:
    put(here / "a", 1)
    put(here / "b", 2)
    called = call("diff", "a/flows.py", "b/flows.py:flow")
    assert called.code == 1
    assert called.out.endswith(CHANGE.format(1, 2))


def test_a_flow_that_was_written_as_json_is_a_flow(call: Call, here: Path) -> None:
    call("render", ".", "-o", "echo.json")
    assert call("diff", "echo.json", "app.py").code == 0
    text = (here / "echo.json").read_text()
    (here / "more.json").write_text(text.replace('"timeout": null', '"timeout": 5', 1))
    assert call("diff", "more.json", "echo.json").out.splitlines()[1] == "~ draft: timeout 5 s to none"


def test_two_runs_are_compared_by_name_and_place(call: Call, here: Path) -> None:
    questions = '{"id": "a", "question": "hello"}\n{"id": "b", "question": "burst"}\n'
    (here / "questions.jsonl").write_text(questions)
    call("run", ".", "--questions", "questions.jsonl", "--out", "out")
    same = call("diff", "out/trace.json#a", "out/trace.json#1")
    assert (same.code, same.out.splitlines()[0]) == (0, "run a, was a: no difference")
    other = call("diff", "out/trace.json#a", "out/trace.json#b")
    assert other.code == 1
    assert other.out.splitlines()[:2] == [
        "run b, was a: they part at draft#1",
        "first: draft#1 failed (LookupError: nothing there) where it went on to check",
    ]
    unnamed = call("diff", "out/trace.json", "out/trace.json#b")
    assert (unnamed.code, unnamed.err.count("\n")) == (2, 1)
    assert unnamed.err.startswith("flowcore: out/trace.json: there are 2 runs in it; name one after a #")


def test_a_flow_and_a_run_are_not_compared(call: Call, here: Path) -> None:
    call("run", ".", "hello", "--out", "out")
    called = call("diff", "app.py", "out/trace.json")
    assert (called.code, called.out) == (2, "")
    assert called.err == ("flowcore: app.py is a flow and out/trace.json is a run; name two flows, or two runs\n")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "Unterminated"),
        ("[]", "this is no trace file"),
        ('{"nodes": [], "routes": []}', "no flow: name: Field required"),
        ('{"name": "x", "nodes": [], "routes": [], "entry": "a"}', "no flow: a is named and not declared"),
        ('{"name": "x", "nodes": [], "routes": [{"from": "a", "to": "b", "kind": "next"}]}', "a is named and not"),
        (
            '{"name": "x", "routes": [], "nodes": [{"id": "a", "kind": "k"}, {"id": "a", "kind": "k"}]}',
            "a is declared",
        ),
    ],
)
def test_a_file_that_holds_neither_is_told_in_one_line(call: Call, here: Path, text: str, told: str) -> None:
    (here / "flow.json").write_text(text)
    called = call("diff", "flow.json", "app.py")
    assert (called.code, called.out, called.err.count("\n")) == (2, "", 1)
    assert called.err.startswith("flowcore: flow.json")
    assert told in called.err or not text


# ---- Where it is written -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "start"),
    [("d.txt", "flow flow:"), ("d.svg", "<svg"), ("d.mmd", "flowchart LR"), ("d.HTML", "<!doctype html>")],
)
def test_the_format_follows_from_the_name(call: Call, repository: Path, name: str, start: str) -> None:
    called = call("diff", "HEAD:flows.py", "-o", name, "flows.py", "--direction", "LR")
    assert called.code == 1
    assert (repository / name).read_text().startswith(start)


def test_the_format_can_be_named_whatever_the_file_is_called(call: Call, here: Path) -> None:
    assert call("diff", ".", ".", "--format", "mermaid", "--direction", "LR").out.startswith("flowchart LR\n")


def test_an_ending_that_says_no_format_is_refused(call: Call, here: Path) -> None:
    called = call("diff", ".", ".", "-o", "d.pdf")
    assert (called.code, called.out) == (2, "")
    assert called.err.startswith("flowcore: d.pdf: .pdf says no format; use one of .txt .text .svg .mmd")


def test_help_names_what_can_be_compared(call: Call, here: Path) -> None:
    called = call("diff", "--help")
    assert called.code == 0
    assert "usage: flowcore diff [-h]" in called.out
    assert "OLD NEW" in called.out
    assert "REF:path/to/file.py[:name]" in called.out
    assert call("diff", "app.py").err == (
        "flowcore: the following arguments are required: NEW; see `flowcore diff --help`\n"
    )


# ---- Git ---------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("DIFF-6")
@pytest.mark.parametrize(
    ("old", "new", "seconds"),
    [
        ("HEAD:flows.py", "flows.py", (20, 30)),
        ("main:flows.py:flow", "flows.py:flow", (20, 30)),
        ("HEAD~1:flows.py", "main:inner/flows.py", (10, 20)),
        ("v1.0:flows:flow", "flows:flow", (10, 30)),
        ("v1.0:flows", "HEAD:src/flows.py", (10, 20)),
        ("flows.py", "HEAD:flows.py", (30, 20)),
    ],
)
def test_a_ref_names_what_stood_there(
    call: Call, repository: Path, old: str, new: str, seconds: tuple[int, int]
) -> None:
    called = call("diff", old, new)
    assert called.out.removeprefix("imported, and said so\n") == CHANGE.format(*seconds)
    assert (called.code, called.err) == (1, "")


@pytest.mark.behaviour("DIFF-6")
def test_the_repository_is_left_as_it_is(call: Call, repository: Path) -> None:
    def state() -> tuple[Any, ...]:
        run = subprocess.run(["git", "status", "--porcelain"], cwd=repository, capture_output=True, check=True)
        index = (repository / ".git" / "index").read_bytes()
        return run.stdout, index, sorted(os.listdir(repository / ".git"))

    hook = repository / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {repository}/hooked\n")
    hook.chmod(0o755)
    before = state()
    assert call("diff", "HEAD~1:flows.py", "HEAD:flows.py").code == 1
    assert state() == before
    assert not (repository / "hooked").exists()


def test_paths_start_in_the_current_folder_at_a_ref_too(
    call: Call, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository / "inner")
    assert call("diff", "HEAD:flows.py", "v1.0:flows.py").out == CHANGE.format(20, 10)
    assert call("diff", "HEAD:../flows.py", "v1.0:flows.py").out == CHANGE.format(20, 10)


@pytest.mark.parametrize("name", ["flows.py", "flow.json"])
def test_at_a_ref_nothing_of_today_can_be_named(call: Call, repository: Path, name: str) -> None:
    call("render", "flows.py", "-o", "flow.json")
    (repository / name.replace("flow", "link")).symlink_to(repository / name)
    git(repository, "add", ".")
    git(repository, "commit", "-m", "linked")
    for place in (f"{repository}/{name}", f"{'../' * 20}{repository}/{name}", name.replace("flow", "link")):
        called = call("diff", f"HEAD:{place}", name)
        assert (called.code, called.out) == (2, "")
        assert called.err == (
            f"flowcore: HEAD:{place}: {place} leads out of what HEAD holds; start it in the current folder\n"
        )


def test_a_flow_as_json_can_be_named_at_a_ref(call: Call, repository: Path) -> None:
    call("render", "flows.py", "-o", "flow.json")
    git(repository, "add", "flow.json")
    git(repository, "commit", "-m", "json")
    assert call("diff", "HEAD:flow.json", "HEAD:flows.py").out == CHANGE.format(30, 20)


def test_a_folder_and_an_app_can_be_named_at_a_ref(call: Call, repository: Path) -> None:
    (repository / "desk").mkdir()
    (repository / "desk" / "app.py").write_text(APP)
    git(repository, "add", "desk")
    git(repository, "commit", "-m", "desk")
    assert call("diff", "HEAD:desk/", "desk").out == "flow echo: no difference\n"


@pytest.mark.parametrize(
    ("old", "told"),
    [
        (
            "nowhere:flows.py",
            "nowhere:flows.py: nowhere is no commit in this repository; `git log --all` lists them,",
        ),
        (":flows.py", ":flows.py: nothing is no commit in this repository;"),
        ("HEAD:gone.py", "HEAD:gone.py: there is no gone.py at HEAD; paths start in the current folder"),
        ("HEAD:gone:flow", "HEAD:gone:flow: there is no module gone at HEAD; name its file, as in HEAD:path/to/"),
        ("HEAD:flows.py:gone", "HEAD:flows.py:gone: there is no 'gone' in it; flows and apps there: flow"),
        ("HEAD:gone.json", "HEAD:gone.json: cannot be read: No such file or directory; name another file"),
    ],
)
def test_what_is_not_at_a_ref_is_told_in_one_line_with_the_remedy(
    call: Call, repository: Path, old: str, told: str
) -> None:
    called = call("diff", old, "flows.py")
    assert (called.code, called.out, called.err.count("\n")) == (2, "", 1)
    assert called.err.startswith(f"flowcore: {told}")


@pytest.mark.behaviour("DIFF-6")
def test_a_file_that_came_after_the_ref_is_not_taken_from_today(call: Call, repository: Path) -> None:
    (repository / "fresh.py").write_text(FLOWS)
    assert call("diff", "HEAD:fresh:flow", "fresh:flow").err.startswith(
        "flowcore: HEAD:fresh:flow: there is no module"
    )


def test_a_commit_that_cannot_be_imported_says_why_and_where(call: Call, repository: Path) -> None:
    (repository / "flows.py").write_text("import flowcore\n\nflow = 1 / 0\n")
    git(repository, "commit", "-am", "broken")
    put(repository, 30)
    called = call("diff", "HEAD:flows.py", "flows.py")
    assert called.code == 2
    assert called.err == (
        "flowcore: HEAD:flows.py: cannot be imported: ZeroDivisionError: division by zero, raised at flows.py:3;"
        " mend that line first\n"
    )


def test_outside_a_repository_it_says_so(call: Call, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(here.parent))
    called = call("diff", "HEAD:app.py", "app.py")
    assert called.code == 2
    assert called.err == (f"flowcore: HEAD:app.py: {here} is in no git repository; start in one, or name a file\n")


def test_without_git_it_says_so(call: Call, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    called = call("diff", "HEAD:app.py", "app.py")
    assert called.err == "flowcore: HEAD:app.py: git is not there; install it, or name a file\n"


WAITING = """
import os, time
with open({fifo!r}, "w") as fifo:
    fifo.write(str(os.getpid()))
time.sleep(60)
"""


@pytest.mark.parametrize(("asked", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_the_other_process_and_leaves_nothing(
    repository: Path, asked: signal.Signals, code: int
) -> None:
    fifo = repository / "fifo"
    os.mkfifo(fifo)
    (repository / "waiting.py").write_text(WAITING.format(fifo=str(fifo)))
    git(repository, "add", "waiting.py")
    git(repository, "commit", "-m", "waiting")
    command = [
        sys.executable,
        "-c",
        "from flowcore.cli import main; main()",
        "diff",
        "HEAD:waiting.py",
        "flows.py",
    ]
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    command[2] = heed + command[2]  # whatever the one who runs the tests ignores
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        loading = int(fifo.read_text())
        process.send_signal(asked)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err.count("\n")) == (code, "", 1)
    with pytest.raises(ProcessLookupError):
        os.kill(loading, 0)
