"""`flowcore render`: where the picture goes, and what is said when it cannot."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("flow.mmd", b"flowchart TB"),
        ("flow.dot", b"digraph"),
        ("flow.json", b"{"),
        ("flow.svg", b"<svg"),
        ("flow.PNG", b"\x89PNG"),
    ],
)
def test_the_format_follows_from_the_name(call: Call, here: Path, name: str, start: bytes) -> None:
    called = call("render", ".", "-o", name)
    assert (called.code, called.out, called.err) == (0, "", "")
    assert (here / name).read_bytes().startswith(start)
    assert sorted(path.name for path in here.iterdir() if path.is_file()) == sorted(["app.py", name])


def test_without_a_name_it_goes_to_the_terminal(call: Call, here: Path) -> None:
    assert call("render", ".").out == call("render", "app:echo", "-o", "-", "--format", "mermaid").out
    assert call("render", ".", "--direction", "LR").out.startswith("flowchart LR\n")
    assert json.loads(call("render", ".", "--format", "json").out)["name"] == "echo"


def test_the_format_can_be_named_whatever_the_file_is_called(call: Call, here: Path) -> None:
    assert call("render", ".", "-o", "README", "--format", "dot").code == 0
    assert (here / "README").read_text().startswith("digraph")


def test_an_ending_that_says_no_format_is_refused(call: Call, here: Path) -> None:
    called = call("render", ".", "-o", "flow.pdf")
    assert called.code == 2
    assert called.err == (
        "flowcore: flow.pdf: .pdf says no format; use one of .mmd .mermaid .dot .gv .json .svg .png .html"
        " .htm, or --format\n"
    )
    assert call("render", ".", "-o", "flow").err.startswith("flowcore: flow: no ending says no format")


def test_an_unknown_format_is_refused_in_one_line(call: Call, here: Path) -> None:
    called = call("render", ".", "--format", "pdf")
    assert called.code == 2
    assert called.err.startswith("flowcore: argument --format: invalid choice: 'pdf'")
    assert called.err.count("\n") == 1


def test_a_place_that_cannot_be_written_is_told_and_nothing_is_left(call: Call, here: Path) -> None:
    (here / "folder.svg").mkdir()
    missing, folder = call("render", ".", "-o", "no/flow.svg"), call("render", ".", "-o", "folder.svg")
    assert (missing.code, folder.code) == (2, 2)
    assert (
        missing.err
        == "flowcore: no/flow.svg: cannot be written: No such file or directory; choose another place\n"
    )
    assert folder.err == "flowcore: folder.svg: cannot be written: Is a directory; choose another place\n"
    assert sorted(path.name for path in here.iterdir() if path.name != "__pycache__") == ["app.py", "folder.svg"]


def test_what_stands_at_the_place_already_stays_what_it_is(call: Call, here: Path) -> None:
    (here / "real.mmd").write_text("old")
    (here / "real.mmd").chmod(0o640)
    (here / "link.mmd").symlink_to("real.mmd")
    assert call("render", ".", "-o", "link.mmd").code == 0
    assert (here / "link.mmd").is_symlink()
    assert (here / "real.mmd").read_text() == call("render", ".").out
    assert (here / "real.mmd").stat().st_mode & 0o777 == 0o640


def test_a_pipe_is_written_into_and_not_replaced(call: Call, here: Path) -> None:
    os.mkfifo(here / "pipe.mmd")
    reader = os.open(here / "pipe.mmd", os.O_RDONLY | os.O_NONBLOCK)
    assert call("render", ".", "-o", "pipe.mmd").code == 0
    assert os.read(reader, 1_000_000).decode() == call("render", ".").out
    os.close(reader)
    assert (here / "pipe.mmd").is_fifo()


def test_without_an_engine_the_remedy_is_named_and_nothing_is_written(
    call: Call, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("flowcore.render.engine.files", lambda name: None)
    called = call("render", ".", "-o", "flow.svg")
    assert called.code == 2
    assert called.err == (
        'flowcore: no layout engine for SVG and PNG: install one with `pip install "flowcore[render]"`\n'
    )
    assert not (here / "flow.svg").exists()


def test_pixels_are_not_for_a_terminal(call: Call, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda stream: True)
    called = call("render", ".", "--format", "png")
    assert called.code == 2
    assert called.err == "flowcore: png is not for a terminal: name a file, as in -o flow.png\n"


# Less of a flow, and more.


def test_options_of_the_view_reach_the_picture(call: Call, here: Path) -> None:
    focused = call("render", ".", "--focus", "deliver", "--hops", "1").out
    assert 'n2("check")' in focused
    assert "draft" not in focused
    assert '-->|"Ask"|' in call("render", ".", "--types").out
    assert "#ffffff" not in call("render", ".", "--format", "svg", "--theme", "dark").out
    assert 'class="legend"' in call("render", ".", "--format", "svg", "--legend").out
    assert call("render", ".", "--depth", "1").out == call("render", ".").out
    assert "draft" in call("render", ".", "--focus", "deliver", "--hops", "9" * 18).out


def test_a_view_that_shows_nothing_is_refused(call: Call, here: Path) -> None:
    refused = [
        call("render", ".", "--depth", "0"),
        call("render", ".", "--focus", "nope"),
        call("render", ".", "--hops", "2"),
        call("render", ".", "--legend"),
    ]
    assert [called.code for called in refused] == [2, 2, 2, 2]
    assert [called.err for called in refused] == [
        "flowcore: a depth of 0 shows nothing: 1 is the flow with its composites closed\n",
        "flowcore: there is no node 'nope' in echo: name one by its path (check, deliver, draft)\n",
        "flowcore: --hops says how much is near a node: name the node with --focus\n",
        "flowcore: Mermaid text has no place for a legend: draw it as SVG, PNG or DOT\n",
    ]


def test_a_flow_in_a_json_file_is_drawn_as_the_flow_was(call: Call, here: Path) -> None:
    drawn = call("render", ".").out
    assert call("render", ".", "-o", "echo.json").code == 0
    (here / "app.py").unlink()
    assert call("render", "echo.json").out == drawn


# Files that are held against their flow.


@pytest.mark.parametrize("name", ["echo.mmd", "echo.dot", "echo.json"])
@pytest.mark.behaviour("DRAW-7")
def test_a_file_that_is_as_declared_is_passed_over_in_silence(call: Call, here: Path, name: str) -> None:
    options = [] if name.endswith("json") else ["--direction", "LR", "--focus", "check"]
    assert call("render", ".", "-o", name, *options).code == 0
    called = call("render", ".", "--check", name, *options)
    assert (called.code, called.out, called.err) == (0, "", "")


@pytest.mark.behaviour("DRAW-7")
def test_a_stale_file_is_shown_with_the_command_that_renews_it(call: Call, here: Path) -> None:
    call("render", ".", "-o", "my docs.mmd", "--direction", "LR")
    app = here / "app.py"
    app.write_text(app.read_text().replace("good=deliver", "great=deliver").replace('"good"', '"great"'))
    stale = (here / "my docs.mmd").read_bytes()
    called = call("render", ".", "--check", "my docs.mmd", "--direction", "LR")
    assert called.code == 1
    assert called.out.splitlines()[:2] == ["--- my docs.mmd", "+++ my docs.mmd (as declared)"]
    assert '-  n2 -->|"good"| n3' in called.out.splitlines()
    assert '+  n2 -->|"great"| n3' in called.out.splitlines()
    assert called.err == (
        "flowcore: my docs.mmd is stale; `flowcore render . -o 'my docs.mmd' --direction LR` writes it\n"
    )
    assert (here / "my docs.mmd").read_bytes() == stale
    command = called.err.partition("`")[2].partition("`")[0]
    assert call(*shlex.split(command)[1:]).code == 0
    assert call("render", ".", "--check", "my docs.mmd", "--direction", "LR").code == 0


@pytest.mark.behaviour("DRAW-7")
def test_a_missing_file_is_stale_too(call: Call, here: Path) -> None:
    called = call("render", ".", "--check", "echo.mmd", "--types")
    assert (called.code, called.err) == (
        1,
        "flowcore: echo.mmd is missing; `flowcore render . -o echo.mmd --types` writes it\n",
    )
    assert called.out.startswith("--- /dev/null\n+++ echo.mmd (as declared)\n@@ -0,0 +1,")
    assert not (here / "echo.mmd").exists()


def test_a_file_with_other_line_ends_is_as_declared(call: Call, here: Path) -> None:
    call("render", ".", "-o", "echo.mmd")
    text = (here / "echo.mmd").read_bytes()
    (here / "echo.mmd").write_bytes(text.replace(b"\n", b"\r\n"))
    assert call("render", ".", "--check", "echo.mmd").code == 0


def test_what_cannot_be_held_against_a_flow_is_refused(call: Call, here: Path) -> None:
    (here / "folder.mmd").mkdir()
    refused = [
        call("render", ".", "--check", "echo.svg"),
        call("render", ".", "--check", "echo.mmd", "-o", "echo.mmd"),
        call("render", ".", "--check", "folder.mmd"),
    ]
    assert [called.code for called in refused] == [2, 2, 2]
    assert [called.err for called in refused] == [
        "flowcore: echo.svg: svg is not the same on every machine, since the layout engine is not: check a file of"
        " the same flow as Mermaid, DOT or JSON\n",
        "flowcore: --check writes nothing: leave -o out\n",
        "flowcore: folder.mmd: cannot be read: Is a directory; name another file\n",
    ]


# Runs.


@pytest.fixture
def recorded(call: Call, here: Path) -> Path:
    """Two runs in a trace file, and no flow any more."""
    (here / "questions.jsonl").write_text(
        '{"id": "q1", "question": "hello"}\n{"id": "q2", "question": "never"}\n{"id": "q3", "question": "burst"}\n'
    )
    call("run", ".", "--questions", "questions.jsonl", "--out", "out")
    (here / "app.py").unlink()
    return here


@pytest.mark.behaviour("DRAW-8")
def test_a_run_is_drawn_from_its_file_with_the_path_that_it_took(call: Call, recorded: Path) -> None:
    called = call("render", "out/trace.json#q1")
    assert (called.code, called.err) == (0, "")
    assert 'n3("#10003; deliver<br>ran once, ok")' in called.out
    lines = [line.strip() for line in called.out.splitlines()]
    assert "linkStyle 0,1,2,3,4 stroke:#0b6ff0,stroke-width:3px" in lines
    failed = call("render", "out/trace.json#q3").out
    assert "stroke:#8a94a6,stroke-width:1px" in failed  # the ways that it did not take
    assert "#10005; draft" in failed
    assert 'n3("deliver")' in failed
    for name in ("run.svg", "run.png", "run.dot"):
        assert call("render", "out/trace.json#q1", "-o", name, "--depth", "1", "--legend").code == 0
        assert (recorded / name).stat().st_size > 0


@pytest.mark.behaviour("DRAW-8")
def test_another_run_is_drawn_beside_the_one_that_is_named(call: Call, recorded: Path) -> None:
    alone = call("render", "out/trace.json#q2").out
    beside = call("render", "out/trace.json#q2", "--compare", "out/trace.json#q1").out
    assert alone != beside
    assert "stroke:#5b6472,stroke-width:2.4px,stroke-dasharray:2 5" in beside


@pytest.mark.behaviour("DRAW-8")
def test_a_page_of_a_run_is_made_from_its_file(call: Call, recorded: Path) -> None:
    assert call("render", "out/trace.json#q1", "-o", "run.html").code == 0
    assert call("render", "out/trace.json#q2", "-o", "both.html", "--compare", "out/trace.json#q1").code == 0
    one, both = ((recorded / name).read_text("utf-8") for name in ("run.html", "both.html"))
    assert one.startswith("<!doctype html>")
    assert "run q1" in both
    assert one != both


def test_what_is_wrong_with_a_run_is_told_in_one_line(call: Call, recorded: Path) -> None:
    (recorded / "cut.json").write_text((recorded / "out" / "trace.json").read_text()[:200])
    refused = [
        call("render", "out/trace.json"),
        call("render", "out/trace.json#q9"),
        call("render", "cut.json"),
        call("render", "none.json"),
        call("render", "out/trace.json#q1", "-o", "run.html", "--depth", "1", "--legend"),
        call("render", "out/trace.json#q1", "--format", "json"),
    ]
    assert [called.code for called in refused] == [2] * 6
    assert all(called.err.count("\n") == 1 for called in refused)
    for called, fault in zip(refused, ("3 runs in it", "run q9 in it"), strict=False):
        assert called.err.startswith("flowcore: out/trace.json: there ")
        assert fault in called.err
        assert called.err.endswith("q1, q2, q3\n")
    assert [called.err for called in refused[2:]] == [
        "flowcore: cut.json: cut off after 200 characters; copy the file again, or run the flow again\n",
        "flowcore: none.json: cannot be read: No such file or directory; name another file\n",
        "flowcore: a page shows a run whole: --depth, --legend is for pictures, as in -o run.svg\n",
        "flowcore: JSON is for flows, and a run has its trace file: draw it as .html .svg .png .mmd or .dot\n",
    ]


def test_a_page_and_a_comparison_want_a_run(call: Call, here: Path) -> None:
    remedy = "run it with `flowcore run TARGET TEXT --out DIR`, and name DIR/trace.json"
    page, compared = call("render", ".", "-o", "run.html"), call("render", ".", "--compare", "trace.json")
    assert (page.code, compared.code) == (2, 2)
    assert page.err == f"flowcore: .: this is a flow, and a page shows a run: {remedy}; or draw it as .svg\n"
    assert compared.err == f"flowcore: .: this is a flow, and only runs are compared here: {remedy}\n"
