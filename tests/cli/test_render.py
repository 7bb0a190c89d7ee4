"""`flowcore render`: where the picture goes, and what is said when it cannot."""

from __future__ import annotations

import json
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
        "flowcore: flow.pdf: .pdf says no format; use one of .mmd .mermaid .dot .gv .json .svg .png, or --format\n"
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
