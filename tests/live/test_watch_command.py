"""`flowcore watch` as a process: what it prints, how it ends, and what it says of what cannot be."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.cli.conftest import APP
from tests.export.runs import by_hand

from flowcore.live import Door
from flowcore.recording import dump_runs

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
    await anyio.sleep(60)
    return Complete("late")

app = App(flows=[Flow("slow", wait)], state=lambda text: Ask(text=text))
"""


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n")


def test_it_goes_on_serving_after_the_run_until_it_is_interrupted(here: Path, start: Start) -> None:
    process = start([FLOWCORE, "watch", ".", "hello"], cwd=here)
    url, answer = line_of(process), line_of(process)
    assert answer == "HELLO"
    page = httpx.get(url)
    assert (page.status_code, "draft#2" in page.text) == (200, True)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "", "")
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)


def test_on_a_terminal_it_says_how_it_ends(here: Path, start: Start) -> None:
    reader, writer = pty.openpty()
    process = start([FLOWCORE, "watch", ".", "hello"], cwd=here, stderr=writer)
    os.close(writer)
    line_of(process)
    assert line_of(process) == "HELLO"
    assert os.read(reader, 1000) == b"The page stays until Ctrl-C.\r\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 0
    os.close(reader)


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_the_run_goes_on_ends_both(tmp_path: Path, start: Start, asked: signal.Signals) -> None:
    (tmp_path / "app.py").write_text(WAITING)
    process = start([FLOWCORE, "watch", ".", "hello"], cwd=tmp_path)
    url = line_of(process)
    with httpx.stream("GET", f"{url}events", timeout=20) as response:
        lines = response.iter_lines()
        assert [next(lines), next(lines)] == ["id: 1", "event: visit"]
        process.send_signal(asked)
        events = [line for line in lines if line.startswith("event: ")]
    out, err = process.communicate(timeout=20)
    words = "interrupted" if asked is signal.SIGINT else "terminated"
    assert (process.returncode, out, err) == (128 + asked, "", f"flowcore: {words}: nothing was written\n")
    assert events[-1] == "event: end"  # the viewer was told that the run was cancelled


def test_with_exit_it_ends_with_the_run_and_says_how_it_went(here: Path) -> None:
    good, bad = (
        subprocess.run(
            [FLOWCORE, "watch", ".", text, "--exit"], cwd=here, capture_output=True, text=True, timeout=30
        )
        for text in ("hello", "burst")
    )
    assert (good.returncode, good.stderr, good.stdout.splitlines()[1:]) == (0, "", ["HELLO"])
    assert (bad.returncode, len(bad.stdout.splitlines())) == (1, 1)
    assert bad.stderr.startswith("flowcore: the run failed: draft#1: LookupError: nothing there")


def test_a_recorded_run_is_served(here: Path, start: Start, recorded: Path) -> None:
    process = start([FLOWCORE, "watch", f"{recorded}#b"], cwd=here)
    assert "How?" in httpx.get(line_of(process)).text
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "", "")


@pytest.fixture
def recorded(here: Path) -> Path:
    runs = [by_hand().model_copy(update={"name": name}) for name in ("a", "b")]
    (here / "trace.json").write_text(dump_runs(runs))
    return here / "trace.json"


def test_a_port_in_use_is_told_before_anything_runs(call: Callable[..., Any], here: Path) -> None:
    with Door() as door:
        called = call("watch", ".", "hello", "--port", door.port)
    told = f"flowcore: port {door.port} of 127.0.0.1 is in use; name another port, or 0 for a free one\n"
    assert (called.code, called.out, called.err) == (2, "", told)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["."], "watch wants a TEXT to run the flow for; see `flowcore watch --help`"),
        ([".", " "], "watch wants a TEXT to run the flow for; see `flowcore watch --help`"),
        (["app.py:echo", "hello"], "app.py:echo: this is a flow, and a run needs an app"),
        (["trace.json#a", "hello"], "TEXT is for a run that is made now, and trace.json#a was written down"),
        (["trace.json#a", "--exit"], "--exit is for a run that is made now, and trace.json#a was written down"),
        (["no.json"], "no.json: cannot be read: No such file or directory; name another file"),
        ([".", "hello", "--port", "x"], "argument --port: 'x' is no port: name a whole number from 0 to 65535"),
        ([".", "hello", "--host", "192.0.2.1"], "host '192.0.2.1' is no address of this machine ("),
        ([".", "hi"], "TEXT: the app makes no state of this"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(
    call: Callable[..., Any], here: Path, recorded: Path, words: list[str], told: str
) -> None:
    called = call("watch", *words)
    assert (called.code, called.out) == (2, "")
    assert called.err.startswith(f"flowcore: {told}")
    assert called.err.count("\n") == 1


def test_without_the_extra_the_remedy_is_named_and_nothing_runs(here: Path) -> None:
    app = APP.replace("step.state.tries += 1", "raise SystemExit('it ran')")
    (here / "app.py").write_text(app.replace("app = App(", "app = App(deps=lambda: print('made'), "))
    (here / "uvicorn.py").write_text("raise ModuleNotFoundError('no', name='uvicorn')")
    code = "from flowcore.cli import main; main()"
    called = subprocess.run(
        [sys.executable, "-c", code, "watch", ".", "hello"], cwd=here, capture_output=True, text=True, timeout=30
    )
    told = 'flowcore: a live page needs uvicorn; install it with pip install "flowcore[server]"\n'
    assert (called.returncode, called.stdout, called.stderr) == (2, "", told)
