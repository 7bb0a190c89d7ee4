"""The command as a process: its entry point, signals, pipes and encodings."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Start = Callable[..., subprocess.Popen[str]]
FLOWCORE = str(Path(sys.executable).with_name("flowcore"))
WAITING = """
import anyio
from pydantic import BaseModel
from flowcore import App, Complete, Flow, Step, node

class Ask(BaseModel):
    text: str

@node
async def wait(step: Step[Ask]) -> Complete[str]:
    print("waiting", flush=True)
    await anyio.sleep(60)
    return Complete("late")

app = App(flows=[Flow("slow", wait)], state=lambda text: Ask(text=text))
"""


def run(*words: str, cwd: Path, **options: object) -> subprocess.CompletedProcess[str]:
    command = [FLOWCORE, *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=30, **options)  # type: ignore[call-overload, no-any-return]


def test_help_names_the_commands_the_targets_and_the_exit_codes(tmp_path: Path) -> None:
    called = run("--help", cwd=tmp_path)
    assert called.returncode == 0
    for words in ("check", "render", "run", "path/to/file.py:name", "exit codes: 0 it worked"):
        assert words in called.stdout


@pytest.mark.parametrize("command", ["check", "render", "run", "watch", "export", "diff", "runs"])
def test_each_command_has_help(tmp_path: Path, command: str) -> None:
    called = run(command, "--help", cwd=tmp_path)
    assert called.returncode == 0
    assert f"usage: flowcore {command}" in called.stdout
    assert re.search(
        r"^(TARGET names a (flow|run)|OLD and NEW are two flows|RUN is the id of a run)",
        called.stdout,
        re.MULTILINE,
    )
    assert "exit codes: 0 " in called.stdout


def test_a_wrong_command_is_told_in_one_line(tmp_path: Path) -> None:
    called = run("fly", cwd=tmp_path)
    assert called.returncode == 2
    assert called.stderr.startswith("flowcore: argument COMMAND: invalid choice: 'fly'")
    assert called.stderr.count("\n") == 1


def test_an_interrupt_ends_with_130_one_line_and_nothing_written(tmp_path: Path, start: Start) -> None:
    (tmp_path / "app.py").write_text(WAITING)
    command = [FLOWCORE, "run", ".", "hello", "--out", "out"]
    process = start(command, cwd=tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (130, "flowcore: interrupted: nothing was written\n")
    assert not (tmp_path / "out").exists()


def test_a_reader_that_leaves_is_no_fault_to_talk_about(here: Path) -> None:
    lines = "".join(f'{{"id": "q{number}", "question": "hello"}}\n' for number in range(300))
    (here / "q.jsonl").write_text(lines)
    command = f'"{FLOWCORE}" run . --questions q.jsonl 2>err.txt | head -n 1'
    called = subprocess.run(command, shell=True, cwd=here, capture_output=True, text=True, timeout=30)
    assert called.stdout == "q0: hello\n"
    assert "Traceback" not in (here / "err.txt").read_text()
    assert "BrokenPipe" not in (here / "err.txt").read_text()


def test_a_terminal_that_knows_ascii_only_gets_escapes(here: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    called = run("run", ".", "schön", cwd=here, env=environment)
    assert called.returncode == 0
    assert called.stdout.startswith("SCH\\xd6N\n")


def test_json_is_utf_8_whatever_the_terminal_knows(here: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    called = run("run", ".", "schön", "--json", cwd=here, env=environment)
    assert json.loads(called.stdout)["value"] == "SCHÖN"


def test_on_a_terminal_one_line_shows_node_and_round_and_is_gone_at_the_end(here: Path) -> None:
    reader, writer = pty.openpty()
    called = subprocess.run(
        [FLOWCORE, "run", ".", "hello"], cwd=here, stdout=subprocess.PIPE, stderr=writer, timeout=30
    )
    os.close(writer)
    shown = os.read(reader, 100_000).decode()
    os.close(reader)
    assert called.returncode == 0
    assert "\r\x1b[Kround 1  draft#1" in shown
    assert "\r\x1b[Kround 2  deliver#1" in shown
    assert shown.endswith("\r\x1b[K")
    assert "\n" not in shown


ENDS = [
    (signal.SIGINT, 130, "interrupted"),
    (signal.SIGTERM, 143, "terminated"),
    (signal.SIGHUP, 129, "hung up"),
]
BUILDING = WAITING.replace("import anyio", "import anyio, time").replace(
    "app = App(",
    """
def build() -> None:
    print("building", flush=True)
    time.sleep(60)

app = App(deps=build, """,
)


@pytest.mark.parametrize(("asked", "code", "words"), ENDS)
@pytest.mark.parametrize(("source", "sign"), [(WAITING, "waiting"), (BUILDING, "building")])
def test_whatever_asks_the_command_to_end_leaves_nothing(
    tmp_path: Path, start: Start, asked: signal.Signals, code: int, words: str, source: str, sign: str
) -> None:
    (tmp_path / "app.py").write_text(source)
    (tmp_path / "out").mkdir()
    command = [FLOWCORE, "run", ".", "hello", "--out", "out"]
    process = start(command, cwd=tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == f"{sign}\n"
    assert list((tmp_path / "out").iterdir())
    process.send_signal(asked)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (code, f"flowcore: {words}: nothing was written\n")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_request_that_is_ignored_from_the_beginning_stays_ignored(tmp_path: Path, start: Start) -> None:
    (tmp_path / "app.py").write_text(WAITING)
    command = f"trap '' HUP INT; exec {FLOWCORE} run . hello"
    process = start(["sh", "-c", command], cwd=tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (143, "flowcore: terminated: nothing was written\n")


def shell(command: str, here: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", command], cwd=here, capture_output=True, text=True, timeout=30)


@pytest.mark.parametrize("gone", ["2>&-", "2> /dev/full", "<&- 2>&-"])
def test_without_standard_error_the_answer_is_there(here: Path, gone: str) -> None:
    (here / "q.jsonl").write_text('{"id": "a", "question": "hello"}\n{"id": "b", "question": "burst"}\n')
    one = shell(f"{FLOWCORE} run . hello {gone}", here)
    assert (one.returncode, one.stdout[:6]) == (0, "HELLO\n")
    many = shell(f"{FLOWCORE} run . --questions q.jsonl --out out {gone}", here)
    assert (many.returncode, many.stdout[:16]) == (1, "a: hello\n\nHELLO\n")
    assert len((here / "out" / "answers.jsonl").read_text().splitlines()) == 2
    assert shell(f"{FLOWCORE} run nothing.py hello {gone}", here).returncode == 2


CLOSED = "flowcore: standard output is closed; open it, or send it away with > /dev/null\n"
FULL = "flowcore: standard output cannot be written: No space left on device; send it to another place\n"


@pytest.mark.parametrize(("gone", "said"), [(">&-", CLOSED), ("> /dev/full", FULL), (">&- 2>&-", "")])
@pytest.mark.parametrize(
    "words", ["check .", "render .", "run . hello --out out", "run . hello --json", "--help", "run --help"]
)
def test_without_standard_output_one_line_says_so(here: Path, gone: str, said: str, words: str) -> None:
    called = shell(f"{FLOWCORE} {words} {gone}", here)
    assert (called.returncode, called.stderr) == (2, said)
    assert [path.name for path in here.iterdir() if path.name != "__pycache__"] == ["app.py"]


@pytest.mark.parametrize("target", [".", "app:app", "{here}/app.py"])
def test_a_current_folder_that_is_gone_is_told_in_one_line(here: Path, target: str) -> None:
    words = target.format(here=here)
    called = shell(f"mkdir gone; cd gone; rmdir ../gone; {FLOWCORE} check {words}", here)
    assert called.returncode == 2
    assert called.stderr == "flowcore: the current folder is gone; go to one that is there, with cd\n"


def test_what_an_app_says_on_a_standard_error_that_is_full_changes_no_exit_code(here: Path) -> None:
    text = (here / "app.py").read_text()
    telling = "import contextlib, sys\nwith contextlib.suppress(OSError):\n    print('hm', file=sys.stderr)\n"
    (here / "app.py").write_text(telling + text)
    called = shell(f"{FLOWCORE} run . hello 2> /dev/full", here)
    assert (called.returncode, called.stdout[:6]) == (0, "HELLO\n")
